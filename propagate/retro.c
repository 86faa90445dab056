/* SPDX-License-Identifier: MIT */
/*
 * Candidates are made generously: a piece goes back, something captured may appear where it was,
 * rights may have been lost. Each candidate is then checked forward, by the rules themselves: it
 * must be a position, the move legal, and lead to where it came from.
 */
#include "propagate/retro.h"

#include <string.h>

#include "chess/bitboard.h"
#include "chess/movegen.h"
#include "chess/validate.h"

struct retro {
	const struct chi_position *after;
	int mover; /* who made the move */
	chi_retro_each *each;
	void *context;
};

static bool leads_back(const struct retro *retro, const struct chi_position *before, chi_move move)
{
	struct chi_position next;
	if (chi_position_check(before, -CHI_EKEY, NULL) != CHI_OK ||
	    !chi_movegen_is_legal(before, move)) {
		return false;
	}
	chi_position_play(before, move, &next);
	const struct chi_position *after = retro->after;
	return memcmp(next.kind, after->kind, sizeof(next.kind)) == 0 &&
	       memcmp(next.colour, after->colour, sizeof(next.colour)) == 0 &&
	       next.castle == after->castle && next.side == after->side && next.ep == after->ep;
}

static int offer(const struct retro *retro, const struct chi_position *before, chi_move move)
{
	return leads_back(retro, before, move) ? retro->each(retro->context, before, move) : CHI_OK;
}

/* The opponent's pawn may have passed a square just before, wherever it can be taken for it. */
static int with_ep(const struct retro *retro, struct chi_position *before, chi_move move)
{
	uint64_t rank = retro->mover == CHI_WHITE ? CHI_RANK_1 << 32 : CHI_RANK_1 << 24;
	uint64_t passed = chi_position_pieces(before, retro->mover ^ 1, CHI_PAWN) & rank;
	before->ep = CHI_NO_SQUARE;
	int rc = offer(retro, before, move);
	while (passed != 0 && rc == CHI_OK) {
		before->ep = (uint8_t)(chi_pop(&passed) ^ 8);
		rc = offer(retro, before, move);
	}
	before->ep = CHI_NO_SQUARE;
	return rc;
}

/* With every choice of these rooks as rights that the move lost. */
static int with_rights(const struct retro *retro, struct chi_position *before, chi_move move,
		       uint64_t rooks)
{
	uint64_t kept = before->castle;
	uint64_t lost = 0;
	int rc = CHI_OK;
	do {
		/* One on each side of two kings at most. */
		if (chi_popcount(lost) <= 3) {
			before->castle = kept | lost;
			rc = with_ep(retro, before, move);
		}
		lost = (lost - rooks) & rooks;
	} while (lost != 0 && rc == CHI_OK);
	before->castle = kept;
	return rc;
}

static uint64_t back_rank(int colour)
{
	return colour == CHI_WHITE ? CHI_RANK_1 : CHI_RANK_8;
}

/* Rooks of `colour` that may have lost a right, if the king is at home. */
static uint64_t home_rooks(const struct chi_position *before, int colour)
{
	uint64_t home = back_rank(colour);
	uint64_t king = chi_position_pieces(before, colour, CHI_KING) & home;
	return king != 0 ? chi_position_pieces(before, colour, CHI_ROOK) & home : 0;
}

/* A piece goes back, as `kind`, and `captured` (or CHI_KINDS) appears. */
static int take_back(const struct retro *retro, int kind, int from, int to, int promotion,
		     int captured)
{
	struct chi_position before = *retro->after;
	int us = retro->mover;
	for (int i = 0; i < CHI_KINDS; i++) {
		before.kind[i] &= ~chi_bit(to);
	}
	before.colour[us] &= ~chi_bit(to);
	before.side = (uint8_t)us;
	chi_position_put(&before, us, kind, from);
	uint64_t rooks = 0;
	if (captured != CHI_KINDS) {
		chi_position_put(&before, us ^ 1, captured, to);
		rooks |= home_rooks(&before, us ^ 1) & chi_bit(to);
	}
	if (kind == CHI_KING) {
		rooks |= home_rooks(&before, us);
	} else if (kind == CHI_ROOK) {
		rooks |= home_rooks(&before, us) & chi_bit(from);
	}
	return with_rights(retro, &before, chi_move_make(from, to, promotion), rooks);
}

static int take_back_capture(const struct retro *retro, int kind, int from, int to, int promotion)
{
	int rc = CHI_OK;
	for (int captured = CHI_PAWN; captured < CHI_KING && rc == CHI_OK; captured++) {
		rc = take_back(retro, kind, from, to, promotion, captured);
	}
	return rc;
}

static int take_back_piece(const struct retro *retro, int kind, int to)
{
	uint64_t occupied = chi_position_occupied(retro->after);
	uint64_t origins = chi_piece_attacks(retro->mover, kind, to, occupied) & ~occupied;
	int rc = CHI_OK;
	while (origins != 0 && rc == CHI_OK) {
		int from = chi_pop(&origins);
		rc = take_back(retro, kind, from, to, 0, CHI_KINDS);
		rc = rc == CHI_OK ? take_back_capture(retro, kind, from, to, 0) : rc;
	}
	return rc;
}

/* En passant: the pawn taken is back beside the one that took it. */
static int take_back_passing(const struct retro *retro, int from, int to)
{
	struct chi_position before = *retro->after;
	int us = retro->mover;
	if (((chi_position_occupied(&before) & chi_bit(to ^ 8)) != 0) ||
	    to >> 3 != (us == CHI_WHITE ? 5 : 2)) {
		return CHI_OK;
	}
	before.kind[CHI_PAWN] &= ~chi_bit(to);
	before.colour[us] &= ~chi_bit(to);
	before.side = (uint8_t)us;
	before.ep = (uint8_t)to;
	chi_position_put(&before, us, CHI_PAWN, from);
	chi_position_put(&before, us ^ 1, CHI_PAWN, to ^ 8);
	return offer(retro, &before, chi_move_make(from, to, 0));
}

/* A pawn, or what it became. */
static int take_back_pawn(const struct retro *retro, int to, int promotion)
{
	uint64_t occupied = chi_position_occupied(retro->after);
	int us = retro->mover;
	int step = us == CHI_WHITE ? 8 : -8;
	int rc = CHI_OK;
	if (to - step < 0 || to - step > 63) {
		return CHI_OK;
	}
	uint64_t origins = chi_attacks.pawn[us ^ 1][to] & ~occupied;
	if ((occupied & chi_bit(to - step)) == 0) {
		rc = take_back(retro, CHI_PAWN, to - step, to, promotion, CHI_KINDS);
		if (rc == CHI_OK && to >> 3 == (us == CHI_WHITE ? 3 : 4) &&
		    (occupied & chi_bit(to - 2 * step)) == 0) {
			rc = take_back(retro, CHI_PAWN, to - 2 * step, to, 0, CHI_KINDS);
		}
	}
	while (origins != 0 && rc == CHI_OK) {
		int from = chi_pop(&origins);
		rc = take_back_capture(retro, CHI_PAWN, from, to, promotion);
		if (rc == CHI_OK && promotion == 0) {
			rc = take_back_passing(retro, from, to);
		}
	}
	return rc;
}

/* King and rook go back to two squares of their rank, with that right and perhaps the other. */
static int take_back_castling_to(const struct retro *retro, int king, int rook)
{
	struct chi_position before = *retro->after;
	int us = retro->mover;
	uint64_t both = chi_bit(chi_castling_king_to(king, rook)) |
			chi_bit(chi_castling_rook_to(king, rook));
	before.kind[CHI_KING] &= ~both;
	before.kind[CHI_ROOK] &= ~both;
	before.colour[us] &= ~both;
	if ((chi_position_occupied(&before) & (chi_bit(king) | chi_bit(rook))) != 0) {
		return CHI_OK;
	}
	before.side = (uint8_t)us;
	chi_position_put(&before, us, CHI_KING, king);
	chi_position_put(&before, us, CHI_ROOK, rook);
	before.castle |= chi_bit(rook);
	return with_rights(retro, &before, chi_move_make(king, rook, 0),
			   home_rooks(&before, us) & ~chi_bit(rook));
}

static int take_back_castling(const struct retro *retro)
{
	const struct chi_position *after = retro->after;
	int home = retro->mover == CHI_WHITE ? 0 : 56;
	uint64_t kings = chi_position_pieces(after, retro->mover, CHI_KING);
	uint64_t rooks = chi_position_pieces(after, retro->mover, CHI_ROOK);
	int rc = CHI_OK;
	for (int king = home; king < home + 8 && rc == CHI_OK; king++) {
		for (int rook = home; rook < home + 8 && rc == CHI_OK; rook++) {
			if (king != rook &&
			    (kings & chi_bit(chi_castling_king_to(king, rook))) != 0 &&
			    (rooks & chi_bit(chi_castling_rook_to(king, rook))) != 0) {
				rc = take_back_castling_to(retro, king, rook);
			}
		}
	}
	return rc;
}

static int take_back_any(const struct retro *retro, int to)
{
	int kind = chi_position_kind(retro->after, to);
	if (kind == CHI_PAWN) {
		return take_back_pawn(retro, to, 0);
	}
	int rc = take_back_piece(retro, kind, to);
	bool far = to >> 3 == (retro->mover == CHI_WHITE ? 7 : 0);
	return rc == CHI_OK && far && kind != CHI_KING ? take_back_pawn(retro, to, kind) : rc;
}

int chi_retro(const struct chi_position *position, chi_retro_each *each, void *context)
{
	int mover = position->side ^ 1;
	struct retro retro = {position, mover, each, context};
	uint64_t movers = position->colour[mover];
	if (position->ep != CHI_NO_SQUARE) {
		movers &= chi_bit(position->ep ^ 8); /* that pawn made its double step */
	}
	int rc = CHI_OK;
	while (movers != 0 && rc == CHI_OK) {
		rc = take_back_any(&retro, chi_pop(&movers));
	}
	return rc == CHI_OK && position->ep == CHI_NO_SQUARE ? take_back_castling(&retro) : rc;
}
