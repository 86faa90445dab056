/* SPDX-License-Identifier: MIT */
/*
 * A store of games for the tests of insights, and the same games in memory, played once more, so
 * that every question can be answered again by loops over them.
 */
#pragma once

#include "tests/store/help.h"

#include "chistore/games.h"
#include "insight/insight.h"

/* That a game came to a position, first at that ply. */
struct insight_place {
	struct chi_key key;
	uint32_t game;
	uint32_t ply;
};

struct insight_world {
	struct chi_dir *store;
	struct chi_read *read;
	uint32_t n;		      /* the last number */
	struct chi_game_head *heads;  /* [1..n] */
	struct chi_key **keys;	      /* [1..n], each with plies + 1 keys */
	chi_move **moves;	      /* the same */
	size_t *plies;		      /* the same */
	struct insight_place *places; /* by key, then by number */
	size_t n_places;
};

/* Opens the store at help_path("insight"), which others made. */
void insight_world_load(struct insight_world *world);
/* Imports a PGN text into a new store. */
void insight_world_open(struct insight_world *world, const char *text);
/* Takes games of a PGN text out again: their heads are zeros, their keys NULL. */
void insight_world_subtract(struct insight_world *world, const char *text);
/* Puts what the entry has into the store. */
void insight_world_put(struct insight_world *world, const struct chi_put_entry *put);
/* As insight_world_open, of a store that only counts games. */
void insight_world_counts(struct insight_world *world, const char *text);
void insight_world_close(struct insight_world *world);

/* The games of a position. */
const struct insight_place *insight_world_find(const struct insight_world *world,
					       const struct chi_key *key, size_t *n);

/* Games at random as PGN, to be freed: short ones of few moves, so that they meet again in other
 * orders, begin elsewhere, and repeat; dates, ratings and results are known or not. */
char *insight_world_random(unsigned games);

/* An answer, found by so many steps a call; it must be closed. */
struct chi_insight *insight_world_ask(const struct insight_world *world,
				      const struct chi_insight_spec *spec, uint64_t steps);

/* Both have the same rows. */
void insight_world_same(const struct chi_insight_result *a, const struct chi_insight_result *b);
