/* SPDX-License-Identifier: MIT */
/*
 * A store of random games for the tests of searching, and the same games in memory: heads as the
 * columns have them, names as texts, and all positions, so that every query can be answered again
 * by a loop over all games.
 */
#pragma once

#include "tests/store/help.h"

#include "chistore/games.h"
#include "search/filter/terms.h"
#include "store/archive.h"
#include "store/games/columns.h"

#define WORLD_PLIES 40

struct world_game {
	bool there; /* else it was removed */
	struct chi_game_head head;
	char white[64];
	char black[64];
	char event[64];
	char site[64];
	char source[64];
	size_t plies;
	chi_move moves[WORLD_PLIES];
	struct chi_key keys[WORLD_PLIES + 1];
};

struct search_world {
	struct chi_dir *store;
	struct chi_read *read;
	struct chi_archive_view view;
	uint32_t n;		  /* the last number */
	struct world_game *games; /* [1..n] */
};

/* Imports games, and takes some out again. */
void world_open(struct search_world *world, unsigned games);
/* Imports more, and shows the new state. */
void world_grow(struct search_world *world, unsigned games);
void world_close(struct search_world *world);

/* Whether a game fits, term by term; gamesets are not known. */
bool world_fits(const struct world_game *game, const struct chi_terms *terms);

/* Whether a game has a motif, and where its first moment is as chi_motif_found says. Motifs of
 * several tests are not turned, none is shifted; the store is not asked. */
bool world_motif(const struct world_game *game, const struct chi_terms *terms,
		 const struct chi_term *term, int32_t *ply);

/* A filter at random that fits some games more often than not. */
void world_filter(const struct search_world *world, char *out, size_t size);

/* What main() does of a program whose tests share a world of so many games. */
int world_run(struct search_world *world, unsigned games);
