/* SPDX-License-Identifier: MIT */
/*
 * Evaluations that programs leave in comments:
 *
 *     [%eval 0.24,18]  [%eval #-3]       lichess: after the move, White's view; the depth if known
 *     +0.31/18 1.2s    -M6/20 0.5s       cutechess, fastchess, CCC: before the move, its player's
 *     d=31, n=1234, pv=e4 e5, wv=0.21    TCEC: before the move, White's view (ev: its player's)
 *
 * cutechess and TCEC, which is made with it, write a mate in plies: M5 is mate in 3, -M6 being
 * mated in 3. lichess writes it in moves.
 */
#pragma once

#include <stddef.h>

#include "chess/pgn/game.h"
#include "chistore/types.h"

struct chi_pgn_eval {
	struct chi_eval eval; /* engine and pv are the two below */
	size_t ply;	      /* of the game's position that is evaluated */
	char engine[CHI_ENGINE_MAX];
	chi_move pv[CHI_PV_MAX];
};

/*
 * Reads the evaluation in a comment of the game: CHI_OK, or CHI_NONE without one, or with one out
 * of a record's limits. What is read is valid in a record. The engine is the move's player, for
 * [%eval] "lichess" if the Site or Annotator tag names that site, else the annotator; "?" if the
 * tag is not there. The principal variation begins with the evaluated position's move, whether the
 * comment gives it or begins with the answer; it ends before a move that is not legal. The date is
 * the game's, if its day is known.
 */
CHI_MUSTUSE int chi_pgn_eval_read(const struct chi_pgn_game *game,
				  const struct chi_pgn_comment *comment, struct chi_pgn_eval *out);
