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

/* The eight bits of a rank as eight bytes of 0 or 1, the a-file's the lowest. */
static uint64_t spread_rank(uint64_t set, int rank)
{
	uint64_t bits = (set >> 8 * rank & 0xff) * UINT64_C(0x0101010101010101);
	bits &= UINT64_C(0x8040201008040201);
	return (bits + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & UINT64_C(0x0101010101010101);
}

/* The counts of a rank, a byte each. */
static uint64_t rank_counts(const struct attack_counts *counts, int rank)
{
	uint64_t bytes = 0;
	for (int i = 0; i < PLANES; i++) {
		bytes |= spread_rank(counts->plane[i], rank) << i;
	}
	return bytes;
}

/* One cell's share of chi-square: observed against its part of the row and the column. */
static double cell(int observed, int column, uint32_t row, uint32_t total)
{
	double expected = (double)row * column / total;
	double difference = observed - expected;
	return difference * difference / expected;
}

/* What a square attacked so often by each side adds. Few such pairs occur in one position, so
 * those below 8 are kept: the divisions are most of the work. */
#define PAIR_MOST 8
struct pair_cells {
	double white;
	double black;
};
struct cell_table {
	uint32_t n_white;
	uint32_t n_black;
	uint64_t known; /* pairs that were computed, by their index */
	struct pair_cells pairs[PAIR_MOST * PAIR_MOST];
};

static struct pair_cells compute_pair(const struct cell_table *table, int white, int black)
{
	uint32_t total = table->n_white + table->n_black;
	return (struct pair_cells){
		.white = cell(white, white + black, table->n_white, total),
		.black = cell(black, white + black, table->n_black, total),
	};
}

static struct pair_cells look_up_pair(struct cell_table *table, int white, int black)
{
	if (white >= PAIR_MOST || black >= PAIR_MOST) {
		return compute_pair(table, white, black);
	}
	int index = white * PAIR_MOST + black;
	if ((table->known >> index & 1) == 0) {
		table->known |= UINT64_C(1) << index;
		table->pairs[index] = compute_pair(table, white, black);
	}
	return table->pairs[index];
}

/* The sum over a rank's squares, which the order of FORMAT.md adds to those before. */
static double add_rank(struct cell_table *table, uint64_t white, uint64_t black, double chi2)
{
	for (int file = 0; file < 8; file++) {
		int n_white = white >> 8 * file & 0xff;
		int n_black = black >> 8 * file & 0xff;
		if ((n_white | n_black) != 0) {
			struct pair_cells cells = look_up_pair(table, n_white, n_black);
			chi2 += cells.white;
			chi2 += cells.black;
		}
	}
	return chi2;
}

uint16_t chi_statistic_control(const struct chi_position *position)
{
	struct attack_counts white;
	struct attack_counts black;
	struct cell_table table;
	count_attacks(position, CHI_WHITE, &white);
	count_attacks(position, CHI_BLACK, &black);
	table.n_white = count_all(&white);
	table.n_black = count_all(&black);
	table.known = 0;
	if (table.n_white == 0 || table.n_black == 0) {
		return CHI_CHI2_UNKNOWN;
	}
	double chi2 = 0;
	for (int rank = 0; rank < 8; rank++) {
		chi2 = add_rank(&table, rank_counts(&white, rank), rank_counts(&black, rank), chi2);
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
