/* SPDX-License-Identifier: MIT */
/* A game that was kept whole as PGN again. */
#pragma once

#include "chess/pgn/game.h"

/* Allocated text, NUL-terminated; the caller frees it. `len`: without the NUL. */
char *print_game(const struct chi_pgn_game *game, size_t *len);
