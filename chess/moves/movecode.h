/* SPDX-License-Identifier: MIT */
/*
 * The moves of a game as bytes, nearly always one a move, made to be compressed: the better a move
 * fits what players do, the smaller its number, so that few different bytes are most of them.
 * After zstd (level 1) over some 45 games a move takes 0.62 bytes.
 *
 * A move's number is how many candidates come before it in a fixed order. Candidates are the moves
 * of the pieces without regard to the own king's safety; they are counted as sets of squares, not
 * listed. What is read is always one of them, so that a damaged file leads to odd games, but to no
 * position without sense. A number below 255 is one byte; otherwise there are number / 255 bytes of
 * 255, and a byte of number % 255.
 *
 * Squares are as the side to move sees them: for Black ranks are counted from the top (square ^
 * 56). "Down" is from the highest square, h8, g8 ... a1; "up" is from a1, b1 ... h8. A pawn's move
 * to the last rank is four candidates: queen, rook, bishop, knight. A king is never captured. The
 * order:
 *
 *   1. If an enemy (no king) is on the square that the last move named as its target: captures
 *      on it, by origin, down. All classes after this one are without them.
 *   2. Castling as king takes rook, with a rook that may: where all squares that king and rook
 *      pass and come to are empty but for these two. By the rook's square, down (as White sees it).
 *   3. Pawns' captures, en passant if the position has it: those towards the a-file by target,
 *      down; those towards the h-file; then promotions by a step. No pawn's move is in class 1 and
 *      here.
 *   4. Steps of pawns, one or two squares, to usual targets: by target, down.
 *   5. Knights (origin, up), then the king: each to its usual targets, down.
 *   6. Other steps of pawns: by target, down.
 *   7. Knights and the king as in 5, to their other targets.
 *   8. Bishops, rooks, queens, those of one kind by origin, up: each to its usual targets, down.
 *   9. The same, to their other targets.
 *
 * Usual are, for pawns, the squares of the table below; for pieces those of the table and
 * captures, unless an enemy pawn attacks the square. Bit 0 is a1, bit 63 is h8:
 *
 *   pawn ffffffff3c5c0000   knight 2034febe7e7e7c20   bishop 00007e7ebf7fff10
 *   rook ffffffff6e60481c   queen  9c26f078bc706400   king   fffffffffffff752
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

/* Where the game stands. Valid until the call after the next of chi_replay_next. */
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
