/* SPDX-License-Identifier: MIT */
/*
 * The moves of a game as bytes, nearly always one a move, made to be compressed: the better a move
 * fits what players do, the smaller its number, so that few different bytes are most of them.
 * After zstd (level 1) over some 45 games a move takes 0.62 bytes.
 *
 * A move's number is how many candidates come before it in a fixed order. Candidates are the moves
 * of the pieces without regard to the own king's safety; they are counted as sets of squares, not
 * listed. What is read is always one of them, so that a damaged file leads to odd games, but to no
 * position without sense.
 *
 * The order, in nine classes, is in store/FORMAT.md, "Moves of a game".
 *
 * Example: 1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 is
 *   01 03 08 06 01 00 00 07 05.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

/* The most bytes of a move: no position has 4 * 255 candidates. */
#define CHI_MOVECODE_MAX 4

/*
 * Writes one move. `last` is the target square of the move before (as the move names it: of
 * castling the rook's), CHI_NO_SQUARE at the start. Returns the length, 0 if the move is no
 * candidate: every legal move is one.
 */
size_t chi_movecode_write(const struct chi_position *position, int last, chi_move move,
			  uint8_t out[CHI_MOVECODE_MAX]);

/*
 * Encodes the moves played from `start`, each of which must be legal, into `out`, which has room
 * for n * CHI_MOVECODE_MAX bytes. -CHI_EMOVE if one is not.
 */
CHI_MUSTUSE int chi_movecode_encode(const struct chi_position *start, const chi_move *moves,
				    size_t n, uint8_t *out, size_t *len);

/* The same of a game that was played: `positions` are those before each of the moves. */
CHI_MUSTUSE int chi_movecode_encode_played(const struct chi_position *positions,
					   const chi_move *moves, size_t n, uint8_t *out,
					   size_t *len);

/* Plays a game from its bytes. On the stack, without pointers of its own but to the bytes. */
struct chi_replay {
	struct chi_position positions[2];
	unsigned now; /* index of the position reached */
	int last;
	const uint8_t *at;
	const uint8_t *end;
};

/* The bytes must stay until the last call of chi_replay_next. */
void chi_replay_init(struct chi_replay *replay, const struct chi_position *start,
		     const uint8_t *bytes, size_t len);

/* Where the game has come to. Valid until the call after the next of chi_replay_next. */
static inline const struct chi_position *chi_replay_position(const struct chi_replay *replay)
{
	return &replay->positions[replay->now];
}

/*
 * The next move, played. CHI_NONE at the end of the bytes, -CHI_ECORRUPT where they name no
 * move. A move of damaged bytes may leave the own king attacked, nothing worse.
 */
CHI_MUSTUSE int chi_replay_next(struct chi_replay *replay, chi_move *move);

/* Reads exactly `n` moves. -CHI_ECORRUPT if the bytes name more, fewer, or none at some place. */
CHI_MUSTUSE int chi_movecode_decode(const struct chi_position *start, const uint8_t *bytes,
				    size_t len, chi_move *moves, size_t n);
