/* SPDX-License-Identifier: MIT */
/* What the encoder and the decoder of records share: the head byte and the small rules. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"

/*
 * Head byte of a record:
 *
 *    7        6        5       4  3     2  1      0
 *   +--------+--------+-------+--------+--------+-------+
 *   |sections| plies  | moves | result | counts | chi2  |
 *   +--------+--------+-------+--------+--------+-------+
 *
 * counts: 0 none, 1 one game whose result is in bits 3-4, 2 in full, 3 as 1 with the game's number.
 * With counts in full the bits of the result say where the list of games is, if there is one.
 */
#define HEAD_CHI2     0x01
#define HEAD_COUNTS   0x06
#define HEAD_RESULT   0x18
#define HEAD_MOVES    0x20
#define HEAD_PLIES    0x40
#define HEAD_SECTIONS 0x80

#define COUNTS_NONE	0
#define COUNTS_ONE	1
#define COUNTS_FULL	2
#define COUNTS_NUMBERED 3

/* In the place of the result. */
#define HEAD_LIST_HERE	0x08 /* the list follows the moves */
#define HEAD_LIST_APART 0x10 /* it is in the postings tree: its size follows the moves */

/* One game, with its number or without. */
static inline bool head_is_one(uint8_t head)
{
	return (head >> 1 & COUNTS_ONE) != 0;
}

/* Only counts in full leave the bits of the result to the list. */
static inline bool head_has_list(uint8_t head)
{
	return !head_is_one(head) && (head & HEAD_RESULT) != 0;
}

/* In the number before the plies: one ply, in the bits above, for all games. */
#define PLIES_ALL 1

enum section {
	SECTION_LINE = 1,
	SECTION_EVALS = 2,
	SECTION_NOTE = 3,
	SECTION_UNKNOWN, /* this and all above: later versions */
};

/* Flags of an evaluation. */
#define EVAL_MATE     0x01
#define EVAL_NEGATIVE 0x02
#define EVAL_NODES    0x04
#define EVAL_DATE     0x08
#define EVAL_PV	      0x10
#define EVAL_RANK     0x20
#define EVAL_FLAGS    0x3f

/* True if the moves are one move, played by the one game that `counts` holds: the short form. */
static inline bool is_single(const struct chi_counts *counts, const struct chi_move_stat *moves,
			     size_t n_moves)
{
	return n_moves == 1 && chi_counts_equal(counts, &moves[0].counts);
}
