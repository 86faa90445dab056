/* SPDX-License-Identifier: MIT */
/*
 * A chess position as sets of squares (bit 0 = a1, bit 7 = h1, bit 63 = h8). 80 bytes without
 * pointers: lives on the stack, is copied freely, and playing a move makes a new one from the old.
 *
 * Every position that leaves chi_fen_parse, chi_key_decode or chi_position_play is normalised
 * (chess/validate.h lists what that means). There may be no king of either colour, and the side
 * not to move may be in check.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chess/bitboard.h"
#include "chistore/types.h"

struct chi_position {
	uint64_t kind[CHI_KINDS]; /* disjoint; their union is the occupied squares */
	uint64_t colour[2];	  /* disjoint, same union */
	uint64_t castle;	  /* rooks that may castle, of both colours */
	uint8_t side;		  /* to move: CHI_WHITE or CHI_BLACK */
	uint8_t ep;		  /* square an en passant capture goes to, or CHI_NO_SQUARE */
};

/* Where chess begins. */
extern const struct chi_position chi_position_initial;

#define CHI_KIND_LETTERS "PNBRQK" /* by enum chi_piece_kind */

/* The kind that a capital letter names, or CHI_KINDS. */
static inline uint8_t chi_kind_of(char letter)
{
	switch (letter) {
	case 'P':
		return CHI_PAWN;
	case 'N':
		return CHI_KNIGHT;
	case 'B':
		return CHI_BISHOP;
	case 'R':
		return CHI_ROOK;
	case 'Q':
		return CHI_QUEEN;
	case 'K':
		return CHI_KING;
	default:
		return CHI_KINDS;
	}
}

static inline int chi_move_from(chi_move move)
{
	return move >> 6 & 63;
}

static inline int chi_move_to(chi_move move)
{
	return move & 63;
}

/* CHI_KNIGHT..CHI_QUEEN; 0 (CHI_PAWN) for none. Above CHI_QUEEN in a move that is not legal. */
static inline int chi_move_promotion(chi_move move)
{
	return move >> 12;
}

static inline chi_move chi_move_make(int from, int to, int promotion)
{
	return (chi_move)(promotion << 12 | from << 6 | to);
}

static inline uint64_t chi_position_occupied(const struct chi_position *position)
{
	return position->colour[CHI_WHITE] | position->colour[CHI_BLACK];
}

static inline uint64_t chi_position_pieces(const struct chi_position *position, int colour,
					   int kind)
{
	return position->colour[colour] & position->kind[kind];
}

/* The king's square, or CHI_NO_SQUARE. */
static inline int chi_position_king(const struct chi_position *position, int colour)
{
	uint64_t king = chi_position_pieces(position, colour, CHI_KING);
	return king != 0 ? __builtin_ctzll(king) : CHI_NO_SQUARE;
}

/* What is on `square` (0..63): an enum chi_piece_kind, CHI_KINDS if it is empty. */
int chi_position_kind(const struct chi_position *position, int square);

/* Pieces of `colour` that attack `square` when the squares in `occupied` block. */
static inline uint64_t chi_attackers(const struct chi_position *position, int square, int colour,
				     uint64_t occupied)
{
	const uint64_t *kind = position->kind;
	uint64_t attackers = (chi_attacks.pawn[colour ^ 1][square] & kind[CHI_PAWN]) |
			     (chi_attacks.knight[square] & kind[CHI_KNIGHT]) |
			     (chi_attacks.king[square] & kind[CHI_KING]);
	uint64_t straight = kind[CHI_ROOK] | kind[CHI_QUEEN];
	uint64_t slanted = kind[CHI_BISHOP] | kind[CHI_QUEEN];
	/* Most squares are on no line with an enemy slider: look before computing. */
	if ((chi_attacks.rook_rays[square] & straight & position->colour[colour]) != 0) {
		attackers |= chi_rook_attacks(square, occupied) & straight;
	}
	if ((chi_attacks.bishop_rays[square] & slanted & position->colour[colour]) != 0) {
		attackers |= chi_bishop_attacks(square, occupied) & slanted;
	}
	return attackers & position->colour[colour];
}

/* No piece, White to move. Not a position yet: pieces are added by chi_position_put. */
void chi_position_clear(struct chi_position *position);

/* Sets a piece on an empty square. */
void chi_position_put(struct chi_position *position, int colour, int kind, int square);

/* True if no moves whatever, however bad, can mate either side with what is left: kings alone, one
 * minor piece, or bishops that are all on squares of one colour. */
bool chi_position_insufficient(const struct chi_position *position);

/* True if `colour` has a king and it is attacked. */
bool chi_position_in_check(const struct chi_position *position, int colour);

/*
 * True if the side to move has a legal en passant capture to `square`: an enemy pawn that can
 * have come past it by a double step, and a pawn beside it that may take without leaving its
 * king attacked. `position->ep` is not looked at.
 */
bool chi_position_ep_legal(const struct chi_position *position, int square);

/* The second half of it: a pawn on `from` may take en passant on `to`, its king stays safe. */
bool chi_position_ep_safe(const struct chi_position *position, int from, int to);

/* True if `move` is written as king takes own rook. */
static inline bool chi_position_is_castling(const struct chi_position *position, chi_move move)
{
	return (position->kind[CHI_KING] & chi_bit(chi_move_from(move))) != 0 &&
	       (position->colour[position->side] & position->kind[CHI_ROOK] &
		chi_bit(chi_move_to(move))) != 0;
}

/* Where king and rook stand after castling with the rook on `rook`: g- and f-file or c- and
 * d-file, on the rook's rank. */
static inline int chi_castling_king_to(int king, int rook)
{
	return (rook & 56) | (rook > king ? 6 : 2);
}

static inline int chi_castling_rook_to(int king, int rook)
{
	return (rook & 56) | (rook > king ? 5 : 3);
}

/* The position after a legal move, normalised. `next` must not be `position`. */
void chi_position_play(const struct chi_position *position, chi_move move,
		       struct chi_position *next);
