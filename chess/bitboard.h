/* SPDX-License-Identifier: MIT */
/*
 * Sets of squares and the attacks of each kind of piece. The tables are small (some 70 KiB, of
 * which a probe touches a few cache lines) and filled once, before main, by a constructor: reading
 * them needs no lock. Sliders use the subtraction trick ("o ^ (o - 2r)", on a byte-swapped
 * board for the other direction), ranks a table of 512 bytes: no big magic tables that would push
 * a program's own data out of its cache, no CPU feature needed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum chi_colour {
	CHI_WHITE = 0,
	CHI_BLACK = 1,
};

/* In the order of struct chi_material. */
enum chi_piece_kind {
	CHI_PAWN = 0,
	CHI_KNIGHT,
	CHI_BISHOP,
	CHI_ROOK,
	CHI_QUEEN,
	CHI_KING,
	CHI_KINDS, /* number of kinds; also "no piece" */
};

#define CHI_NO_SQUARE 64
#define CHI_RANK_1    UINT64_C(0x00000000000000ff)
#define CHI_RANK_8    UINT64_C(0xff00000000000000)

static inline uint64_t chi_bit(int square)
{
	return UINT64_C(1) << square;
}

struct chi_rays {
	uint64_t file; /* squares of the file but the square itself; the others alike */
	uint64_t diagonal;
	uint64_t antidiagonal;
};

struct chi_attack_tables {
	struct chi_rays rays[64];
	uint64_t rook_rays[64]; /* attacks on an empty board */
	uint64_t bishop_rays[64];
	uint64_t knight[64];
	uint64_t king[64];
	uint64_t pawn[2][64];	  /* where a pawn of that colour on that square attacks */
	uint64_t between[64][64]; /* squares strictly between two on one line, else empty */
	uint64_t line[64][64];	  /* the whole line through both, edge to edge, else empty */
	uint8_t rank[8][64];	  /* [file][the rank's inner six occupancy bits] */
};

extern struct chi_attack_tables chi_attacks;

static inline int chi_popcount(uint64_t set)
{
#ifdef __POPCNT__
	return __builtin_popcountll(set);
#else
	/* Without the instruction the built-in is a function call; this is faster. */
	set -= set >> 1 & UINT64_C(0x5555555555555555);
	set = (set & UINT64_C(0x3333333333333333)) + (set >> 2 & UINT64_C(0x3333333333333333));
	set = (set + (set >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int)(set * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/* The squares with the a-file as the h-file: the bits of each byte are reversed. */
static inline uint64_t chi_mirror_files(uint64_t set)
{
	const uint64_t ones = UINT64_C(0x5555555555555555);
	const uint64_t twos = UINT64_C(0x3333333333333333);
	const uint64_t fours = UINT64_C(0x0f0f0f0f0f0f0f0f);
	set = (set >> 1 & ones) | (set & ones) << 1;
	set = (set >> 2 & twos) | (set & twos) << 2;
	return (set >> 4 & fours) | (set & fours) << 4;
}

/* Takes the lowest square out of a set that is not empty. */
static inline int chi_pop(uint64_t *set)
{
	int square = __builtin_ctzll(*set);
	*set &= *set - 1;
	return square;
}

/* Both directions along a line that has at most one square in each rank. */
static inline uint64_t chi_line_attacks(uint64_t occupied, uint64_t line, int square)
{
	uint64_t up = occupied & line;
	uint64_t down = __builtin_bswap64(up);
	up -= chi_bit(square);
	down -= __builtin_bswap64(chi_bit(square));
	return (up ^ __builtin_bswap64(down)) & line;
}

static inline uint64_t chi_bishop_attacks(int square, uint64_t occupied)
{
	const struct chi_rays *rays = &chi_attacks.rays[square];
	return chi_line_attacks(occupied, rays->diagonal, square) |
	       chi_line_attacks(occupied, rays->antidiagonal, square);
}

static inline uint64_t chi_rook_attacks(int square, uint64_t occupied)
{
	int shift = square & 56;
	uint64_t rank = chi_attacks.rank[square & 7][occupied >> (shift + 1) & 63];
	return chi_line_attacks(occupied, chi_attacks.rays[square].file, square) | rank << shift;
}

static inline uint64_t chi_queen_attacks(int square, uint64_t occupied)
{
	return chi_bishop_attacks(square, occupied) | chi_rook_attacks(square, occupied);
}

/* How far squares are moved: to the right and up, or back if below 0. */
struct chi_shift {
	int files;
	int ranks;
};

/* Moves squares; those of all files are not moved to the side, those of all ranks not up or down.
 * False: some would leave the board. */
bool chi_squares_shift(uint64_t *squares, struct chi_shift shift);

/* Squares that a piece attacks or defends, sliders up to the first piece in `occupied`. */
uint64_t chi_piece_attacks(int colour, int kind, int square, uint64_t occupied);
