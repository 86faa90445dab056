/* SPDX-License-Identifier: MIT */
/*
 * The triangular table of principal variations. Row p holds the best line found so far from ply p
 * on. From there no more than N - p plies remain (N is CHI_PLIES_MAX), so that each row is one
 * shorter than the one above it, and the table is a triangle:
 *
 *	 ply   0     1     2     3   ...  N-1     length
 *	row 0  e2e4  e7e5  g1f3  b8c6 ...  .         4      the principal variation
 *	row 1        e7e5  g1f3  b8c6 ...  .         3
 *	row 2              g1f3  b8c6 ...  .         2
 *	row 3                    b8c6 ...  .         1
 *	row 4                          ... .         0      a leaf: nothing follows
 *
 * A node empties its row when it begins. When a move raises its alpha, the row becomes that move
 * and a copy of the row below, which the search of the move has just filled:
 *
 *	row p      [ move | . . . . . . ]
 *	                    ^ ^ ^ ^ ^         chi_pv_take: one memcpy of length[p + 1] moves
 *	row p + 1           [ . . . . . ]
 *
 * So a line grows from its end to its beginning, and every line in the table was searched as it
 * stands. In one array the rows lie one behind the other: row p begins after N + (N - 1) + ... of
 * those above it, at p * (2N + 1 - p) / 2.
 *
 * When a node returns a score without a search, its row stays empty, and the line above ends there.
 * That must not happen before the depth is reached. Hence nodes within the window, the only ones
 * whose rows are kept, take no score from the transposition table or the store (of the table they
 * take the move to begin with), do not pass, leave out no moves, and are searched to their whole
 * depth. Their lines end only at the depth or where the game does; they may be longer by the
 * captures that settle the last position. There are few such
 * nodes, so that this costs little.
 *
 * Walking the transposition table from the root instead would need no rows. But what is found there
 * may come from other searches, with other windows and depths, or be overwritten: such lines stop
 * early, go round in circles, or change their mind half-way, and what is stored of them is wrong.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include "uci/search/engine.h"

struct chi_pv_table {
	chi_move moves[CHI_PLIES_MAX * (CHI_PLIES_MAX + 1) / 2];
	size_t length[CHI_PLIES_MAX + 1]; /* moves in a row; that of the last ply stays 0 */
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
