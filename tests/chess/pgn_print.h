/* SPDX-License-Identifier: MIT */
/* A game that was kept whole, as the archive has it, and as PGN again. */
#pragma once

#include "chess/pgn/game.h"
#include "chistore/games.h"

/* Its pointers lead into the reader's game, and to `tags`. The id is zeros. */
void whole_game(const struct chi_pgn_game *game, struct chi_tag tags[CHI_PGN_ALL_TAGS_MAX],
		struct chi_game *out);

/* Allocated text, NUL-terminated; the caller frees it. `len`: without the NUL. NULL: it cannot be
 * written. */
char *print_game(const struct chi_pgn_game *game, size_t *len);
