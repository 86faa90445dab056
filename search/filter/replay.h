/* SPDX-License-Identifier: MIT */
/* Looking at the positions of games, played again. Private to the room; one thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chess/pattern/pattern.h"
#include "search/filter/terms.h"
#include "store/archive.h"
#include "store/games/archive.h"

/* A pattern term, compiled. */
struct chi_wanted {
	struct chi_pattern pattern;
	uint8_t family; /* enum chi_endgame_family; NONE: not asked */
};

/* `term` is a pattern that chi_terms_parse has accepted. */
CHI_MUSTUSE int chi_wanted_init(const struct chi_terms *terms, const struct chi_term *term,
				struct chi_wanted *out);

/* Whether a position fits; `key` as for chi_pattern_matches. */
bool chi_wanted_fits(const struct chi_wanted *wanted, const uint8_t *key);

/* The first ply at which a position of the game fits, -1 if none does, and the move that it played
 * there, 0 if it ended. CHI_NONE: there is no such game. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_replay_pattern(struct chi_archive_reader *reader, uint32_t number,
				   const struct chi_wanted *wanted, int32_t *ply, chi_move *move);

/* The same of the position itself. */
CHI_MUSTUSE int chi_replay_find(struct chi_archive_reader *reader, uint32_t number,
				const struct chi_position *position, int32_t *ply, chi_move *move);
