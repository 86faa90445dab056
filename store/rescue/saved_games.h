/* SPDX-License-Identifier: MIT */
/*
 * The archive of a damaged store on its way into a new one. Chunks that are sound are copied as
 * they are; then what does not belong together goes: a game is kept if its identity, its columns
 * and its body are there. Names that are lost get others in their place, so that numbers stay.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "store/rescue/salvage.h"
#include "store/store.h"

struct chi_bodies_reader;

/* Zeroed at first. */
struct chi_saved_games {
	uint8_t *claimed; /* by number: an identity has it; 2: and the game is whole */
	size_t size;
	uint32_t last; /* the last game that a gameset knows of */
	struct chi_bodies_reader *bodies;
};
void chi_saved_games_deinit(struct chi_saved_games *saved);

/* Whether the game's number is no other's. Without memory no number is. */
bool chi_saved_games_claim(struct chi_saved_games *saved, const struct chi_game_id *game);

/* Copies an entry if it is sound, and was not copied before. */
CHI_MUSTUSE int chi_saved_games_take(struct chi_saved_games *saved, struct chi_write *write,
				     enum chi_salvage_tree tree, const MDB_val *key,
				     const MDB_val *value, bool *taken);

/* When all entries came: *lost counts games that are no longer kept, only counted. `last`: the
 * highest number that a game was given, if it is known. */
CHI_MUSTUSE int chi_saved_games_settle(struct chi_saved_games *saved, struct chi_write *write,
				       uint64_t last, chi_verify_report *report, void *context,
				       uint64_t *lost);
