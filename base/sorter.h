/* SPDX-License-Identifier: MIT */
/*
 * Sorting more than memory holds: items of 32 bytes, ordered bytewise. Threads fill blocks side
 * by side and give them back full; each is sorted by the thread that gives it, and written to a
 * nameless file when the memory set is used up. What was sorted is read in order by any number of
 * threads, each with a part of the range.
 *
 * No item is lost or merged: equal ones come one after the other. Spill files have no name (or
 * lose it at once), so that nothing is left behind however the process ends.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"

#define CHI_SORT_ITEM  32
#define CHI_SORT_GROUP 24 /* parts never separate items that agree in so many first bytes */

struct chi_sort_item {
	_Alignas(8) uint8_t bytes[CHI_SORT_ITEM];
};

struct chi_sorter;
struct chi_sort_reader;

/* `dir`: where spill files may be; copied. `memory`: bytes for all blocks together, at least 1 MiB.
 * `threads`: as many take blocks side by side; blocks are made small enough. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_sorter_new(const char *dir, uint64_t memory, unsigned threads,
			       struct chi_sorter **out);

/* Every reader must have been closed. NULL is fine. */
void chi_sorter_free(struct chi_sorter *sorter);

/*
 * Room for *capacity items, to be filled by the calling thread and then given back with the number
 * of those that are used, 0 if none. May spill others' blocks first. Any thread. -CHI_ENOMEM,
 * -CHI_EFULL, -CHI_EIO.
 */
CHI_MUSTUSE int chi_sorter_take(struct chi_sorter *sorter, struct chi_sort_item **items,
				size_t *capacity, struct chi_fault *fault);
CHI_MUSTUSE int chi_sorter_give(struct chi_sorter *sorter, struct chi_sort_item *items, size_t n,
				struct chi_fault *fault);

/* Items given so far. */
uint64_t chi_sorter_count(const struct chi_sorter *sorter);

/*
 * Ends the giving: all blocks must have been given back. Cuts the range into parts of about
 * `part_items` items, at group borders; *n_parts is at least 1, even if there is nothing.
 */
CHI_MUSTUSE int chi_sorter_seal(struct chi_sorter *sorter, uint64_t part_items, size_t *n_parts,
				struct chi_fault *fault);

/* Reads one part, in order. Different parts may be read by different threads at once. */
CHI_MUSTUSE int chi_sort_open(struct chi_sorter *sorter, size_t part, struct chi_sort_reader **out,
			      struct chi_fault *fault);
/* NULL is fine. */
void chi_sort_close(struct chi_sort_reader *reader);

/* In place of both: ends the giving and reads all of it, for one thread; again, if it is called
 * again. */
CHI_MUSTUSE int chi_sorter_read(struct chi_sorter *sorter, struct chi_sort_reader **out,
				struct chi_fault *fault);

/* The next item, valid until the next call; CHI_NONE after the part's last. -CHI_EIO. */
CHI_MUSTUSE int chi_sort_next(struct chi_sort_reader *reader, const struct chi_sort_item **out);

/* ---- A thread's room in a sorter, taken and given back block by block */

/* Zeroed at first but for the sorter. */
struct chi_filler {
	struct chi_sorter *sorter;
	struct chi_sort_item *items; /* NULL: none taken */
	size_t n;
	size_t capacity;
};

/* Gives `n` items to the sorter, copied. */
CHI_MUSTUSE int chi_filler_add(struct chi_filler *filler, const struct chi_sort_item *items,
			       size_t n, struct chi_fault *fault);

/* Room for one item, to be filled before the next call. */
CHI_MUSTUSE int chi_filler_turn(struct chi_filler *filler, struct chi_fault *fault);
CHI_MUSTUSE static inline int chi_filler_room(struct chi_filler *filler,
					      struct chi_sort_item **item, struct chi_fault *why)
{
	int rc = CHI_OK;
	if (CHI_UNLIKELY(filler->items == NULL || filler->n == filler->capacity)) {
		rc = chi_filler_turn(filler, why);
	}
	if (CHI_LIKELY(rc == CHI_OK)) {
		*item = &filler->items[filler->n++];
	}
	return rc;
}

/* Gives back what is taken. */
CHI_MUSTUSE int chi_filler_end(struct chi_filler *filler, struct chi_fault *fault);

/* Gives back room without what is in it, if any is taken: the sorter goes without. */
void chi_filler_drop(struct chi_filler *filler);
