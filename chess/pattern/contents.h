/* SPDX-License-Identifier: MIT */
/* What squares may hold, and sets of squares, as patterns and conditions of moments write them. */
#pragma once

#include <stdint.h>

#include "chess/bitboard.h"

/* What one square holds, as a bit: a piece (colour * CHI_KINDS + kind), or nothing. */
#define PIECES	   (2 * CHI_KINDS)
#define SET_EMPTY  (1u << PIECES)
#define SET_WHITE  ((1u << CHI_KINDS) - 1)
#define SET_BLACK  (SET_WHITE << CHI_KINDS)
#define SET_PIECES (SET_WHITE | SET_BLACK)
#define SET_ALL	   (SET_PIECES | SET_EMPTY)
#define SET_PAWNS  (1u << CHI_PAWN | 1u << (CHI_KINDS + CHI_PAWN))

static inline uint32_t chi_set_of(int colour, int kind)
{
	return 1u << (colour * CHI_KINDS + kind);
}

/* Each reads at *at, and goes past what it has read. NULL, or what is wrong there, static. */

/* Contents as pattern.h defines them, with '!' before them or not. Never empty. */
const char *chi_contents_read(const char **at, uint32_t *set);

/* A file and a rank: a letter, '*' or a range such as a..c; a digit, '*' or a range. As in
 * struct chi_position, never empty. */
const char *chi_squares_read(const char **at, uint64_t *squares);
