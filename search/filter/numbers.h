/* SPDX-License-Identifier: MIT */
/*
 * Sets of game numbers. In memory a set is plain bits, in pages that are made when a number of
 * theirs comes: at most an eighth of a byte for each number up to the highest, and about 512 bytes
 * a number where they lie far apart. Stored, it is a compressed bitmap. Private to the room.
 */
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

/* -CHI_ENOMEM: the set is as it was. */
CHI_MUSTUSE int chi_numbers_add(struct chi_numbers *numbers, uint32_t number);
/* The rows of a chunk whose first number is `first`. -CHI_ENOMEM: some may be missing. */
CHI_MUSTUSE int chi_numbers_add_hits(struct chi_numbers *numbers, uint32_t first,
				     const struct chi_hits *hits);
/* Adds what is in `other`. -CHI_ENOMEM: some may be missing. */
CHI_MUSTUSE int chi_numbers_join(struct chi_numbers *numbers, const struct chi_numbers *other);
/* Takes out what is not in `other`. */
void chi_numbers_keep(struct chi_numbers *numbers, const struct chi_numbers *other);
bool chi_numbers_has(const struct chi_numbers *numbers, uint32_t number);
uint64_t chi_numbers_count(const struct chi_numbers *numbers);

/* The first number of `from` or more; false: there is none. */
bool chi_numbers_next(const struct chi_numbers *numbers, uint32_t from, uint32_t *out);

/* Which of the `n` numbers from `first` on are in the set; n <= CHI_COLUMNS_ROWS. */
void chi_numbers_hits(const struct chi_numbers *numbers, uint32_t first, uint32_t n,
		      struct chi_hits *hits);

/* Bytes of memory that it takes. */
size_t chi_numbers_memory(const struct chi_numbers *numbers);

/* As a bitmap (FORMAT.md, "Gamesets tree"): no more bytes than those; writes them and returns how
 * many they are. */
size_t chi_numbers_room(const struct chi_numbers *numbers);
size_t chi_numbers_write(const struct chi_numbers *numbers, uint8_t *out);
/* -CHI_ECORRUPT: it is not of that format, or has a number above `last`; -CHI_ENOMEM. */
CHI_MUSTUSE int chi_numbers_read(const uint8_t *bytes, size_t len, uint32_t last,
				 struct chi_numbers **out);
