/* SPDX-License-Identifier: MIT */
/* Evaluations as lines of other programs' formats, one a position. Nothing is printed of a record
 * without any. -CHI_ECORRUPT: a move is not legal. */
#pragma once

#include <stdio.h>

#include "chess/position.h"
#include "chistore/types.h"

/* Moves as UCI with spaces between; `rook`: castling as king takes rook. -CHI_ECORRUPT: one is not
 * legal. */
CHI_MUSTUSE int export_moves(FILE *file, const struct chi_position *from, const chi_move *moves,
			     size_t n, bool rook);

/* As lichess.org's file (formats/evals/lichess.h); the lines of each engine are one entry of
 * "evals". */
CHI_MUSTUSE int export_lichess(FILE *file, const struct chi_key *key,
			       const struct chi_record *record);

/* The deepest evaluation as the tools around chessdb.cn write that site's (formats/evals/cdb.h). */
CHI_MUSTUSE int export_cdb(FILE *file, const struct chi_key *key, const struct chi_record *record);
