/* SPDX-License-Identifier: MIT */
/*
 * What to do where a text fits several legal moves: follow them all until the rest of the game is
 * legal after one of them only. Nothing is guessed: until one is left, or none, the game
 * ends before that text. Internal to the PGN reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chess/pgn/game.h"
#include "chess/san.h"

/* Lines followed at a time; each may meet further texts that fit several moves. */
#define CHI_PGN_FORKS_MAX 16

struct chi_pgn_fork {
	struct chi_position position; /* after its moves */
	size_t n;
	chi_move moves[CHI_PGN_PLIES_MAX]; /* since the lines parted */
};

struct chi_pgn_forks {
	size_t n; /* lines alive; 0: none are followed */
	struct chi_pgn_fork lines[CHI_PGN_FORKS_MAX];
};

/* Parts `position` into the moves found; false if they are too many. */
bool chi_pgn_forks_begin(struct chi_pgn_forks *forks, const struct chi_position *position,
			 const struct chi_san_found *found);

/* Plays a text in each line and drops those where it is no legal move. False if there are too many
 * lines, or moves in one of them; then none are followed any longer. */
bool chi_pgn_forks_play(struct chi_pgn_forks *forks, const char *text, size_t len);
