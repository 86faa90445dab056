/* SPDX-License-Identifier: MIT */
/* What the loading test loads: positions and games in the order a load wants them, at random. */
#pragma once

#include "tests/store/help.h"

#define POSITIONS 400
#define GAMES	  60

/* What games told of a position. */
struct item {
	struct chi_key key;
	struct chi_record record;
	struct chi_move_stat moves[3];
	struct chi_ply_stat plies[2];
};

extern struct item items[POSITIONS];	/* by ascending key */
extern struct chi_game_id games[GAMES]; /* by ascending id */

/* Fills both. */
void loads_make(void);

/* For qsort, by id. */
int loads_compare_games(const void *a, const void *b);
