/* SPDX-License-Identifier: MIT */
/* Putting pieces, asking about the king, and playing a move from one position into the next. */
#include "chess/position.h"

const struct chi_position chi_position_initial = {
	.kind = {[CHI_PAWN] = UINT64_C(0x00ff00000000ff00),
		 [CHI_KNIGHT] = UINT64_C(0x4200000000000042),
		 [CHI_BISHOP] = UINT64_C(0x2400000000000024),
		 [CHI_ROOK] = UINT64_C(0x8100000000000081),
		 [CHI_QUEEN] = UINT64_C(0x0800000000000008),
		 [CHI_KING] = UINT64_C(0x1000000000000010)},
	.colour = {[CHI_WHITE] = UINT64_C(0x000000000000ffff),
		   [CHI_BLACK] = UINT64_C(0xffff000000000000)},
	.castle = UINT64_C(0x8100000000000081),
	.side = CHI_WHITE,
	.ep = CHI_NO_SQUARE,
};

/* Without a branch: the kind's number bit by bit, 6 where there is none. */
int chi_position_kind(const struct chi_position *position, int square)
{
	_Static_assert(CHI_KNIGHT == 1 && CHI_BISHOP == 2 && CHI_ROOK == 3 && CHI_QUEEN == 4 &&
			       CHI_KING == 5 && CHI_KINDS == 6,
		       "the bits below");
	const uint64_t *kind = position->kind;
	uint64_t empty = ~chi_position_occupied(position);
	uint64_t ones = kind[CHI_KNIGHT] | kind[CHI_ROOK] | kind[CHI_KING];
	uint64_t twos = kind[CHI_BISHOP] | kind[CHI_ROOK] | empty;
	uint64_t fours = kind[CHI_QUEEN] | kind[CHI_KING] | empty;
	return (int)((ones >> square & 1) | (twos >> square & 1) << 1 | (fours >> square & 1) << 2);
}

void chi_position_clear(struct chi_position *position)
{
	*position = (struct chi_position){.side = CHI_WHITE, .ep = CHI_NO_SQUARE};
}

void chi_position_put(struct chi_position *position, int colour, int kind, int square)
{
	position->kind[kind] |= chi_bit(square);
	position->colour[colour] |= chi_bit(square);
}

bool chi_position_in_check(const struct chi_position *position, int colour)
{
	int king = chi_position_king(position, colour);
	return king != CHI_NO_SQUARE &&
	       chi_attackers(position, king, colour ^ 1, chi_position_occupied(position)) != 0;
}

bool chi_position_ep_safe(const struct chi_position *position, int from, int to)
{
	int us = position->side;
	int king = chi_position_king(position, us);
	if (king == CHI_NO_SQUARE) {
		return true;
	}
	/* The captured pawn is behind the target square, one rank nearer to its enemy. */
	uint64_t captured = chi_bit(to ^ 8);
	uint64_t occupied =
		(chi_position_occupied(position) ^ chi_bit(from) ^ captured) | chi_bit(to);
	return (chi_attackers(position, king, us ^ 1, occupied) & ~captured) == 0;
}

bool chi_position_ep_legal(const struct chi_position *position, int square)
{
	int us = position->side;
	int them = us ^ 1;
	if (square >> 3 != (us == CHI_WHITE ? 5 : 2)) {
		return false;
	}
	/* The pawn came from beyond the target square, over it: both must be empty. */
	int origin = us == CHI_WHITE ? square + 8 : square - 8;
	uint64_t passed = chi_bit(square) | chi_bit(origin);
	if ((chi_position_occupied(position) & passed) != 0 ||
	    (chi_position_pieces(position, them, CHI_PAWN) & chi_bit(square ^ 8)) == 0) {
		return false;
	}
	uint64_t capturers =
		chi_attacks.pawn[them][square] & chi_position_pieces(position, us, CHI_PAWN);
	while (capturers != 0) {
		if (chi_position_ep_safe(position, chi_pop(&capturers), square)) {
			return true;
		}
	}
	return false;
}

static void play_castling(struct chi_position *next, int us, int king, int rook)
{
	uint64_t king_to = chi_bit(chi_castling_king_to(king, rook));
	uint64_t rook_to = chi_bit(chi_castling_rook_to(king, rook));
	/* In Chess960 the target squares may be the ones just left: take both off first. */
	next->kind[CHI_KING] = (next->kind[CHI_KING] & ~chi_bit(king)) | king_to;
	next->kind[CHI_ROOK] = (next->kind[CHI_ROOK] & ~chi_bit(rook)) | rook_to;
	next->colour[us] =
		(next->colour[us] & ~(chi_bit(king) | chi_bit(rook))) | king_to | rook_to;
	next->castle &= ~(us == CHI_WHITE ? CHI_RANK_1 : CHI_RANK_8);
}

static void capture(struct chi_position *next, int them, uint64_t square)
{
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		next->kind[kind] &= ~square;
	}
	next->colour[them] &= ~square;
}

static void play_pawn(struct chi_position *next, int us, int from, int to, int old_ep)
{
	if (to == old_ep) {
		capture(next, us ^ 1, chi_bit(to ^ 8));
	} else if ((from ^ to) == 16) {
		/* The right is kept only if it can be used: positions that differ in nothing
		 * but a useless right are one. */
		int passed = (from + to) / 2;
		uint64_t beside =
			chi_attacks.pawn[us][passed] & chi_position_pieces(next, us ^ 1, CHI_PAWN);
		if (beside != 0 && chi_position_ep_legal(next, passed)) {
			next->ep = (uint8_t)passed;
		}
	}
}

void chi_position_play(const struct chi_position *position, chi_move move,
		       struct chi_position *next)
{
	int us = position->side;
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	uint64_t both = chi_bit(from) | chi_bit(to);
	*next = *position;
	next->side = (uint8_t)(us ^ 1);
	next->ep = CHI_NO_SQUARE;
	if ((position->colour[us] & chi_bit(to)) != 0) {
		play_castling(next, us, from, to);
		return;
	}
	/* Without a branch: which kind moves, and whether it captures, no processor can guess. */
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		uint64_t moves = position->kind[kind] >> from & 1;
		next->kind[kind] = (position->kind[kind] & ~both) | moves << to;
	}
	next->colour[us] ^= both;
	next->colour[us ^ 1] &= ~chi_bit(to);
	next->castle &= ~both;
	if ((position->kind[CHI_PAWN] & chi_bit(from)) != 0) {
		int promotion = chi_move_promotion(move); /* 0 is CHI_PAWN itself */
		next->kind[CHI_PAWN] &= ~chi_bit(to);
		next->kind[promotion] |= chi_bit(to);
		play_pawn(next, us, from, to, position->ep);
	} else if ((position->kind[CHI_KING] & chi_bit(from)) != 0) {
		next->castle &= ~next->colour[us];
	}
}

bool chi_position_insufficient(const struct chi_position *position)
{
	const uint64_t light = UINT64_C(0x55aa55aa55aa55aa);
	const uint64_t *kind = position->kind;
	uint64_t bishops = kind[CHI_BISHOP];
	if ((kind[CHI_PAWN] | kind[CHI_ROOK] | kind[CHI_QUEEN]) != 0) {
		return false;
	}
	if (kind[CHI_KNIGHT] != 0) {
		return chi_popcount(kind[CHI_KNIGHT] | bishops) == 1;
	}
	return (bishops & light) == 0 || (bishops & ~light) == 0;
}
