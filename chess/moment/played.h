/* SPDX-License-Identifier: MIT */
/*
 * Conditions on a move, `played` in filters: one or more of these with '|' between them,
 *
 *    [PIECE] [SQUARE] ['-' | 'x' [PIECE]] [SQUARE] ['=' PIECE] ['+' | '#']
 *
 *    N-d5  Nd5      a white knight goes to d5, taking or not
 *    Ng1-f3  g1-f3  from g1 to f3
 *    Bxph7+         a white bishop takes a black pawn on h7 and gives check
 *    kxh7  Rxq      the black king takes on h7; a rook takes a queen anywhere
 *    P-*8=[NBR]     a white pawn goes to the eighth rank and becomes one of these
 *    ?-**#          any move that mates
 *
 * or a word: any, captures, quiet (neither taking nor promoting), promotes, ep, castles, O-O and
 * O-O-O of White, o-o and o-o-o of Black. PIECE and SQUARE are contents and squares as
 * chess/pattern/contents.h reads them; one SQUARE without a sign before it is where the move goes.
 * Without '+' or '#' a move may give check, with '+' it may mate; without '=' it may promote.
 * Castling is a move of the king from where it stands to where it gets, and nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/moment/moment.h"

#define CHI_PLAYED_MAX 16 /* with '|' between them */

enum chi_played_how {
	CHI_PLAYED_ANY = 0,
	CHI_PLAYED_CASTLES,
	CHI_PLAYED_KINGSIDE,
	CHI_PLAYED_QUEENSIDE,
	CHI_PLAYED_EN_PASSANT,
};

enum chi_played_effect {
	CHI_PLAYED_ANY_EFFECT = 0,
	CHI_PLAYED_CHECKS,
	CHI_PLAYED_MATES,
};

#define CHI_PLAYED_NO_PROMOTION 1 /* in `made` */

/* One move as asked for. Sets of contents.h. */
struct chi_played_move {
	uint64_t from;
	uint64_t to;
	uint32_t piece;
	uint32_t taken; /* with SET_EMPTY: or nothing */
	uint8_t made;	/* bits of kinds that it may become, and whether it may become none */
	uint8_t how;	/* enum chi_played_how */
	uint8_t effect; /* enum chi_played_effect */
};

struct chi_played_moves {
	size_t n;
	struct chi_played_move move[CHI_PLAYED_MAX];
};

/* -CHI_ESYNTAX, naming the character (the first is 1) and what may be there; -CHI_ETOOBIG. */
CHI_MUSTUSE int chi_played_parse(const char *text, struct chi_played_moves *out,
				 struct chi_fault *fault);

/* Moves the squares. CHI_NONE: some leave the board. */
CHI_MUSTUSE int chi_played_shift(struct chi_played_moves *moves, struct chi_shift shift);

/* Whether the moment's move, turned as the view is, is one of them; none: it is not. Castling is
 * turned to the other wing by a mirror. */
bool chi_played_fits(const struct chi_played_moves *moves, const struct chi_moment_view *view);
