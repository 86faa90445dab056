/* SPDX-License-Identifier: MIT */
/* What a run's next response holds. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/games.h"
#include "chistore/types.h"

struct chi_entry;
struct chi_game_row;
struct chi_name_entry;
struct chi_read;
struct chi_scan;
struct chi_stats_group;

/* What is collected for the next response. */
struct chi_page {
	union {
		void *items;
		struct chi_row *rows;	   /* CHI_WANT_KEYS, CHI_WANT_COUNTS */
		struct chi_entry *entries; /* CHI_WANT_RECORDS */
		struct chi_game_id *games;
		struct chi_game_row *game_rows;
		struct chi_stats_group *groups;
		struct chi_name_entry *names;
		uint32_t *numbers;
	};
	size_t size; /* of an item */
	size_t most; /* that a response may have */
	size_t n;
	size_t capacity;
	size_t bytes;		/* of the entries, packed */
	bool is_closed;		/* there is no room for the next one */
	struct chi_arena arena; /* what the entries point to */
	int64_t since;		/* ms: when the first row came */
};

/* For at most `most` items of that size. */
void chi_page_init(struct chi_page *page, size_t size, size_t most);
void chi_page_deinit(struct chi_page *page);

/* Empties it; the memory stays. */
void chi_page_clear(struct chi_page *page);

/* Empties it and gives the memory back. */
void chi_page_release(struct chi_page *page);

/* No further row may come into this response. */
bool chi_page_full(const struct chi_page *page);

/* What it takes of the server's memory. */
size_t chi_page_memory(const struct chi_page *page);

/* Makes room for one more item at least, from `n` to `capacity`: doubles the array, up to a
 * response's limit, if it is full. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_page_grow(struct chi_page *page);

/* So many items were put after those that were there. */
void chi_page_added(struct chi_page *page, size_t n);

/* Takes rows off the scan, looking at up to `steps` entries; status as chi_scan_rows. */
CHI_MUSTUSE int chi_page_fill(struct chi_page *page, struct chi_scan *scan, enum chi_want want,
			      uint64_t steps);

/* The same of games, after those that are there, or else after `after` (NULL: from the first);
 * `read` is the snapshot. */
CHI_MUSTUSE int chi_page_fill_games(struct chi_page *page, struct chi_read *read,
				    const uint8_t *after, size_t max);
