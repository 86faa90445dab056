/* SPDX-License-Identifier: MIT */
/*
 * Results on standard output, as tab-separated text or as JSON, one object a line. Whether the
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

/* A row of a table: JSON, or its members' values with tabs between them, before the first row
 * (*head is true, and then false) their names. Drops the reference. */
void output_table_row(const struct cli *cli, json_t *object, bool *head);

/* After the last row: the names if there was none (`head` is still true), those of `object`, which
 * has the members of a row and any values. Drops the reference. */
void output_table_end(const struct cli *cli, json_t *object, bool head);

/* Columns of a scan. `counts`: games, white, draws and black too. */
void output_row_head(const struct cli *cli, bool counts);
void output_row(const struct cli *cli, const struct chi_row *row, const char *fen, bool counts);

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
