/* SPDX-License-Identifier: MIT */
/*
 * The triangular table of principal variations. Row p holds the best line found so far from ply p
 * on; from there no more than CHI_PLIES_MAX - p plies remain, so that each row is one shorter than
 * the one above, and the table is a triangle:
 *
 *   ply 0   e2e4 e7e5 g1f3 b8c6 ...      the principal variation itself
 *   ply 1        e7e5 g1f3 b8c6 ...
 *   ply 2             g1f3 b8c6 ...
 *   ply 3                  b8c6 ...
 *
 * A node empties its row when it begins. When a move raises its alpha, the row becomes that move
 * and a copy of the row below, which the search of the move has just filled: a line grows from its
 * end to its beginning, and every line in the table was searched as it stands.
 *
 * Walking the transposition table instead would be shorter, but what is found there was written by
 * other searches and may be overwritten: such lines stop early, repeat themselves, or change their
 * mind half-way. So that nothing cuts the rows here either, nodes within the window take no score
 * from the transposition table or the store (they take the move to begin with); a line then ends
 * only at the depth, or where the game does. It may be longer than the depth by the captures that
 * settle its last position.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include "uci/search/engine.h"

struct chi_pv_table {
	chi_move moves[CHI_PLIES_MAX * (CHI_PLIES_MAX + 1) / 2];
	size_t length[CHI_PLIES_MAX + 1];
};

/* Where the row of a ply begins: rows above it have CHI_PLIES_MAX, CHI_PLIES_MAX - 1, ... moves. */
static inline chi_move *chi_pv_row(struct chi_pv_table *table, int ply)
{
	return table->moves + (size_t)ply * (size_t)(2 * CHI_PLIES_MAX + 1 - ply) / 2;
}

static inline void chi_pv_begin(struct chi_pv_table *table, int ply)
{
	table->length[ply] = 0;
}

/* The best line from `ply` on is `move` and what the row below says. */
static inline void chi_pv_take(struct chi_pv_table *table, int ply, chi_move move)
{
	chi_move *row = chi_pv_row(table, ply);
	size_t below = table->length[ply + 1];
	row[0] = move;
	memcpy(row + 1, chi_pv_row(table, ply + 1), below * sizeof(*row));
	table->length[ply] = below + 1;
}
