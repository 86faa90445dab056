/* SPDX-License-Identifier: MIT */
/*
 * Positions that a pattern fits: all distinct positions of the store are looked at, once each,
 * however many games reached them.
 *
 * With games: those that reached one of these positions and fit the filter besides. Steps and
 * threads as in search/games.h; one step is about a hundred positions. If several threads are asked
 * for, a call looks at some ten thousand positions for each at least, and they end before it does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "search/games.h"
#include "store/store.h"

/* No more threads look at positions. */
#define CHI_FIND_THREADS_MAX 16

struct chi_find_spec {
	const char *pattern; /* conditions as in a filter: has "Nd5" mirror; may be NULL: every
				position fits */
	size_t pattern_len;
	const char *filter; /* of games; without any, positions fit that no game reached, too */
	size_t filter_len;
	bool games;	 /* games are wanted, by ascending number, not positions */
	bool only_count; /* only the total is wanted */
	uint64_t limit;	 /* rows; 0: no limit */
	const char *cursor;
	size_t cursor_len;
	bool want_total;  /* goes on after the last row, to count the rest */
	unsigned threads; /* that look at positions of which no rows are wanted, only their number
			     or their games: in a call, this one included; 0 is 1 */
};

struct chi_find;

/* Errors as chi_games_open. */
CHI_MUSTUSE int chi_find_open(struct chi_read *read, const struct chi_find_spec *spec,
			      struct chi_find **out, struct chi_fault *fault);
void chi_find_close(struct chi_find *find);

/* Positions, by ascending key, with the counts of all their games. As chi_games_next. */
CHI_MUSTUSE int chi_find_positions(struct chi_find *find, struct chi_row *rows, size_t max,
				   uint64_t steps, size_t *n);

/* Games: `ply` is the first at which the pattern fits, -1 if that is not known. Games of a position
 * are those of the snapshot in which it was looked at. */
CHI_MUSTUSE int chi_find_games(struct chi_find *find, struct chi_games_row *rows, size_t max,
			       uint64_t steps, size_t *n);

bool chi_find_total(const struct chi_find *find, uint64_t *total);

/* How much of all positions was looked at, in thousandths. */
unsigned chi_find_progress(const struct chi_find *find);

/* Where a search is after the last row delivered, however far it has counted since; "" or the one
 * it began with before the first. */
#define CHI_FIND_CURSOR_SIZE 64
size_t chi_find_cursor(const struct chi_find *find, char out[CHI_FIND_CURSOR_SIZE]);

/* The same after a game. */
size_t chi_find_game_cursor(uint32_t number, char out[CHI_FIND_CURSOR_SIZE]);

/*
 * Lets go of the snapshot, which may end then. With another one the search goes on where it was,
 * with the games that it has found, but for those that have gone since.
 */
void chi_find_detach(struct chi_find *find); /* also after a failed attach */
CHI_MUSTUSE int chi_find_attach(struct chi_find *find, struct chi_read *read,
				struct chi_fault *fault);

/* False: nothing was looked at in this snapshot so far, and what was prepared would be lost. */
bool chi_find_may_detach(const struct chi_find *find);

/* Detached: takes the last `n` rows back; `cursor`, of one that a find gave, was before them. */
void chi_find_rewind(struct chi_find *find, uint64_t n, const char *cursor);

/* Bytes that it takes, about. */
size_t chi_find_memory(const struct chi_find *find);

/* As chi_games_unknown. */
const char *chi_find_unknown(const struct chi_find *find, size_t i);
