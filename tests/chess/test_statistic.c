/* SPDX-License-Identifier: MIT */
/* The outcome statistic against values worked out by hand or with exact fractions, and what the
 * vectors do not show of the control statistic. */
#include "tests/chess/support.h"

#include "chess/statistic.h"
#include "chess/wide.h"

#define HUGE_COUNT (UINT64_C(1) << 60)

struct outcome_case {
	struct chi_counts counts;
	struct chi_counts base;
	uint16_t chi2;
};

CASE(outcome_values)
{
	/* white, draws, black, other */
	static const struct outcome_case table[] = {
		/* expected 20/3 each: (25/9 + 2 * 25/9 / 4 ...) = 5/2 */
		{{10, 5, 5, 0}, {1, 1, 1, 0}, 250},
		{{30, 30, 40, 0}, {100, 100, 100, 0}, 200},
		{{60, 20, 20, 0}, {40, 30, 30, 0}, 1667},  /* 16.666... */
		{{40, 35, 25, 0}, {385, 352, 263, 0}, 12}, /* 0.1238 */
		{{20, 20, 21, 0}, {20, 20, 20, 0}, 3},	   /* 0.0328 */
		{{13, 10, 17, 0}, {50, 50, 100, 0}, 135},  /* 1.35 */
		{{81, 79, 160, 0}, {1, 1, 2, 0}, 3},	   /* 0.025: half up */
		{{205, 195, 400, 0}, {1, 1, 2, 0}, 25},	   /* 0.25 */
		/* as expected: 0 is clamped to the least known value */
		{{5, 5, 5, 0}, {1, 1, 1, 0}, 1},
		{{40, 30, 30, 0}, {4, 3, 3, 0}, 1},
		/* surer than can be stored */
		{{1000, 0, 0, 0}, {40, 30, 30, 0}, CHI_CHI2_MAX},
		{{5 * HUGE_COUNT, HUGE_COUNT, HUGE_COUNT, 0}, {1, 1, 1, 0}, CHI_CHI2_MAX},
		/* Cochran: every expected count at least 5, and not a bit less */
		{{5, 5, 4, 0}, {1, 1, 1, 0}, CHI_CHI2_UNKNOWN},
		{{0, 0, 0, 0}, {1, 1, 1, 0}, CHI_CHI2_UNKNOWN},
		{{50, 50, 0, 0}, {48, 48, 4, 0}, CHI_CHI2_UNKNOWN},
		{{50, 45, 5, 0}, {10, 9, 1, 0}, 1},
		/* nothing to compare with, or a result that the base never saw */
		{{50, 50, 50, 0}, {0, 0, 0, 0}, CHI_CHI2_UNKNOWN},
		{{50, 50, 50, 0}, {50, 50, 0, 0}, CHI_CHI2_UNKNOWN},
		/* games without a result are not counted */
		{{10, 5, 5, 1000}, {1, 1, 1, 7}, 250},
		{{4, 4, 4, 1000}, {1, 1, 1, 0}, CHI_CHI2_UNKNOWN},
		/* counts far beyond what doubles hold exactly */
		{{3000000000, 2000100000, 1000000000, 0},
		 {3000000000, 2000000000, 1000000000, 0},
		 333}, /* 200000 / 60001 */
		{{HUGE_COUNT, HUGE_COUNT + 100000000, HUGE_COUNT, 0}, {1, 1, 1, 0}, 1}, /* 0.0058 */
		{{5 * HUGE_COUNT, 5, 5 * HUGE_COUNT, 0}, {5 * HUGE_COUNT, 5, 5 * HUGE_COUNT, 0}, 1},
		/* a sum that does not fit is not known rather than wrong */
		{{UINT64_MAX, 1, 0, 0}, {1, 1, 1, 0}, CHI_CHI2_UNKNOWN},
		{{50, 50, 50, 0}, {UINT64_MAX, UINT64_MAX, 1, 0}, CHI_CHI2_UNKNOWN},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		uint16_t chi2 = chi_statistic_outcome(&table[i].counts, &table[i].base);
		if (chi2 != table[i].chi2) {
			fail_msg("case %zu: %u, expected %u", i, chi2, table[i].chi2);
		}
	}
}

/* Exchanging the colours in both must not change the value. */
CASE(outcome_is_symmetric)
{
	struct seed seed = seed_start("outcome");
	for (int i = 0; i < 10000; i++) {
		struct chi_counts counts = {seed_below(&seed, 500), seed_below(&seed, 500),
					    seed_below(&seed, 500), 0};
		struct chi_counts base = {1 + seed_below(&seed, 5000), 1 + seed_below(&seed, 5000),
					  1 + seed_below(&seed, 5000), 0};
		struct chi_counts turned_counts = {counts.black, counts.draws, counts.white, 0};
		struct chi_counts turned_base = {base.black, base.draws, base.white, 0};
		assert_int_equal(chi_statistic_outcome(&counts, &base),
				 chi_statistic_outcome(&turned_counts, &turned_base));
	}
}

/* Worked out with exact fractions. */
CASE(score_values)
{
	static const struct outcome_case table[] = {
		/* base score 1/2: (5 + 5) / 15 */
		{{5, 0, 0, 0}, {1, 1, 1, 0}, 6667},
		{{0, 5, 0, 0}, {1, 1, 1, 0}, 5000},
		{{0, 0, 5, 0}, {1, 1, 1, 0}, 3333},
		/* base score 0.55 */
		{{30, 40, 30, 0}, {40, 30, 30, 0}, 5045}, /* 55.5 / 110 = 0.504545... */
		{{620, 0, 370, 0}, {55, 0, 45, 0}, 6255}, /* 625.5 / 1000 */
		{{1983, 14, 3, 0}, {1, 0, 0, 0}, 9950},	  /* 2000 / 2010 = 0.995024... */
		{{0, 1, 15, 0}, {3, 0, 37, 0}, 481},	  /* 1.25 / 26 = 0.048076... */
		/* half up: 5.5 / 16 = 0.34375, 5.1 / 32 = 0.159375 */
		{{0, 1, 5, 0}, {1, 0, 1, 0}, 3438},
		{{5, 0, 17, 0}, {1, 0, 99, 0}, 1594},
		/* White never won anything: 0 is clamped to the least known value */
		{{0, 0, 5, 0}, {0, 0, 9, 0}, 1},
		{{5, 0, 0, 0}, {9, 0, 0, 0}, 10000},
		/* too few games, of which those without a result are none */
		{{2, 1, 1, 100}, {1, 1, 1, 0}, CHI_CHI2_UNKNOWN},
		{{2, 2, 1, 100}, {1, 1, 1, 9}, 5333}, /* (3 + 5) / 15 */
		{{50, 50, 50, 0}, {0, 0, 0, 5}, CHI_CHI2_UNKNOWN},
		/* far beyond what doubles hold exactly */
		{{8 * HUGE_COUNT, 0, 7 * HUGE_COUNT, 0}, {HUGE_COUNT, 0, 0, 0}, 5333},
		{{UINT64_MAX - 10, 0, 10, 0}, {1, 0, UINT64_MAX - 1, 0}, 10000},
		{{UINT64_MAX, 1, 0, 0}, {1, 1, 1, 0}, CHI_CHI2_UNKNOWN},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		uint16_t chi2 = chi_statistic_score(&table[i].counts, &table[i].base);
		if (chi2 != table[i].chi2) {
			fail_msg("case %zu: %u, expected %u", i, chi2, table[i].chi2);
		}
	}
}

CASE(eval_values)
{
	static const struct {
		bool is_mate;
		int32_t score;
		uint16_t white; /* with White to move */
		uint16_t black;
	} table[] = {
		{false, 0, 12800, 12800},
		{false, 95, 12895, 12705},
		{false, -105, 12695, 12905},
		{false, 12600, 25400, 200},
		{false, 12601, 25400, 200},
		{false, -CHI_SCORE_MAX, 200, 25400},
		{true, 1, 25598, 2},
		{true, -1, 2, 25598},
		{true, 198, 25401, 199},
		{true, 199, 25401, 199},
		{true, -CHI_MATE_MAX, 199, 25401},
		/* mated */
		{true, 0, 1, 25599},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_eval eval = {.is_mate = table[i].is_mate, .score = table[i].score};
		assert_int_equal(chi_statistic_eval(&eval, CHI_WHITE), table[i].white);
		assert_int_equal(chi_statistic_eval(&eval, CHI_BLACK), table[i].black);
	}
}

/* The deepest; of these the latest; of these the first. */
CASE(eval_of_the_deepest)
{
	struct chi_eval evals[] = {{.depth = 9, .date = 7, .score = 1},
				   {.depth = 10, .date = 5, .score = 2},
				   {.depth = 10, .date = 6, .score = 3},
				   {.depth = 10, .date = 6, .score = 4}};
	struct chi_record record = {.evals = evals, .n_evals = CHI_COUNT(evals)};
	assert_int_equal(chi_statistic_evals(&record, CHI_WHITE), 12803);
	assert_int_equal(chi_statistic_evals(&record, CHI_BLACK), 12797);
	record.n_evals = 0;
	assert_int_equal(chi_statistic_evals(&record, CHI_WHITE), CHI_CHI2_UNKNOWN);
}

static void control_of(const char *fen, uint16_t wanted)
{
	struct chi_position position = position_of(fen);
	assert_int_equal(chi_statistic_control(&position), wanted);
}

CASE(control_values)
{
	control_of(START_FEN, 7600);
	/* one side attacks nothing */
	control_of("8/8/8/8/8/8/8/K7 w - -", CHI_CHI2_UNKNOWN);
	control_of("8/8/8/8/8/8/8/k7 b - -", CHI_CHI2_UNKNOWN);
	control_of("q7/8/8/8/8/8/8/8 w - -", CHI_CHI2_UNKNOWN);
	/* no square in common: chi-square is the number of attacks, 3 + 3 */
	control_of("7k/8/8/8/8/8/8/K7 w - -", 600);
	/* 96.952..., from exact fractions */
	control_of("QQQQQQQQ/QQQQQQQQ/8/8/8/8/qqqqqqqq/qqqqqqqq w - -", 9695);
}

/* The statistic as its definition says it, a square and a piece at a time. */
static uint32_t plain_attacks(const struct chi_position *position, int colour, int counts[64])
{
	uint32_t total = 0;
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		uint64_t pieces = chi_position_pieces(position, colour, kind);
		while (pieces != 0) {
			uint64_t attacked = chi_piece_attacks(colour, kind, chi_pop(&pieces),
							      chi_position_occupied(position));
			for (int square = 0; square < 64; square++) {
				counts[square] += (int)(attacked >> square & 1);
				total += attacked >> square & 1;
			}
		}
	}
	return total;
}

static uint16_t plain_control(const struct chi_position *position)
{
	int counts[2][64] = {{0}};
	uint32_t totals[2] = {plain_attacks(position, CHI_WHITE, counts[CHI_WHITE]),
			      plain_attacks(position, CHI_BLACK, counts[CHI_BLACK])};
	double chi2 = 0;
	if (totals[0] == 0 || totals[1] == 0) {
		return CHI_CHI2_UNKNOWN;
	}
	for (int square = 0; square < 64; square++) {
		int both = counts[0][square] + counts[1][square];
		for (int colour = 0; both > 0 && colour < 2; colour++) {
			double expected = (double)totals[colour] * both / (totals[0] + totals[1]);
			double difference = counts[colour][square] - expected;
			chi2 += difference * difference / expected;
		}
	}
	int hundredths = (int)(chi2 * 100 + 0.5);
	return (uint16_t)(hundredths == 0	      ? 1
			  : hundredths < CHI_CHI2_MAX ? hundredths
						      : CHI_CHI2_MAX);
}

CASE(control_is_the_plain_sum)
{
	struct seed seed = seed_start("control sums");
	for (int i = 0; i < 20000; i++) {
		struct chi_position position = random_placement(&seed);
		assert_int_equal(chi_statistic_control(&position), plain_control(&position));
	}
	/* Sixteen attackers of e4, of one side and of both, and pawns on the edges. */
	static const char *const crowded[] = {
		"4Q2Q/1Q6/3N1N2/2N3N1/Q6Q/2N3N1/3N1N2/1Q2Q2Q w - -",
		"k3Q2Q/1Q6/3N1N2/2NQQQN1/3Q1Q2/2NQQQN1/3N1N2/1Q5K w - -",
		"4q2q/1q6/3n1n2/2n3n1/Q6Q/2N3N1/3N1N2/1Q2Q2Q w - -",
		"4k3/p6p/P6P/8/8/p6p/P6P/4K3 w - -",
	};
	for (size_t i = 0; i < CHI_COUNT(crowded); i++) {
		struct chi_position position = position_of(crowded[i]);
		assert_int_equal(chi_statistic_control(&position), plain_control(&position));
	}
}

/* The side to move, castling and en passant are no part of it. */
CASE(control_sees_placement_only)
{
	struct seed seed = seed_start("control");
	for (int i = 0; i < 2000; i++) {
		struct chi_position position = random_placement(&seed);
		struct chi_position other = position;
		other.side ^= 1;
		other.castle = 0;
		other.ep = CHI_NO_SQUARE;
		assert_int_equal(chi_statistic_control(&position), chi_statistic_control(&other));
	}
}

CASE(names)
{
	static const char *const wanted[] = {NULL,    "external", "control",	 "outcome",
					     "score", "eval",	  "performance", NULL};
	for (int i = 0; i < (int)CHI_COUNT(wanted); i++) {
		if (wanted[i] == NULL) {
			assert_null(chi_statistic_name(i));
			continue;
		}
		assert_string_equal(chi_statistic_name(i), wanted[i]);
	}
	assert_null(chi_statistic_name(-1));
}

CASE(wide_arithmetic)
{
	struct chi_wide a = chi_wide_of(UINT64_MAX);
	struct chi_wide b = chi_wide_of(UINT64_MAX);
	chi_wide_multiply(&a, UINT64_MAX);
	/* (2^64 - 1)^2 = 2^128 - 2^65 + 1 */
	assert_true(a.limb[0] == 1 && a.limb[1] == UINT64_MAX - 1 && a.limb[2] == 0);
	assert_true(chi_wide_compare(&b, &a) < 0 && chi_wide_compare(&a, &b) > 0);
	struct chi_wide sum = a;
	for (int i = 0; i < 5; i++) {
		chi_wide_add(&sum, &b);
	}
	for (int i = 0; i < 5; i++) {
		chi_wide_subtract(&sum, &b);
	}
	assert_int_equal(chi_wide_compare(&sum, &a), 0);
	/* a carry that runs through all limbs, and back */
	struct chi_wide ones;
	struct chi_wide one = chi_wide_of(1);
	memset(&ones, 0xff, sizeof(ones));
	ones.limb[CHI_WIDE_LIMBS - 1] = 0;
	chi_wide_add(&ones, &one);
	assert_true(ones.limb[0] == 0 && ones.limb[CHI_WIDE_LIMBS - 1] == 1);
	chi_wide_subtract(&ones, &one);
	assert_true(ones.limb[0] == UINT64_MAX && ones.limb[CHI_WIDE_LIMBS - 1] == 0);
}
