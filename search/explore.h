/* SPDX-License-Identifier: MIT */
/*
 * What was played from a position in the games that fit a filter: from the position's list of games
 * and the columns, no game is replayed. Steps and threads as in search/games.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/types.h"
#include "store/store.h"

struct chi_filtered_explore;

/* Errors as chi_game_walk_open; -CHI_EKEY. */
CHI_MUSTUSE int chi_filtered_explore_open(struct chi_read *read, const struct chi_key *key,
					  const char *filter, size_t len,
					  struct chi_filtered_explore **out,
					  struct chi_fault *fault);
void chi_filtered_explore_close(struct chi_filtered_explore *explore);

/* Bytes that it takes, about. */
size_t chi_filtered_explore_memory(const struct chi_filtered_explore *explore);

/* CHI_OK: call again; CHI_NONE: all games are counted. */
CHI_MUSTUSE int chi_filtered_explore_step(struct chi_filtered_explore *explore, uint64_t steps);

/*
 * After CHI_NONE: as chi_read_explore, but all counts, of the position, of its moves and of the
 * positions after these, are of the games that fit, moves that none of these played are left out,
 * and min_ply is -1. Statistics and evaluations are as stored. Memory is the arena's.
 */
CHI_MUSTUSE int chi_filtered_explore_result(struct chi_filtered_explore *explore,
					    struct chi_arena *arena, struct chi_explored *out,
					    struct chi_fault *fault);

/* As chi_game_walk_unknown. */
const char *chi_filtered_explore_unknown(const struct chi_filtered_explore *explore, size_t i);
