/* SPDX-License-Identifier: MIT */
/*
 * What the evaluation looks at, each with two weights: in the middlegame and in the endgame. The
 * evaluation is the sum of count times weight, so that weights.h can be fitted to the results of
 * games (uci/tune.c).
 */
#pragma once

#include <stdint.h>

enum chi_eval_term {
	CHI_TERM_PIECE = 0,		      /* of each kind but the king */
	CHI_TERM_SQUARE = CHI_TERM_PIECE + 5, /* 6 kinds, 8 ranks, 4 files from the edge */
	CHI_TERM_KNIGHT_MOVES = CHI_TERM_SQUARE + 6 * 32, /* by the number of safe squares */
	CHI_TERM_BISHOP_MOVES = CHI_TERM_KNIGHT_MOVES + 9,
	CHI_TERM_ROOK_MOVES = CHI_TERM_BISHOP_MOVES + 14,
	CHI_TERM_QUEEN_MOVES = CHI_TERM_ROOK_MOVES + 15,
	CHI_TERM_PASSED = CHI_TERM_QUEEN_MOVES + 28,	/* by rank, as White sees it */
	CHI_TERM_PASSED_FREE = CHI_TERM_PASSED + 8,	/* with an empty square before it */
	CHI_TERM_PASSED_OWN = CHI_TERM_PASSED_FREE + 8, /* times the distance of the own king, */
	CHI_TERM_PASSED_ENEMY,				/* of the enemy king; from rank 5 on */
	CHI_TERM_PHALANX,				/* pawns side by side, by rank */
	CHI_TERM_CHAIN = CHI_TERM_PHALANX + 8,		/* pawns that a pawn protects, by rank */
	CHI_TERM_ISOLATED = CHI_TERM_CHAIN + 8,
	CHI_TERM_DOUBLED,
	CHI_TERM_BACKWARD,
	CHI_TERM_BISHOP_PAIR,
	CHI_TERM_ROOK_OPEN,
	CHI_TERM_ROOK_HALF_OPEN,
	CHI_TERM_OUTPOST, /* a knight that a pawn protects and none can drive away */
	CHI_TERM_SHELTER, /* pawns one and two steps before the king */
	CHI_TERM_SHELTER_FAR,
	CHI_TERM_KING_OPEN,   /* files at the king without an own pawn */
	CHI_TERM_KING_DANGER, /* by the weight of attacks on the squares around it */
	CHI_TERM_PAWN_THREAT = CHI_TERM_KING_DANGER + 16, /* pieces that a pawn attacks */
	CHI_TERM_MINOR_THREAT,				  /* rooks and queens that a minor does */
	CHI_TERM_HANGING,				  /* attacked and not protected */
	CHI_TERM_TEMPO,
	CHI_TERMS
};

struct chi_weight {
	int16_t middle;
	int16_t end;
};

extern const struct chi_weight chi_weights[CHI_TERMS];
