/* SPDX-License-Identifier: MIT */
/* Polyglot's keys, moves and entries; the format is described in the header. */
#include "chess/polyglot/polyglot.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "chess/bitboard.h"
#include "chess/movegen.h"

_Static_assert(sizeof(struct chi_polyglot_entry) == CHI_POLYGLOT_ENTRY,
	       "an entry has no padding: its fields are where the file has them");

/* Where the parts begin in chi_polyglot_random. */
#define CASTLING   768
#define EN_PASSANT 772
#define TURN	   780

/* Black's kind comes before White's. */
static uint64_t pieces_key(const struct chi_position *position)
{
	uint64_t key = 0;
	for (int kind = CHI_PAWN; kind < CHI_KINDS; kind++) {
		for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
			uint64_t set = chi_position_pieces(position, colour, kind);
			size_t row = (size_t)(2 * kind + (colour == CHI_WHITE ? 1 : 0));
			while (set != 0) {
				key ^= chi_polyglot_random[64 * row + (size_t)chi_pop(&set)];
			}
		}
	}
	return key;
}

/* A right is short if its rook is beyond the king: so it is in Chess960, too. */
static uint64_t castling_key(const struct chi_position *position)
{
	uint64_t key = 0;
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		int king = chi_position_king(position, colour);
		uint64_t rooks = position->castle & position->colour[colour];
		while (rooks != 0) {
			int is_long = chi_pop(&rooks) < king ? 1 : 0;
			key ^= chi_polyglot_random[CASTLING + 2 * colour + is_long];
		}
	}
	return key;
}

/* The pawns that may capture are those that a pawn of the other side, on the square passed, would
 * attack. Whether they may take is not asked. */
static uint64_t en_passant_key(const struct chi_position *position, int ep)
{
	if (ep == CHI_NO_SQUARE) {
		return 0;
	}
	uint64_t ready = chi_attacks.pawn[position->side ^ 1][ep];
	bool counts = (ready & chi_position_pieces(position, position->side, CHI_PAWN)) != 0;
	return counts ? chi_polyglot_random[EN_PASSANT + (ep & 7)] : 0;
}

uint64_t chi_polyglot_key(const struct chi_position *position, int ep)
{
	uint64_t turn = position->side == CHI_WHITE ? chi_polyglot_random[TURN] : 0;
	return pieces_key(position) ^ castling_key(position) ^ en_passant_key(position, ep) ^ turn;
}

int chi_polyglot_passed(const struct chi_position *position, chi_move move)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	bool pawn = (position->kind[CHI_PAWN] & chi_bit(from)) != 0;
	return pawn && abs(to - from) == 16 ? (from + to) / 2 : CHI_NO_SQUARE;
}

/* The king's two steps as king takes rook; other moves as they are. */
static chi_move castling_of(const struct chi_position *position, chi_move move)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	if (from != chi_position_king(position, position->side) || abs(to - from) != 2) {
		return move;
	}
	uint64_t rooks = position->castle & position->colour[position->side];
	while (rooks != 0) {
		int rook = chi_pop(&rooks);
		if ((rook > from) == (to > from)) {
			return chi_move_make(from, rook, 0);
		}
	}
	return move;
}

int chi_polyglot_move(const struct chi_position *position, uint16_t bits, chi_move *out)
{
	chi_move move = bits;
	if (!chi_movegen_is_legal(position, move)) {
		move = castling_of(position, move);
	}
	if (!chi_movegen_is_legal(position, move)) {
		return -CHI_EMOVE;
	}
	*out = move;
	return CHI_OK;
}

void chi_polyglot_pack(const struct chi_polyglot_entry *entry, uint8_t out[CHI_POLYGLOT_ENTRY])
{
	const struct chi_polyglot_entry big = {
		.key = htobe64(entry->key),
		.move = htobe16(entry->move),
		.weight = htobe16(entry->weight),
		.learn = htobe32(entry->learn),
	};
	memcpy(out, &big, sizeof(big));
}

void chi_polyglot_unpack(const uint8_t bytes[CHI_POLYGLOT_ENTRY], struct chi_polyglot_entry *out)
{
	struct chi_polyglot_entry big;
	memcpy(&big, bytes, sizeof(big));
	*out = (struct chi_polyglot_entry){
		.key = be64toh(big.key),
		.move = be16toh(big.move),
		.weight = be16toh(big.weight),
		.learn = be32toh(big.learn),
	};
}
