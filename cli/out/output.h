/* SPDX-License-Identifier: MIT */
/*
 * Results on standard output, as lines of name and value or as JSON. Whether the
 * output takes them is seen once, at the end (cli_output_finish); long outputs stop early on
 * cli_output_failed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "cli/cli.h"

/* Prints one line of JSON and drops the reference; NULL (out of memory) makes the output fail. */
void output_json(json_t *object);

/* The object as JSON, or its members as lines of name, tab, value. Drops the reference.
 * EXIT_DONE: whether the output takes it is seen at the end. */
int output_object(const struct cli *cli, json_t *object);

/* Values for JSON: a number or null; a count of 64 bits; bytes that should be UTF-8. */
json_t *json_chi2(uint16_t chi2);
json_t *json_count(uint64_t count);
json_t *json_text(const char *text, size_t len);

/* UTC in the form of ISO 8601; null for 0, which says "not given". */
json_t *json_time(uint64_t seconds);

/* A path or an address, which need not be UTF-8: bytes outside ASCII become '?' then. */
json_t *json_path(const char *path);

/* white + draws + black. */
uint64_t games_of(const struct chi_counts *counts);

/* The usual form, 8-4-4-4-12, with its NUL. */
#define UUID_SIZE 37
void uuid_print(const uint8_t uuid[16], char out[UUID_SIZE]);
