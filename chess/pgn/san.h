/* SPDX-License-Identifier: MIT */
/*
 * Moves of game scores, fast: only pieces that reach the target square are looked at, and only
 * their moves are tested for legality. Takes more spellings than chess/notation.h, which asks all
 * legal moves; a test holds the two against each other. Internal to the PGN reader.
 */
#pragma once

#include <stddef.h>

#include "chess/pgn/game.h"

/* What became of a text; the last four are as in enum chi_pgn_end. */
enum chi_pgn_verdict {
	CHI_PGN_MOVE,	   /* one legal move */
	CHI_PGN_REMARK,	   /* no move and not meant as one: a mark such as "+-" or "e.p." */
	CHI_PGN_NULL,	   /* a null move */
	CHI_PGN_NOT_LEGAL, /* a move, but none that is legal */
	CHI_PGN_MANY,	   /* fits several legal moves */
	CHI_PGN_NO_MOVE,   /* no move at all */
};

/* The longest text of a move, folded to ASCII. */
#define CHI_PGN_MOVE_TEXT_MAX 20

/* Legal moves that a text fits. */
#define CHI_PGN_FOUND_MAX 8
struct chi_pgn_found {
	size_t n;			   /* how many there are */
	chi_move moves[CHI_PGN_FOUND_MAX]; /* the first of them */
};

/*
 * Finds the legal moves that the text (plain ASCII, see chi_pgn_fold) names in `position`: SAN,
 * UCI, or both squares with or without the piece's letter; check marks, "x" and "=" may lack or
 * be there; "ed" for a pawn's capture.
 */
enum chi_pgn_verdict chi_pgn_san(const struct chi_position *position, const char *text, size_t len,
				 struct chi_pgn_found *out);
