/* SPDX-License-Identifier: MIT */
/*
 * Lists of games: which games reached a position, and what each played there (struct chi_posting).
 * Ascending by game, then by move; of a game's entries there is one for each move. A list is
 * written with the moves that occur in it, ascending: each entry is one varint, the distance from
 * the game before times the number of moves plus one, plus the move's place, 0 for none. Short
 * lists are in records, long ones in the postings tree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wire.h"
#include "chistore/games.h"

/* Order of the entries. */
static inline bool chi_posting_before(const struct chi_posting *a, const struct chi_posting *b)
{
	return a->game != b->game ? a->game < b->game : a->move < b->move;
}

/* True if they ascend, and no game is 0. */
bool chi_postings_ascends(const struct chi_posting *entries, size_t n);

/* Sorts them, if need be. */
void chi_postings_sort(struct chi_posting *entries, size_t n);

/* How many different games there are; entries as sorted. */
size_t chi_postings_games(const struct chi_posting *entries, size_t n);

/*
 * Writes entries until the writer has no room, and returns how many there was room for. The first
 * one counts from `base`. Each entry's move is 0 or one of `moves`: else w->bad is set.
 */
size_t chi_postings_write(struct chi_writer *w, const struct chi_posting *entries, size_t n,
			  uint32_t base, const chi_move *moves, size_t n_moves);

/* Reads exactly `n` entries; r->bad is set if they do not ascend or are no list. */
void chi_postings_read(struct chi_reader *r, struct chi_posting *out, size_t n, uint32_t base,
		       const chi_move *moves, size_t n_moves);
