/* SPDX-License-Identifier: MIT */
/*
 * Legal moves, standard chess and Chess960. A move is legal if it leaves the own king, if there is
 * one, unattacked; a king is never captured, even if it is in check with the enemy to move.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chess/position.h"
#include "chistore/types.h"

/*
 * No position has more moves: at most 32 pieces, each with at most 27 moves (a queen in the
 * middle; a pawn has at most 12 and a king 8 + 2).
 */
#define CHI_MOVEGEN_MAX 864

struct chi_move_list {
	size_t n;
	chi_move moves[CHI_MOVEGEN_MAX]; /* no order is promised; no two are equal */
};

/* True if `move` is in the list. */
bool chi_move_list_has(const struct chi_move_list *list, chi_move move);

/* Fills `out` with all legal moves of the side to move. */
void chi_movegen_legal(const struct chi_position *position, struct chi_move_list *out);

/* True if `move`, which may be any number, is legal in `position`. */
bool chi_movegen_is_legal(const struct chi_position *position, chi_move move);
