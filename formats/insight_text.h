/* SPDX-License-Identifier: MIT */
/* What a finding is in words: its position, and the moves that lead there in one of its games. */
#pragma once

#include "chess/notation.h"
#include "chistore/games.h"
#include "chistore/insight.h"

#define CHI_INSIGHT_LINE_SIZE 1024

struct chi_insight_text {
	char fen[CHI_FEN_SIZE];
	char after[CHI_FEN_SIZE];	  /* NOVELTIES: the position after the move; else `fen` */
	char line[CHI_INSIGHT_LINE_SIZE]; /* "1.e4 c5 2.Nf3", to the position; "": not known */
	char move[CHI_SAN_SIZE];	  /* NOVELTIES; else "" */
};

/* `game`: that of the row, NULL if it has gone. -CHI_EKEY, -CHI_EMOVE: there is no such position or
 * move. */
CHI_MUSTUSE int chi_insight_tell(const struct chi_insight_row *row, const struct chi_game *game,
				 struct chi_insight_text *out);
