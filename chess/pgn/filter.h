/* SPDX-License-Identifier: MIT */
/*
 * The filter on games: which of them it lets through, by what their headers say. The filter itself
 * is struct chi_game_filter of types.h, the same in every place that takes one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/pgn/game.h"
#include "chistore/types.h"

/* What a filter looks at. Texts are the caller's. */
struct chi_game_header {
	const char *white; /* UTF-8, NUL-terminated, "" if not known */
	const char *black;
	uint16_t year; /* 0: not known, as of the ratings */
	uint16_t white_elo;
	uint16_t black_elo;
	enum chi_result result;
	char eco[4];  /* "B90", or "" */
	uint8_t time; /* one of enum chi_time_class, or 0 */
	size_t plies;
};

/* By the game's tags, without the opening, which its moves say; valid as long as these. */
void chi_game_header_of(const struct chi_pgn_game *game, struct chi_game_header *out);

/* -CHI_EINVAL names the member that says nothing any game could fit. */
CHI_MUSTUSE int chi_game_filter_check(const struct chi_game_filter *filter,
				      struct chi_fault *fault);

/* True if it asks for anything. */
bool chi_game_filter_is_set(const struct chi_game_filter *filter);

/* True if the game fits. What is asked for and not known of the game does not. */
bool chi_game_filter_fits(const struct chi_game_filter *filter,
			  const struct chi_game_header *header);
