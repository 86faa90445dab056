/* SPDX-License-Identifier: MIT */
/*
 * The last hundredth must be the same on every machine, for keys of the strength tree are made of
 * it. The outcome and score statistics are fractions of integers, divided once at the end. The
 * control statistic is a sum in IEEE doubles in a fixed order. One position in some hundreds lies
 * exactly between two hundredths. Exact arithmetic, rounded half up, misses six of the nine such
 * ties among the published vectors; this order of the sum, which FORMAT.md defines, gives all nine.
 * Hence also no contraction to fused operations (see meson.build), no wider intermediates, no other
 * order.
 */
#include "chess/statistic.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

#include "base/record.h"
#include "chess/bitboard.h"
#include "chess/wide.h"

#ifdef __FAST_MATH__
#error "-ffast-math changes the order of sums: the control statistic would differ by a hundredth"
#endif

_Static_assert(FLT_EVAL_METHOD == 0, "the control statistic needs plain IEEE doubles");

const char *const chi_statistic_names[CHI_STATISTIC_MAX + 1] = {
	[CHI_STATISTIC_EXTERNAL] = "external", [CHI_STATISTIC_CONTROL] = "control",
	[CHI_STATISTIC_OUTCOME] = "outcome",   [CHI_STATISTIC_SCORE] = "score",
	[CHI_STATISTIC_EVAL] = "eval",	       [CHI_STATISTIC_PERFORMANCE] = "performance",
};

const char *chi_statistic_name(int statistic)
{
	return statistic > 0 && statistic <= CHI_STATISTIC_MAX ? chi_statistic_names[statistic]
							       : NULL;
}

bool chi_statistic_has_base(enum chi_statistic statistic)
{
	return statistic == CHI_STATISTIC_OUTCOME || statistic == CHI_STATISTIC_SCORE;
}

bool chi_statistic_is_checked(enum chi_statistic statistic)
{
	return statistic == CHI_STATISTIC_CONTROL || statistic == CHI_STATISTIC_EVAL;
}

/*
 * How often each square is attacked, as binary numbers across sets: bit s of plane[i] is bit i of
 * square s's count. At most 16 pieces attack a square, along eight lines and from eight knights'
 * squares.
 */
#define PLANES 5
#define FILE_A UINT64_C(0x0101010101010101)
#define FILE_H UINT64_C(0x8080808080808080)

struct attack_counts {
	uint64_t plane[PLANES];
};

/* One more on each of the squares. */
static void add_attacks(struct attack_counts *counts, uint64_t squares)
{
	for (int i = 0; squares != 0 && i < PLANES; i++) {
		uint64_t carry = counts->plane[i] & squares;
		counts->plane[i] ^= squares;
		squares = carry;
	}
}

/* How often `colour` attacks each square. Two pawns attack a square from its two sides. */
static void count_attacks(const struct chi_position *position, int colour,
			  struct attack_counts *counts)
{
	uint64_t occupied = chi_position_occupied(position);
	uint64_t pawns = chi_position_pieces(position, colour, CHI_PAWN);
	uint64_t left = pawns & ~FILE_A;
	uint64_t right = pawns & ~FILE_H;
	*counts = (struct attack_counts){.plane = {0}};
	add_attacks(counts, colour == CHI_WHITE ? left << 7 : left >> 9);
	add_attacks(counts, colour == CHI_WHITE ? right << 9 : right >> 7);
	for (int kind = CHI_KNIGHT; kind < CHI_KINDS; kind++) {
		uint64_t pieces = chi_position_pieces(position, colour, kind);
		while (pieces != 0) {
			add_attacks(counts,
				    chi_piece_attacks(colour, kind, chi_pop(&pieces), occupied));
		}
	}
}

static uint32_t count_all(const struct attack_counts *counts)
{
	uint32_t total = 0;
	for (int i = 0; i < PLANES; i++) {
		total += (uint32_t)chi_popcount(counts->plane[i]) << i;
	}
	return total;
}

/* One cell's share of chi-square: observed against its part of the row and the column. */
static double cell(int observed, int column, uint32_t row, uint32_t total)
{
	double expected = (double)row * column / total;
	double difference = observed - expected;
	return difference * difference / expected;
}

/* What a square adds that White attacks so often, and Black. */
struct pair_cells {
	double white;
	double black;
};

static struct pair_cells compute_pair(int white, int black, uint32_t n_white, uint32_t n_black)
{
	return (struct pair_cells){
		.white = cell(white, white + black, n_white, n_white + n_black),
		.black = cell(black, white + black, n_black, n_white + n_black),
	};
}

static int count_at(const struct attack_counts *counts, int square)
{
	int n = 0;
	for (int i = 0; i < PLANES; i++) {
		n |= (int)(counts->plane[i] >> square & 1) << i;
	}
	return n;
}

/* The sum, square by square. */
static double sum_squares(const struct attack_counts *white, const struct attack_counts *black,
			  uint32_t n_white, uint32_t n_black)
{
	double chi2 = 0;
	for (int square = 0; square < 64; square++) {
		int by_white = count_at(white, square);
		int by_black = count_at(black, square);
		if (by_white + by_black > 0) {
			struct pair_cells cells =
				compute_pair(by_white, by_black, n_white, n_black);
			chi2 += cells.white;
			chi2 += cells.black;
		}
	}
	return chi2;
}

/* Where both sides attack each square less than eight times, which is nearly always so, a pair of
 * counts has a number below 64: eight times White's count and Black's. */
#define PAIR_PLANES 3
#define PAIRS	    64

static bool are_few(const struct attack_counts *counts)
{
	return (counts->plane[3] | counts->plane[4]) == 0;
}

/* The eight bits of a rank as eight bytes of 0 or 1, the a-file's the lowest. */
static uint64_t spread_rank(uint64_t set, int rank)
{
	uint64_t bits = (set >> 8 * rank & 0xff) * UINT64_C(0x0101010101010101);
	bits &= UINT64_C(0x8040201008040201);
	return (bits + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & UINT64_C(0x0101010101010101);
}

/* The number of each square's pair. */
static void number_pairs(const struct attack_counts *white, const struct attack_counts *black,
			 uint8_t pairs[64])
{
	for (int rank = 0; rank < 8; rank++) {
		uint64_t bytes = 0;
		for (int i = 0; i < PAIR_PLANES; i++) {
			bytes |= spread_rank(black->plane[i], rank) << i;
			bytes |= spread_rank(white->plane[i], rank) << (PAIR_PLANES + i);
		}
		for (int file = 0; file < 8; file++) {
			pairs[8 * rank + file] = (uint8_t)(bytes >> 8 * file);
		}
	}
}

/* The same sum. Some dozen pairs occur in a position: the divisions, most of the work, are done
 * once for each. Squares that are not attacked add 0. */
static double sum_pairs(const uint8_t pairs[64], uint32_t n_white, uint32_t n_black)
{
	struct pair_cells cells[PAIRS] = {[0] = {0, 0}};
	uint64_t occurring = 0;
	double chi2 = 0;
	for (int square = 0; square < 64; square++) {
		occurring |= UINT64_C(1) << pairs[square];
	}
	occurring &= ~UINT64_C(1);
	while (occurring != 0) {
		int pair = chi_pop(&occurring);
		cells[pair] = compute_pair(pair >> PAIR_PLANES, pair & ((1 << PAIR_PLANES) - 1),
					   n_white, n_black);
	}
	for (int square = 0; square < 64; square++) {
		chi2 += cells[pairs[square]].white;
		chi2 += cells[pairs[square]].black;
	}
	return chi2;
}

uint16_t chi_statistic_control(const struct chi_position *position)
{
	struct attack_counts white;
	struct attack_counts black;
	uint8_t pairs[64];
	double chi2;
	count_attacks(position, CHI_WHITE, &white);
	count_attacks(position, CHI_BLACK, &black);
	uint32_t n_white = count_all(&white);
	uint32_t n_black = count_all(&black);
	if (n_white == 0 || n_black == 0) {
		return CHI_CHI2_UNKNOWN;
	}
	if (are_few(&white) && are_few(&black)) {
		number_pairs(&white, &black, pairs);
		chi2 = sum_pairs(pairs, n_white, n_black);
	} else {
		chi2 = sum_squares(&white, &black, n_white, n_black);
	}
	/* Half up. The totals are at most 64 * 16, so chi2 is below 2^20. */
	int hundredths = (int)(chi2 * 100 + 0.5);
	if (hundredths > CHI_CHI2_MAX) {
		return CHI_CHI2_MAX;
	}
	return hundredths == 0 ? 1 : (uint16_t)hundredths;
}

/* a * b * c * d, each below 2^64. */
static struct chi_wide product(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct chi_wide wide = chi_wide_of(a);
	chi_wide_multiply(&wide, b);
	chi_wide_multiply(&wide, c);
	chi_wide_multiply(&wide, d);
	return wide;
}

/* Sum of three counts; false if it does not fit. */
static bool sum_counts(const struct chi_counts *counts, uint64_t *sum)
{
	return !__builtin_add_overflow(counts->white, counts->draws, sum) &&
	       !__builtin_add_overflow(*sum, counts->black, sum);
}

/* dividend / divisor rounded down, clamped to the values that are known. */
static uint16_t divide_hundredths(const struct chi_wide *dividend, const struct chi_wide *divisor)
{
	/* The greatest r with r * divisor <= dividend, by halving: no long division needed. */
	uint64_t low = 0;
	uint64_t high = CHI_CHI2_MAX;
	while (low < high) {
		uint64_t middle = (low + high + 1) / 2;
		struct chi_wide trial = *divisor;
		chi_wide_multiply(&trial, middle);
		if (chi_wide_compare(&trial, dividend) <= 0) {
			low = middle;
		} else {
			high = middle - 1;
		}
	}
	return low == 0 ? 1 : (uint16_t)low;
}

uint16_t chi_statistic_outcome(const struct chi_counts *counts, const struct chi_counts *base)
{
	const uint64_t observed[3] = {counts->white, counts->draws, counts->black};
	const uint64_t rate[3] = {base->white, base->draws, base->black};
	uint64_t n = 0;
	uint64_t total = 0;
	if (!sum_counts(counts, &n) || !sum_counts(base, &total) || n == 0) {
		return CHI_CHI2_UNKNOWN;
	}
	for (int i = 0; i < 3; i++) {
		/* The expected count, n * rate / total, is at least 5. */
		if ((unsigned __int128)n * rate[i] < (unsigned __int128)total * 5 || rate[i] == 0) {
			return CHI_CHI2_UNKNOWN;
		}
	}
	/* chi2 = (total * sum of o_i^2 / rate_i - n^2) / n: with the common divisor
	 * n * r0 * r1 * r2 all is integer, at most 330 bits. */
	struct chi_wide sum = chi_wide_of(0);
	for (int i = 0; i < 3; i++) {
		struct chi_wide term =
			product(observed[i], observed[i], rate[(i + 1) % 3], rate[(i + 2) % 3]);
		chi_wide_multiply(&term, total);
		chi_wide_add(&sum, &term);
	}
	struct chi_wide divisor = product(n, rate[0], rate[1], rate[2]);
	struct chi_wide expected = divisor;
	chi_wide_multiply(&expected, n);
	chi_wide_subtract(&sum, &expected);
	chi_wide_multiply(&sum, 200);
	chi_wide_add(&sum, &divisor);
	chi_wide_multiply(&divisor, 2);
	return divide_hundredths(&sum, &divisor);
}

uint16_t chi_statistic_score(const struct chi_counts *counts, const struct chi_counts *base)
{
	uint64_t n = 0;
	uint64_t total = 0;
	if (!sum_counts(counts, &n) || !sum_counts(base, &total) || n < CHI_SCORE_GAMES ||
	    total == 0) {
		return CHI_CHI2_UNKNOWN;
	}
	/* With p = 2 W + D, q the same of the base and t its games, the score in percent is
	 * 50 (p t + 10 q) / (t (n + 10)); a hundred times that and a half, with the divisor 2 t (n
	 * + 10), takes at most 160 bits. */
	struct chi_wide sum = product(counts->white, total, 2, 1);
	struct chi_wide term = product(counts->draws, total, 1, 1);
	chi_wide_add(&sum, &term);
	term = product(base->white, 20, 1, 1);
	chi_wide_add(&sum, &term);
	term = product(base->draws, 10, 1, 1);
	chi_wide_add(&sum, &term);
	chi_wide_multiply(&sum, 10000);
	struct chi_wide divisor = product(total, n, 1, 1);
	term = product(total, 10, 1, 1);
	chi_wide_add(&divisor, &term);
	chi_wide_add(&sum, &divisor);
	chi_wide_multiply(&divisor, 2);
	return divide_hundredths(&sum, &divisor);
}

uint16_t chi_statistic_eval(const struct chi_eval *eval, int side)
{
	int32_t score = eval->score;
	int32_t most = eval->is_mate ? CHI_EVAL_MATE_MAX : CHI_EVAL_CP_MAX;
	/* Mate in 0: the side to move is mated. */
	bool white_is_better = (score > 0) == (side == CHI_WHITE);
	int32_t size = score < 0 ? -score : score;
	size = size < most ? size : most;
	if (eval->is_mate) {
		return (uint16_t)(white_is_better ? CHI_CHI2_MAX - size : 1 + size);
	}
	return (uint16_t)(white_is_better ? CHI_EVAL_EVEN + size : CHI_EVAL_EVEN - size);
}

uint16_t chi_statistic_evals(const struct chi_record *record, int side)
{
	const struct chi_eval *deepest = chi_evals_deepest(record->evals, record->n_evals);
	return deepest != NULL ? chi_statistic_eval(deepest, side) : CHI_CHI2_UNKNOWN;
}
