/* SPDX-License-Identifier: MIT */
/*
 * The transposition table: what was found out about positions, by their hash. Sixteen bytes an
 * entry, four in a line of the cache; of a full line that entry is replaced which is of an older
 * search, or of the least depth.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_table_entry {
	uint64_t hash;
	chi_move move; /* best, or the one that cut; 0: none is known */
	int16_t score;
	int16_t eval; /* without a search; CHI_TABLE_NO_EVAL in check */
	uint8_t depth;
	uint8_t bound_age; /* enum chi_engine_bound + 1 in the lowest two bits, 0: the entry is
			      free; the search's number above */
};

#define CHI_TABLE_NO_EVAL INT16_MIN
#define CHI_TABLE_LINE	  4

struct chi_table {
	void *memory;
	struct chi_table_entry *entries; /* in it, a line each at a line of the cache */
	size_t lines;			 /* a power of two */
	uint64_t salt; /* of the hashes: with another, all entries are of no position */
	uint8_t age;   /* multiples of 4 */
};

CHI_MUSTUSE int chi_table_init(struct chi_table *table, size_t mib);
void chi_table_deinit(struct chi_table *table);
void chi_table_clear(struct chi_table *table);

/* As clear, at once: the memory stays as it is. */
static inline void chi_table_forget(struct chi_table *table)
{
	table->salt += UINT64_C(0x9e3779b97f4a7c15);
}

/* Another search begins. */
static inline void chi_table_next(struct chi_table *table)
{
	table->age = (uint8_t)(table->age + 4);
}

/* Fetches the line that a hash falls into. */
static inline void chi_table_prefetch(const struct chi_table *table, uint64_t hash)
{
	__builtin_prefetch(table->entries +
			   ((hash ^ table->salt) & (table->lines - 1)) * CHI_TABLE_LINE);
}

/* Scores of mates are told from the node, not from the root; `ply` is the node's. */
bool chi_table_find(const struct chi_table *table, uint64_t hash, int ply,
		    struct chi_table_entry *out);
void chi_table_store(struct chi_table *table, uint64_t hash, int ply, struct chi_table_entry entry,
		     int bound);

static inline int chi_table_bound(const struct chi_table_entry *entry)
{
	return (entry->bound_age & 3) - 1;
}

/* Entries of this search among the first thousand. */
unsigned chi_table_full(const struct chi_table *table);
