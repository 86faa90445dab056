/* SPDX-License-Identifier: MIT */
/*
 * Polyglot opening books: a file of entries of 16 bytes, big-endian, ascending by key.
 *
 *    0        8      10      12       16
 *   +--------+-------+-------+--------+
 *   | key    | move  | weight| learn  |
 *   +--------+-------+-------+--------+
 *
 * The key is a hash: a book names no position, it can only be asked for one. A move has the bits of
 * a chi_move, castling as king takes rook included. The weight says how readily the move is to be
 * played, compared with the others of its key.
 *
 * One thing our positions do not hold: Polyglot counts an en passant square in when a pawn is
 * ready to capture, even one whose capture is not legal because it would leave its king in check.
 * So the square that a pawn of two steps passed is an argument of its own; a caller with only
 * a stored position passes position->ep, and gets another key than Polyglot's in that rare case.
 */
#pragma once

#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

/* Bytes of an entry. */
#define CHI_POLYGLOT_ENTRY 16

#define CHI_POLYGLOT_RANDOMS 781

struct chi_polyglot_entry {
	uint64_t key;
	uint16_t move;
	uint16_t weight;
	uint32_t learn;
};

/*
 * Pieces: 64 for each kind, black pawn, white pawn, black knight ... white king, by square; 4 for
 * castling: white short, white long, black short, black long; 8 for the en passant file; White to
 * move.
 */
extern const uint64_t chi_polyglot_random[CHI_POLYGLOT_RANDOMS];

/* `ep`: the square passed over by the double step just played, or CHI_NO_SQUARE. It counts if a
 * pawn of the side to move is beside the pawn that passed it. */
uint64_t chi_polyglot_key(const struct chi_position *position, int ep);

/* The square that a legal move of `position` passes over if it is a double step of a pawn, else
 * CHI_NO_SQUARE: the `ep` of the position after it. */
int chi_polyglot_passed(const struct chi_position *position, chi_move move);

/* A book's move to the legal one it names; castling also as the king's two steps. -CHI_EMOVE. */
CHI_MUSTUSE int chi_polyglot_move(const struct chi_position *position, uint16_t bits,
				  chi_move *out);

void chi_polyglot_pack(const struct chi_polyglot_entry *entry, uint8_t out[CHI_POLYGLOT_ENTRY]);
void chi_polyglot_unpack(const uint8_t bytes[CHI_POLYGLOT_ENTRY], struct chi_polyglot_entry *out);
