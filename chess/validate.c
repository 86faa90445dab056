/* SPDX-License-Identifier: MIT */
/*
 * What a board must fulfil to be stored or searched: no more than a key can hold, and no less than
 * the move generator relies on. Positions that no game reaches are welcome otherwise.
 */
#include "chess/validate.h"

#include "base/fault.h"
#include "chess/bitboard.h"

static const char *const colour_names[2] = {"white", "black"};

static int check_pieces(const struct chi_position *position, int status, struct chi_fault *fault)
{
	int n = chi_popcount(chi_position_occupied(position));
	if (n == 0) {
		return chi_fail(fault, status, "the board is empty");
	}
	if (n > 32) {
		return chi_fail(fault, status, "%d pieces, at most 32 can be stored", n);
	}
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		int kings = chi_popcount(chi_position_pieces(position, colour, CHI_KING));
		if (kings > 1) {
			return chi_fail(fault, status, "%d %s kings", kings, colour_names[colour]);
		}
	}
	if ((position->kind[CHI_PAWN] & (CHI_RANK_1 | CHI_RANK_8)) != 0) {
		return chi_fail(fault, status, "a pawn on the first or last rank");
	}
	if (position->side == CHI_BLACK &&
	    chi_position_pieces(position, CHI_BLACK, CHI_KING) == 0) {
		return chi_fail(fault, status, "black to move without a black king");
	}
	return CHI_OK;
}

static int check_castling(const struct chi_position *position, int colour, int status,
			  struct chi_fault *fault)
{
	uint64_t rooks = position->castle & position->colour[colour];
	uint64_t king = chi_position_pieces(position, colour, CHI_KING);
	uint64_t back_rank = colour == CHI_WHITE ? CHI_RANK_1 : CHI_RANK_8;
	if (rooks == 0) {
		return CHI_OK;
	}
	if ((rooks & ~(back_rank & position->kind[CHI_ROOK])) != 0 || (king & back_rank) == 0) {
		return chi_fail(fault, status,
				"a %s rook that may castle, but not with its king "
				"on the back rank",
				colour_names[colour]);
	}
	/* Below the king's bit are the files to its left. */
	if (chi_popcount(rooks & (king - 1)) > 1 || chi_popcount(rooks & ~(king - 1)) > 1) {
		return chi_fail(fault, status,
				"two %s rooks that may castle on one side of the king",
				colour_names[colour]);
	}
	return CHI_OK;
}

int chi_position_check(const struct chi_position *position, int status, struct chi_fault *fault)
{
	int rc = check_pieces(position, status, fault);
	for (int colour = CHI_WHITE; rc == CHI_OK && colour <= CHI_BLACK; colour++) {
		rc = check_castling(position, colour, status, fault);
	}
	if (rc == CHI_OK && (position->castle & ~chi_position_occupied(position)) != 0) {
		rc = chi_fail(fault, status, "a castling right without a rook");
	}
	if (rc == CHI_OK && position->ep != CHI_NO_SQUARE &&
	    !chi_position_ep_legal(position, position->ep)) {
		rc = chi_fail(fault, status, "an en passant right without a legal capture");
	}
	return rc;
}
