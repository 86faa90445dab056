/* SPDX-License-Identifier: MIT */
/*
 * Keys, moves and scores as Stockfish and the engines made of it have them in memory, and some of
 * these in files.
 *
 * A key is the exclusive or of numbers for each piece on its square, for the castling rights, for
 * the file of a capture en passant and for Black to move. The numbers are those of a generator
 * (xorshift64*, seed 1070372) in its order, the same in Stockfish 15 to 17: the initial position
 * has the key 8F8F01D4562F59FB. From 14 plies after the last capture or pawn's move on another
 * number is added, one for each eight plies. Two things count that our positions do not hold: these
 * plies, and an en passant square where a pawn is ready to capture but may not.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

/* What the counter of plies may add to a key: nothing, or one of eleven numbers. */
#define CHI_SF_CLOCKS 12

struct chi_sf_keys {
	uint64_t piece[2][CHI_KINDS][64];
	uint64_t ep[8];
	uint64_t castling[16]; /* bits: White short, White long, Black short, Black long */
	uint64_t black;
	uint64_t clock[CHI_SF_CLOCKS];	   /* the first is 0 */
	uint64_t basis[CHI_SF_CLOCKS - 1]; /* of what the clocks span; the highest bit of each is
					      in no other */
};

void chi_sf_keys_init(struct chi_sf_keys *keys);

/* Without the counter of plies. `ep`: see chi_polyglot_key. */
uint64_t chi_sf_key(const struct chi_sf_keys *keys, const struct chi_position *position, int ep);

/* Keys that differ in the counter alone give the same number, all others hardly ever. */
uint64_t chi_sf_reduce(const struct chi_sf_keys *keys, uint64_t key);

/*
 * A move has 16 bits, from the lowest: where it goes, where from, the piece it promotes to less
 * two, and the kind: 1 promotion, 2 en passant, 3 castling, as king takes rook. -CHI_EMOVE: it is
 * not legal.
 */
CHI_MUSTUSE int chi_sf_move(const struct chi_position *position, uint16_t bits, chi_move *out);
uint16_t chi_sf_bits(const struct chi_position *position, chi_move move);

/*
 * A score counts 32000 less plies for a mate and 31753 less plies for a win by the endgame tables,
 * which becomes 200 pawns less plies; else it is in units of which a pawn has as many as Stockfish
 * 17 gives the material on the board, 370 to 391. CHI_NONE: it stands for no score.
 */
CHI_MUSTUSE int chi_sf_score(const struct chi_position *position, int32_t value,
			     struct chi_eval *eval);
int32_t chi_sf_value(const struct chi_position *position, const struct chi_eval *eval);

/* The points in percent that Stockfish 17 expects of a score. */
int chi_sf_percent(const struct chi_position *position, int32_t value);
