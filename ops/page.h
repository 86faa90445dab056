/* SPDX-License-Identifier: MIT */
/* Rows of an answer, while they are collected. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/games.h"
#include "chistore/types.h"
#include "proto/message.h"
#include "proto/wire/frame.h"

/* Bytes of rows after which a response takes no more; half of what may be sent, because the row
 * taken last may be large. */
#define CHI_PAGE_BYTES (CHI_SCAN_BYTES_MAX / 2)

/* Of a result, packed, that a response holds; what else is in that takes less. */
#define CHI_RESULT_BYTES_MAX (CHI_FRAME_RESPONSE_MAX - ((size_t)8 << 10))

struct chi_entry;
struct chi_game_row;

/* What is collected for the next response. */
struct chi_page {
	union {
		void *items;
		struct chi_row *rows;	   /* CHI_WANT_KEYS, CHI_WANT_COUNTS */
		struct chi_entry *entries; /* CHI_WANT_RECORDS */
		struct chi_game_row *game_rows;
	};
	size_t size; /* of an item */
	size_t most; /* that a response may have */
	size_t n;
	size_t capacity;
	size_t bytes;		       /* of the entries, packed */
	size_t bytes_full;	       /* with so many it takes no more */
	size_t bytes_most;	       /* with a row more they must not be over this */
	const struct chi_member *list; /* the rows, for their sizes; NULL: as they are added */
	bool is_closed;		       /* there is no room for the next one */
	struct chi_arena arena;	       /* what the entries point to */
	int64_t since;		       /* ms: when the first row came */
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

/* For rows of a result, of `size` bytes each, as many as a response of a server has; without a list
 * (NULL) it has none. */
void chi_page_init_list(struct chi_page *page, const struct chi_member *list, size_t size);

/* The same for a call in this process: no bounds, and what the rows lead to may take `budget`. */
void chi_page_init_unbounded(struct chi_page *page, size_t size, size_t budget);

/* So many items were put after those that were there. */
void chi_page_added(struct chi_page *page, size_t n);

/* The one after them is filled in, and what it leads to: it is taken, or waits for the next page,
 * as there is no room (is_closed). -CHI_ETOOBIG: it fits none. */
CHI_MUSTUSE int chi_page_take_row(struct chi_page *page);

/* One was, of so many bytes packed. */
void chi_page_added_one(struct chi_page *page, size_t bytes);
