/* SPDX-License-Identifier: MIT */
/*
 * Games and results by what games are, positions by what is on the board. Steps and threads as in
 * search/games.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/search.h"
#include "chistore/types.h"
#include "store/store.h"

/* A group. */
struct chi_stats_row {
	uint32_t value; /* year, rating, ECO as in columns, moves, speed, id of a name, pieces or
			   family; 0: not known */
	char text[40];	/* letter, code, speed, material, family; "" of names: their texts are the
			   caller's to look up */
	struct chi_counts counts; /* as in struct chi_stats_group */
	uint64_t positions;
	uint64_t rated;
	uint32_t expected;
	int32_t beyond;
};

struct chi_stats;

/* Errors as chi_game_walk_open. */
CHI_MUSTUSE int chi_stats_open(struct chi_read *read, const struct chi_stats_spec *spec,
			       struct chi_stats **out, struct chi_fault *fault);
void chi_stats_close(struct chi_stats *stats);

/* Bytes that it takes, about. */
size_t chi_stats_memory(const struct chi_stats *stats);

/* After CHI_NONE: lets go of the snapshot, which may end then. */
void chi_stats_detach(struct chi_stats *stats);

/* CHI_OK: call again; CHI_NONE: all is counted. */
CHI_MUSTUSE int chi_stats_step(struct chi_stats *stats, uint64_t steps);

/* After CHI_NONE: the groups, valid until it is closed. */
const struct chi_stats_row *chi_stats_rows(const struct chi_stats *stats, size_t *n);

/* A group of a kind as it is delivered: with its name's text, in memory of the arena. CHI_NONE: the
 * snapshot has no such name. */
CHI_MUSTUSE int chi_stats_group_of(struct chi_read *read, uint8_t by,
				   const struct chi_stats_row *row, struct chi_arena *arena,
				   struct chi_stats_group *out);

/* As chi_game_walk_unknown. */
const char *chi_stats_unknown(const struct chi_stats *stats, size_t i);
