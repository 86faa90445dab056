/* SPDX-License-Identifier: MIT */
/*
 * What the three files of the sorter share: runs (sorted stretches, in memory or in the spill
 * file), the merge of runs, and items compared as four big-endian words.
 */
#pragma once

#include <endian.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/sorter.h"

#define CHI_SORT_WORDS (CHI_SORT_ITEM / 8)

static inline uint64_t chi_sort_word(const struct chi_sort_item *item, size_t i)
{
	uint64_t word;
	memcpy(&word, item->bytes + 8 * i, sizeof(word));
	return be64toh(word);
}

/* The order of two items that agree in the words before `from`. */
static inline bool chi_sort_less(const struct chi_sort_item *a, const struct chi_sort_item *b,
				 size_t from)
{
	for (size_t i = from; i < CHI_SORT_WORDS; i++) {
		uint64_t x = chi_sort_word(a, i);
		uint64_t y = chi_sort_word(b, i);
		if (x != y) {
			return x < y;
		}
	}
	return false;
}

/* Of a spilled run every so many-th item is kept in memory, to find places in it. */
#define CHI_SORT_STRIDE 4096

/* A sorted stretch of items: in memory (`items`), or at `offset` of the spill file. */
struct chi_sort_run {
	struct chi_sort_item *items; /* owned; NULL: spilled */
	uint64_t offset;	     /* bytes */
	uint64_t n;		     /* items */
	struct chi_sort_item *marks; /* owned: items 0, STRIDE, 2 * STRIDE ... of a spilled run */
};

struct chi_sort_runs {
	struct chi_sort_run *run;
	size_t n;
	size_t capacity;
};

struct chi_sorter {
	char *dir;
	uint64_t memory;
	size_t block_items;
	int fd;		       /* spill file; -1: none yet */
	uint64_t file_end;     /* bytes of it that are used */
	pthread_mutex_t mutex; /* guards all below until sealed */
	pthread_cond_t spilled;
	bool spilling;
	uint64_t used; /* bytes of blocks and workspaces */
	uint64_t count;
	struct chi_sort_runs resident;
	struct chi_sort_runs files;
	struct chi_sort_item *spare;  /* blocks not in use, a list */
	struct workspace *workspaces; /* for sorting a block; a stack of those not in use */
	/* Set by sealing: all runs, and the first groups of the parts after the first. */
	struct chi_sort_runs runs;
	struct chi_sort_item *splitters;
	size_t n_parts;
};

/*
 * Sorts `n` items, at most CHI_SORT_BLOCK_MAX, from `from` to `to`; `pairs` is room for 2 * n
 * words. What `from` holds afterwards means nothing.
 */
#define CHI_SORT_BLOCK_MAX ((size_t)1 << 20)
void chi_sort_block(struct chi_sort_item *from, struct chi_sort_item *to, size_t n,
		    uint64_t *pairs);

/* A reader of whole runs in memory, for spilling them. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_sort_merge(const struct chi_sort_runs *runs, struct chi_sort_reader **out);

/* For `_cleanup_`. */
void chi_sort_closep(struct chi_sort_reader **reader);
