/* SPDX-License-Identifier: MIT */
/*
 * What several kinds ask of games, eight bytes of each, loaded once; and a walk over all positions
 * that have games enough, by their counts, whose lists of games are then read. If only few games
 * count, those of the filter, these are played, and only positions that they reached are looked at.
 * Private to the room.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insight/insight_priv.h"
#include "search/footprint.h"

struct chi_archive_reader;

struct insight_game {
	uint32_t date : 24; /* year << 9 | month << 5 | day, those not known 0; 0: no year is */
	uint32_t result : 8;
	float expected; /* White's points by ratings; less than 0: they, or the result, are not
			   known */
};

#define INSIGHT_YEAR  9 /* bits of a date below the year */
#define INSIGHT_MONTH 5

#define INSIGHT_ROWS_A_STEP 256 /* of positions */

struct insight_walk {
	struct insight_game *games; /* [0..view.last]; NULL: not begun */
	uint32_t next;		    /* games below are loaded */
	bool is_loaded;
	struct chi_scan *scan;
	uint8_t (*children)[CHI_KEY_MAX]; /* of spec.position */
	struct chi_footprint *footprint;  /* of the filter's games; NULL: all is walked over */
	bool has_footprint;		  /* the scan has it */
	struct chi_archive_reader *reader;
	struct chi_row rows[INSIGHT_ROWS_A_STEP]; /* that the walk delivered last */
	size_t n_rows;
	size_t row; /* the next one to be looked at */
	bool is_over;
};

/* A position that has at least spec.min_games games by its counts. Steps that it took are counted
 * down. CHI_OK: go on. */
typedef int insight_look(struct chi_insight *insight, const struct chi_row *row, uint64_t *steps);

/* Loads the games, of which those with a year are counted in result.games; CHI_NONE: all are. The
 * first call of insight_walk_step does so too, if that is not done. */
CHI_MUSTUSE int insight_walk_load(struct insight_walk *walk, struct chi_insight *insight,
				  uint64_t *steps);
/* After that, looks at the next positions. CHI_OK: the steps are used up; CHI_NONE: all positions
 * were looked at. */
CHI_MUSTUSE int insight_walk_step(struct insight_walk *walk, struct chi_insight *insight,
				  insight_look *look, uint64_t *steps);
void insight_walk_end(struct insight_walk *walk); /* twice is fine */
size_t insight_walk_memory(const struct insight_walk *walk, const struct chi_insight *insight);

/* A game of a position, each once, ascending. */
typedef int insight_take(void *context, uint32_t number);

/* CHI_NONE: the position is not stored, or has no list; else the first status of `take` that is
 * not CHI_OK. */
CHI_MUSTUSE int insight_walk_games(const struct chi_insight *insight, const struct chi_key *key,
				   insight_take *take, void *context, uint64_t *steps);

/* After how many plies a game whose number is in the position's list came to it first. */
CHI_MUSTUSE int insight_find_ply(struct chi_archive_reader *reader, uint32_t number,
				 const struct chi_key *key, uint32_t *ply);

/* The game of the lowest number that reached the row's position, and when it did first; without one
 * the row stays as it is. */
CHI_MUSTUSE int insight_find_game(const struct chi_insight *insight,
				  struct chi_archive_reader *reader, struct chi_insight_row *row);

void insight_spend(uint64_t *steps, uint64_t n);
