/* SPDX-License-Identifier: MIT */
/*
 * Changes of a tree that its blocks do not have yet: a log in the order they were made, of which
 * the newest of a key counts. Applied by ascending key, all changes of a block are one write of
 * it.
 *
 * Belongs to a write transaction and its thread. A zeroed one is empty; takes no memory until
 * something is added.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/types.h"
#include "store/block/block.h"

struct chi_memtable_entry {
	uint64_t order;	    /* the first bytes of the key, as a number of the tree's order */
	const uint8_t *key; /* in the arena; the value follows it */
	uint32_t len;	    /* of the value */
	uint32_t place;	    /* in the log */
	uint32_t before;    /* once hashed: what its slot held */
	uint8_t key_len;
	bool puts;	 /* false: it removes */
	bool first_puts; /* once sorted: so did the key's first change */
};

static inline const uint8_t *chi_memtable_value(const struct chi_memtable_entry *entry)
{
	return entry->key + entry->key_len;
}

struct chi_memtable {
	struct chi_memtable_entry *log;
	size_t n;
	size_t capacity;
	uint64_t bytes; /* of keys and values; what was truncated counts until all is */
	uint32_t
		*slots; /* a hash table of places in the log + 1, and 0; made by the first search */
	size_t n_slots; /* a power of two, or 0 */
	size_t hashed;	/* of the log, from its start */
	struct chi_arena arena;
};

void chi_memtable_init(struct chi_memtable *table);
void chi_memtable_deinit(struct chi_memtable *table);

/* Notes that a key is put, or, `value` NULL, removed; both are copied. -CHI_ENOMEM: nothing is
 * noted. */
CHI_MUSTUSE int chi_memtable_add(struct chi_memtable *table, enum chi_tree_kind kind,
				 const uint8_t *key, size_t key_len, const uint8_t *value,
				 size_t len);

/* The newest change of a key, until the next call, or NULL in *out. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_memtable_find(struct chi_memtable *table, const uint8_t *key, size_t key_len,
				  const struct chi_memtable_entry **out);

/* Forgets all changes but the first `n`, in the time that those took which are forgotten. */
void chi_memtable_truncate(struct chi_memtable *table, size_t n);

/* Forgets all changes. */
void chi_memtable_clear(struct chi_memtable *table);

/* Sorts the log by key, and of each key keeps the newest change. Then only chi_memtable_clear or
 * chi_memtable_deinit may follow. */
void chi_memtable_sort(struct chi_memtable *table, enum chi_tree_kind kind);
