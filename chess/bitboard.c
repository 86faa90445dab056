/* SPDX-License-Identifier: MIT */
/* Fills the attack tables before main, walking rays step by step: slow, simple, some 0.1 ms. */
#include "chess/bitboard.h"

struct chi_attack_tables chi_attacks;

/* The square `files` to the right and `ranks` up, or CHI_NO_SQUARE beyond the edge. */
static int step_square(int square, int files, int ranks)
{
	int file = (square & 7) + files;
	int rank = (square >> 3) + ranks;
	return file < 0 || file > 7 || rank < 0 || rank > 7 ? CHI_NO_SQUARE : rank * 8 + file;
}

static uint64_t step_set(int square, int files, int ranks)
{
	int to = step_square(square, files, ranks);
	return to == CHI_NO_SQUARE ? 0 : chi_bit(to);
}

/* Squares from `square`, exclusive, in one direction up to the edge. */
static uint64_t ray(int square, int files, int ranks)
{
	uint64_t set = 0;
	for (int to = step_square(square, files, ranks); to != CHI_NO_SQUARE;
	     to = step_square(to, files, ranks)) {
		set |= chi_bit(to);
	}
	return set;
}

static void fill_leapers(int square)
{
	static const int knight[8][2] = {{1, 2},   {2, 1},   {2, -1}, {1, -2},
					 {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
	for (int i = 0; i < 8; i++) {
		chi_attacks.knight[square] |= step_set(square, knight[i][0], knight[i][1]);
	}
	for (int files = -1; files <= 1; files++) {
		for (int ranks = -1; ranks <= 1; ranks++) {
			if (files != 0 || ranks != 0) {
				chi_attacks.king[square] |= step_set(square, files, ranks);
			}
		}
	}
	chi_attacks.pawn[CHI_WHITE][square] = step_set(square, -1, 1) | step_set(square, 1, 1);
	chi_attacks.pawn[CHI_BLACK][square] = step_set(square, -1, -1) | step_set(square, 1, -1);
}

static void fill_rays(int square)
{
	struct chi_rays *rays = &chi_attacks.rays[square];
	rays->file = ray(square, 0, 1) | ray(square, 0, -1);
	rays->diagonal = ray(square, 1, 1) | ray(square, -1, -1);
	rays->antidiagonal = ray(square, -1, 1) | ray(square, 1, -1);
	chi_attacks.rook_rays[square] = rays->file | ray(square, 1, 0) | ray(square, -1, 0);
	chi_attacks.bishop_rays[square] = rays->diagonal | rays->antidiagonal;
}

/* between and line for all squares that `square` sees in one direction */
static void fill_direction(int square, int files, int ranks)
{
	uint64_t line = ray(square, files, ranks) | ray(square, -files, -ranks) | chi_bit(square);
	uint64_t between = 0;
	for (int to = step_square(square, files, ranks); to != CHI_NO_SQUARE;
	     to = step_square(to, files, ranks)) {
		chi_attacks.between[square][to] = between;
		chi_attacks.line[square][to] = line;
		between |= chi_bit(to);
	}
}

static uint8_t rank_attacks(int file, unsigned inner)
{
	/* The edge squares need no bit: they are attacked whether occupied or not. */
	unsigned occupied = inner << 1;
	unsigned attacks = 0;
	for (int to = file + 1; to <= 7; to++) {
		attacks |= 1U << to;
		if ((occupied >> to & 1) != 0) {
			break;
		}
	}
	for (int to = file - 1; to >= 0; to--) {
		attacks |= 1U << to;
		if ((occupied >> to & 1) != 0) {
			break;
		}
	}
	return (uint8_t)attacks;
}

__attribute__((constructor)) static void fill_tables(void)
{
	for (int square = 0; square < 64; square++) {
		fill_leapers(square);
		fill_rays(square);
		for (int files = -1; files <= 1; files++) {
			for (int ranks = -1; ranks <= 1; ranks++) {
				if (files != 0 || ranks != 0) {
					fill_direction(square, files, ranks);
				}
			}
		}
	}
	for (int file = 0; file < 8; file++) {
		for (unsigned inner = 0; inner < 64; inner++) {
			chi_attacks.rank[file][inner] = rank_attacks(file, inner);
		}
	}
}

uint64_t chi_piece_attacks(int colour, int kind, int square, uint64_t occupied)
{
	switch (kind) {
	case CHI_PAWN:
		return chi_attacks.pawn[colour][square];
	case CHI_KNIGHT:
		return chi_attacks.knight[square];
	case CHI_BISHOP:
		return chi_bishop_attacks(square, occupied);
	case CHI_ROOK:
		return chi_rook_attacks(square, occupied);
	case CHI_QUEEN:
		return chi_queen_attacks(square, occupied);
	default:
		return chi_attacks.king[square];
	}
}

bool chi_squares_shift(uint64_t *squares, struct chi_shift shift)
{
	uint64_t moved = 0;
	uint32_t files = 0;
	uint32_t ranks = 0;
	for (uint64_t left = *squares; left != 0;) {
		int square = chi_pop(&left);
		files |= 1u << (square & 7);
		ranks |= 1u << (square >> 3);
	}
	for (uint64_t left = *squares; left != 0;) {
		int square = chi_pop(&left);
		int file = (square & 7) + (files == 0xff ? 0 : shift.files);
		int rank = (square >> 3) + (ranks == 0xff ? 0 : shift.ranks);
		if (file < 0 || file > 7 || rank < 0 || rank > 7) {
			return false;
		}
		moved |= chi_bit(8 * rank + file);
	}
	*squares = moved;
	return true;
}
