/* SPDX-License-Identifier: MIT */
/* What games recommend: bounds worked out by hand, and the openings that a book must not play. */
#include "tests/chess/support.h"

#include "chess/polyglot/candidates.h"

#define NEAR 0.00005

CASE(bounds)
{
	/* Wilson's interval as tables of binomial proportions have it. */
	static const struct {
		struct chi_counts counts;
		double bound;
	} table[] = {
		{{19, 0, 4, 0}, 0.6286}, {{0, 10, 0, 0}, 0.2366}, {{4000, 3000, 3000, 0}, 0.5402},
		{{0, 0, 10, 0}, 0},	 {{10, 0, 0, 0}, 0.7225}, {{50, 50, 0, 7}, 0.6570},
		{{0, 0, 0, 9}, 0.2265}, /* of a book without results */
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct chi_candidate one;
		chi_candidates(&table[i].counts, 1, CHI_WHITE, &one);
		double bound = chi_candidate_bound(&one);
		assert_true(bound > table[i].bound - NEAR && bound < table[i].bound + NEAR);
	}
}

/* The book that opened 1.Nh3: 23 games of 40,000, 82.6 % for White. */
CASE(few_lucky_games_are_no_book)
{
	static const struct chi_counts played[] = {
		{19, 0, 4, 0},	       /* Nh3 */
		{7200, 5600, 5200, 0}, /* e4: 55.6 % */
		{5400, 4800, 3800, 0}, /* d4: 55.7 %, by fewer games */
		{600, 700, 500, 0},    /* Nf3: 5.1 % of the games */
		{0, 0, 1500, 0},       /* f3 */
	};
	struct chi_candidate all[5];
	chi_candidates(played, 5, CHI_WHITE, all);
	assert_int_equal(chi_candidates_rank(all, 5), 3);
	assert_int_equal(all[0].index, 2);
	assert_int_equal(all[1].index, 1);
	assert_int_equal(all[2].index, 3);
	/* For Black the same results are worth the contrary. */
	chi_candidates(played, 5, CHI_BLACK, all);
	assert_int_equal(chi_candidates_rank(all, 5), 3);
	assert_int_equal(all[0].index, 3);
}

CASE(support_is_ten_games_and_one_in_twenty)
{
	static const struct {
		uint64_t games;
		uint64_t others;
		bool supported;
	} table[] = {{9, 0, false},
		     {10, 0, true},
		     {10, 190, true},
		     {10, 191, false},
		     {500, 9501, false}};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct chi_counts played[] = {{.draws = table[i].games},
					      {.white = table[i].others}};
		struct chi_candidate all[2];
		chi_candidates(played, 2, CHI_WHITE, all);
		assert_int_equal(all[0].supported, table[i].supported);
	}
}

CASE(moves_are_drawn_by_their_weight)
{
	static const struct chi_counts played[] = {
		{0, 0, 50, 0}, {10, 20, 10, 0}, {100, 40, 20, 0}};
	struct chi_candidate all[3];
	unsigned times[3] = {0};
	chi_candidates(played, 3, CHI_WHITE, all);
	assert_int_equal(all[0].weight, 0);
	assert_int_equal(all[1].weight, 40);
	assert_int_equal(all[2].weight, 240);
	for (unsigned i = 0; i < 2800; i++) {
		times[chi_candidates_draw(all, 3, 0, (i + 0.5) / 2800)->index]++;
	}
	assert_int_equal(times[0], 0);
	assert_int_equal(times[1], 400);
	assert_int_equal(times[2], 2400);
	/* With all variety 0.5 and 0.75 of the points count, not 40 and 160 games. */
	times[1] = times[2] = 0;
	for (unsigned i = 0; i < 1000; i++) {
		times[chi_candidates_draw(all, 3, 1, (i + 0.5) / 1000)->index]++;
	}
	assert_int_equal(times[1], 400);
	assert_int_equal(times[2], 600);
	assert_int_equal(chi_candidates_draw(all, 3, 0, 1)->index, 2);
	assert_null(chi_candidates_draw(all, 1, 0, 0.5));
	assert_null(chi_candidates_draw(all, 0, 0, 0.5));
}

CASE(a_book_without_results)
{
	struct chi_counts played[] = {{.other = 30}, {.other = 90}, {.white = 1, .other = 5}};
	struct chi_candidate all[3];
	chi_candidates(played, 2, CHI_BLACK, all);
	assert_int_equal(all[1].weight, 90);
	assert_int_equal(chi_candidates_rank(all, 2), 2);
	assert_int_equal(all[0].index, 1);
	/* One result, and the games without are no longer taken for weights. */
	chi_candidates(played, 3, CHI_WHITE, all);
	assert_int_equal(all[1].weight, 0);
	assert_int_equal(all[2].weight, 2);
}

CASE(counts_saturate)
{
	static const struct chi_counts played[] = {{UINT64_MAX, 1, 0, 0}, {0, 0, UINT64_MAX, 0}};
	struct chi_candidate all[2];
	chi_candidates(played, 2, CHI_WHITE, all);
	assert_true(all[0].weight == UINT64_MAX);
	assert_int_equal(chi_candidates_rank(all, 2), 2);
	assert_int_equal(all[0].index, 0);
}
