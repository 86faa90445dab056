/* SPDX-License-Identifier: MIT */
/* What makes a game the same game: its id (store/FORMAT.md). */
#pragma once

#include <stdint.h>

#include "chess/pgn/pgn.h"
#include "chistore/games.h"
#include "chistore/types.h"

/* Room to put the bytes together that are hashed. */
#define CHI_IDENTITY_SIZE                                                                          \
	(3 * (CHI_PGN_VALUE_MAX + 1) + 2 + CHI_KEY_MAX + 2 * CHI_PGN_PLIES_MAX + 2 +               \
	 4 * (CHI_PGN_VALUE_MAX + 2))

/*
 * XXH3-128, big-endian, over: White, Black and Date, each with a zero byte after it, a missing tag
 * being empty; the result, 1 byte (enum chi_result); the length of the start position's key, 1
 * byte, and the key; each move, 2 bytes little-endian. All moves that can be read, however many of
 * them are counted.
 *
 * For an online game, which has one of the next four, two zero bytes follow, and then for each that
 * it has its number, 1 byte, and the text with a zero byte after it: 1 the Site, 2 the Link, 3 the
 * GameId, 4 the UTCTime, unless it has a question mark. Site and Link are there only if they are
 * the address of a page: "https://lichess.org/abcd", as "lichess.org/abcd"; "https://lichess.org"
 * is a place, which others spell otherwise.
 */
void chi_identity_of_game(const struct chi_pgn_game *game, const struct chi_key *start,
			  uint8_t scratch[CHI_IDENTITY_SIZE], uint8_t out[CHI_GAME_ID_SIZE]);
