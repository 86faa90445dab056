/* SPDX-License-Identifier: MIT */
/*
 * The moves that a text names, fast: only pieces that reach the target square are looked at, and
 * only their moves are tested for legality. For the PGN reader and for chess/notation.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chess/position.h"
#include "chistore/types.h"

/* True if the own king is not attacked once the piece of that kind on `from` has gone to `to`; not
 * for en passant and castling. */
bool chi_san_is_safe(const struct chi_position *position, int from, int to, int kind);

/* What became of a text; the last four are as in enum chi_pgn_end. */
enum chi_san_verdict {
	CHI_SAN_MOVE,	   /* one legal move */
	CHI_SAN_REMARK,	   /* no move and not meant as one: a mark such as "+-" or "e.p." */
	CHI_SAN_NULL,	   /* a null move */
	CHI_SAN_NOT_LEGAL, /* a move, but none that is legal */
	CHI_SAN_MANY,	   /* fits several legal moves */
	CHI_SAN_NO_MOVE,   /* no move at all */
};

/* The longest text of a move, folded to ASCII. */
#define CHI_SAN_TEXT_MAX 20

/* Legal moves that a text fits. */
#define CHI_SAN_FOUND_MAX 8
struct chi_san_found {
	size_t n;			   /* how many there are */
	chi_move moves[CHI_SAN_FOUND_MAX]; /* the first of them */
};

/*
 * Finds the legal moves that the text (plain ASCII, see chi_pgn_fold) names in `position`: SAN,
 * UCI, or both squares with or without the piece's letter; check marks, "x" and "=" may lack or
 * be there; "ed" for a pawn's capture.
 */
enum chi_san_verdict chi_san_find(const struct chi_position *position, const char *text, size_t len,
				  struct chi_san_found *out);
