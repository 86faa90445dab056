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

/* Adds how often `colour` attacks each square to `counts`; returns the sum. */
static uint32_t count_attacks(const struct chi_position *position, int colour, uint8_t counts[64])
{
	uint64_t occupied = chi_position_occupied(position);
	uint32_t total = 0;
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		uint64_t pieces = chi_position_pieces(position, colour, kind);
		while (pieces != 0) {
			uint64_t attacked =
				chi_piece_attacks(colour, kind, chi_pop(&pieces), occupied);
			while (attacked != 0) {
				counts[chi_pop(&attacked)]++;
				total++;
			}
		}
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

uint16_t chi_statistic_control(const struct chi_position *position)
{
	uint8_t white[64] = {0};
	uint8_t black[64] = {0};
	uint32_t n_white = count_attacks(position, CHI_WHITE, white);
	uint32_t n_black = count_attacks(position, CHI_BLACK, black);
	if (n_white == 0 || n_black == 0) {
		return CHI_CHI2_UNKNOWN;
	}
	double chi2 = 0;
	for (int square = 0; square < 64; square++) {
		int both = white[square] + black[square];
		if (both > 0) {
			chi2 += cell(white[square], both, n_white, n_white + n_black);
			chi2 += cell(black[square], both, n_black, n_white + n_black);
		}
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
