/* SPDX-License-Identifier: MIT */
/* Static exchange evaluation: the pieces that bear on a square take there, the least first. */
#include "uci/search/node.h"

#include "chess/bitboard.h"

static const int values[CHI_KINDS + 1] = {100, 320, 330, 500, 950, 20000, 0};

static uint64_t attackers_of(const struct chi_position *p, int square, uint64_t occupied)
{
	return (chi_attackers(p, square, CHI_WHITE, occupied) |
		chi_attackers(p, square, CHI_BLACK, occupied)) &
	       occupied;
}

/* The least valuable of `set`, or CHI_KINDS. */
static int least_of(const struct chi_position *p, uint64_t set, uint64_t *piece)
{
	for (int kind = CHI_PAWN; kind < CHI_KINDS; kind++) {
		uint64_t some = set & p->kind[kind];
		if (some != 0) {
			*piece = some & -some;
			return kind;
		}
	}
	return CHI_KINDS;
}

/* Captures on `to` from the other side's on; `swap` is what it wins with the first. True: the side
 * to move stays at its bound or above. */
static bool exchange(const struct chi_position *p, int to, uint64_t occupied, int swap)
{
	bool good = true;
	for (int side = p->side ^ 1;; side ^= 1) {
		uint64_t piece = 0;
		uint64_t all = attackers_of(p, to, occupied) & ~chi_bit(to);
		int kind = least_of(p, all & p->colour[side], &piece);
		if (kind == CHI_KINDS) {
			return good;
		}
		good = !good;
		if (kind == CHI_KING) {
			return (all & p->colour[side ^ 1]) != 0 ? !good : good;
		}
		swap = values[kind] - swap;
		if (swap < (good ? 1 : 0)) {
			return good;
		}
		occupied ^= piece;
	}
}

bool chi_see_at_least(const struct chi_position *p, chi_move move, int least)
{
	int to = chi_move_to(move);
	if (chi_position_is_castling(p, move) || chi_move_promotion(move) != 0) {
		return least <= 0;
	}
	bool passant = to == p->ep && (p->kind[CHI_PAWN] & chi_bit(chi_move_from(move))) != 0;
	/* What is won, beyond `least`, if nothing is taken back; then: what is lost if it is. */
	int swap = values[passant ? CHI_PAWN : chi_position_kind(p, to)] - least;
	if (swap < 0) {
		return false;
	}
	swap = values[chi_position_kind(p, chi_move_from(move))] - swap;
	uint64_t occupied = chi_position_occupied(p) ^ chi_bit(chi_move_from(move));
	occupied = (passant ? occupied ^ chi_bit(to ^ 8) : occupied) | chi_bit(to);
	return swap <= 0 || exchange(p, to, occupied, swap);
}
