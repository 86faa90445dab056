/* SPDX-License-Identifier: MIT */
/* Sets of game numbers, compressed; the one place that knows CRoaring. Private to the room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "search/filter/tester.h"

struct chi_numbers;

/* An empty set. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_numbers_new(struct chi_numbers **out);
/* NULL is fine. */
void chi_numbers_free(struct chi_numbers *numbers);

/* Cheapest for ascending numbers. */
void chi_numbers_add(struct chi_numbers *numbers, uint32_t number);
/* The rows of a chunk whose first number is `first`. */
void chi_numbers_add_hits(struct chi_numbers *numbers, uint32_t first, const struct chi_hits *hits);
bool chi_numbers_has(const struct chi_numbers *numbers, uint32_t number);
uint64_t chi_numbers_count(const struct chi_numbers *numbers);

/* The first number of `from` or more; false: there is none. */
bool chi_numbers_next(const struct chi_numbers *numbers, uint32_t from, uint32_t *out);

/* Which of the `n` numbers from `first` on are in the set. */
void chi_numbers_hits(const struct chi_numbers *numbers, uint32_t first, uint32_t n,
		      struct chi_hits *hits);

/* Bytes in CRoaring's portable format, which every program that knows it reads. */
size_t chi_numbers_size(const struct chi_numbers *numbers);
void chi_numbers_write(struct chi_numbers *numbers, uint8_t *out);
/* -CHI_ECORRUPT, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_numbers_read(const uint8_t *bytes, size_t len, struct chi_numbers **out);
