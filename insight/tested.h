/* SPDX-License-Identifier: MIT */
/*
 * Many positions are tested at once: chances corrected for their number, and positions of the same
 * games, or nearly so, which are one finding. Private to the room.
 *
 * Tables have rows of `size` bytes that begin with a struct insight_chance.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct insight_chance {
	double chance;
	double adjusted;
	double rank;	     /* of equal chances the least comes first */
	uint64_t games_hash; /* sum of insight_game_hash of its games */
	uint32_t ply;
	size_t positions; /* with these games, itself included */
};

uint64_t insight_game_hash(uint32_t number);

/* The chance that a normal variable is so far from 0, or farther, to either side. */
double insight_two_sided(double z);

/* Of positions with the same games only the first in these is left. How many are. */
CHI_MUSTUSE size_t insight_join_equal(void *tested, size_t n, size_t size);

/*
 * Sorts by chance, and corrects for their number (Y. Benjamini and Y. Hochberg, "Controlling the
 * false discovery rate", Journal of the Royal Statistical Society B 57, 1995). How many are found,
 * the first ones: of these `fdr` thousandths are chance in the long run.
 */
CHI_MUSTUSE size_t insight_correct(void *tested, size_t n, size_t size, uint32_t fdr);

/*
 * Findings one after the other, the surest first: one of which nine in ten of the games of the
 * smaller one are in both is part of an earlier one. Memory is for the games of findings that are
 * not part of others.
 */
struct insight_join {
	bool alike;
	uint32_t *newest; /* of each game: its newest link, 0: none is there */
	struct insight_link *links;
	size_t n_links;
	size_t max_links;
	struct insight_head *heads;
	size_t n_heads;
	size_t max_heads;
	uint32_t *games; /* of the finding that is being added */
	size_t n_games;
	size_t max_games;
};

/* Games have numbers below n. `alike`: nine in ten of the games of the larger one must be in both.
 * -CHI_ENOMEM; insight_join_end is fine then, and twice. */
CHI_MUSTUSE int insight_join_begin(struct insight_join *join, size_t n, bool alike);
/* A game of the next finding, each once. */
CHI_MUSTUSE int insight_join_game(struct insight_join *join, uint32_t game);
/* All games of it are there. CHI_OK: it is part of finding *head; CHI_NONE: it is *head, from 0 on.
 */
CHI_MUSTUSE int insight_join_settle(struct insight_join *join, size_t *head);
void insight_join_end(struct insight_join *join);
size_t insight_join_memory(const struct insight_join *join, size_t n);
