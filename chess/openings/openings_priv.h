/* SPDX-License-Identifier: MIT */
/* The table that chess/openings/generate.c writes and chess/openings/openings.c searches. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

#define CHI_ECO_SIZE 4 /* a letter, two digits and a NUL */

/*
 * Without pointers, so that the table needs no relocation and its pages are shared by all
 * processes. The key's bytes are padded with zeros; its length follows from them.
 */
struct chi_opening {
	uint8_t key[CHI_KEY_MAX];
	char eco[CHI_ECO_SIZE];
	uint32_t name;	/* where it begins in chi_opening_names */
	uint32_t plies; /* of the shortest line that leads there */
};

extern const struct chi_opening chi_openings[]; /* ascending by key, bytewise; no two equal */
extern const size_t chi_openings_count;
extern const char chi_opening_names[]; /* each ended by a NUL */

/*
 * A Bloom filter of the sets of occupied squares, two bits of a word each: it says of most
 * positions that they have no name before a key is made of them.
 */
#define CHI_OPENING_WORDS 1024
extern const uint64_t chi_opening_filter[CHI_OPENING_WORDS];

/* The word of the filter, and the bits in it. */
static inline size_t chi_opening_bits(uint64_t occupied, uint64_t *bits)
{
	uint64_t h = occupied * UINT64_C(0x9e3779b97f4a7c15);
	*bits = UINT64_C(1) << (h >> 48 & 63) | UINT64_C(1) << (h >> 42 & 63);
	return (size_t)(h >> 54);
}
