/* SPDX-License-Identifier: MIT */
/*
 * performance: planted results are found; results exchanged among games of equal difference of
 * ratings are as far from what is expected as luck alone makes them, over positions without a game
 * in common; and loops over random games find the same.
 */
#include "tests/store/help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "insight/insight_priv.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"
#include "tests/import/session.h"
#include "tests/insight/apart.h"
#include "tests/insight/slow.h"

#define GROUPS	   APART_GROUPS
#define GAMES_EACH 20
#define GAMES	   (GROUPS * GAMES_EACH)
#define BANDS	   17 /* differences of ratings, -200 to 200 */
#define PLANTED	   6 /* groups: White wins all games of the first half, loses those of the others */
#define STORE	   "apart"

static struct apart_game made[GAMES];
static struct insight_world world;

static void make_games(void)
{
	for (unsigned i = 0; i < GAMES; i++) {
		struct apart_game *game = &made[i];
		game->group = i / GAMES_EACH;
		game->elo[0] = 2500;
		game->elo[1] = 2300 + 25 * (int)help_below(BANDS);
		game->points = apart_points(game->elo, 0);
		if (game->group < PLANTED) {
			game->points = game->group < PLANTED / 2 ? 2 : 0;
		}
	}
}

/* Among games of a band. */
static void exchange_results(void)
{
	for (int elo = 2300; elo < 2300 + 25 * BANDS; elo += 25) {
		static size_t of_band[GAMES];
		size_t n = 0;
		for (size_t i = 0; i < GAMES; i++) {
			if (made[i].elo[1] == elo) {
				of_band[n++] = i;
			}
		}
		for (size_t i = n; i > 1; i--) {
			struct apart_game *a = &made[of_band[i - 1]];
			struct apart_game *b = &made[of_band[help_below((unsigned)i)]];
			unsigned points = a->points;
			a->points = b->points;
			b->points = points;
		}
	}
}

/* Of the store of games apart; `world` has no more than its snapshot. */
static struct chi_insight *ask_apart(uint32_t fdr)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT,
					      .kind = CHI_INSIGHT_PERFORMANCE,
					      .min_games = GAMES_EACH, .fdr = fdr};
	world.store = help_open(help_path(STORE), CHI_STORE_READ);
	ok(chi_read_begin(world.store, &world.read));
	return insight_world_ask(&world, &spec, 1000);
}

static void close_apart(struct chi_insight *insight)
{
	chi_insight_close(insight);
	chi_read_end(world.read);
	chi_dir_close(world.store);
}

static const struct chi_insight_row *row_of_group(const struct chi_insight_result *result,
						  unsigned group)
{
	struct chi_key key = apart_key(group);
	for (size_t i = 0; i < result->n; i++) {
		if (memcmp(result->rows[i].key.bytes, key.bytes, CHI_KEY_MAX) == 0) {
			return &result->rows[i];
		}
	}
	return NULL;
}

/* Of 6 true findings and all other positions without, at a rate of 5 %, 12 false ones are as good
 * as impossible: so many have a chance of 1 in 10^12. */
CASE(planted_results_are_found)
{
	make_games();
	apart_store(STORE, made, GAMES);
	struct chi_insight *insight = ask_apart(50);
	const struct chi_insight_result *result = chi_insight_rows(insight);
	assert_int_equal(result->tested, GROUPS);
	assert_int_equal(result->games, GAMES);
	assert_true(result->n >= PLANTED && result->n < PLANTED + 12);
	for (unsigned group = 0; group < PLANTED; group++) {
		const struct chi_insight_row *row = row_of_group(result, group);
		assert_non_null(row);
		assert_int_equal(row->score, group < PLANTED / 2 ? CHI_INSIGHT_POINT : 0);
		assert_int_equal(row->games, GAMES_EACH);
		assert_int_equal(row->others, 2); /* before the move and after it */
		assert_int_equal(row->ply, 0);
		assert_true(row->chance <= row->adjusted && row->adjusted < 50000000);
	}
	close_apart(insight);
}

/* By the end of the interval that is not cut off. */
static double z_of(const struct chi_insight_row *row)
{
	double half = row->low > 0 ? (double)row->score - row->low
				   : (double)row->high - (double)row->score;
	return ((double)row->score - (double)row->expected) / (half / 1.959964);
}

/* The mean of all games is what is expected of them, as that is fitted on them. The deviation is
 * known to 1 / sqrt(2 n): four times that are allowed, which one seed of 10,000 exceeds. */
CASE(results_exchanged_at_random_are_as_far_off_as_luck_makes_them)
{
	const size_t rounds = seed_rounds(2);
	double n = 0;
	double sum = 0;
	double squares = 0;
	for (size_t i = 0; i < rounds; i++) {
		exchange_results();
		apart_store(STORE, made, GAMES);
		struct chi_insight *insight = ask_apart(1000);
		const struct chi_insight_result *result = chi_insight_rows(insight);
		assert_int_equal(result->n, GROUPS);
		for (size_t j = 0; j < result->n; j++) {
			double z = z_of(&result->rows[j]);
			n++;
			sum += z;
			squares += z * z;
			double chance = erfc(fabs(z) / sqrt(2)) * CHI_INSIGHT_CHANCE;
			assert_true(fabs(chance - result->rows[j].chance) <
				    0.005 * CHI_INSIGHT_CHANCE);
		}
		close_apart(insight);
	}
	double mean = sum / n;
	double deviation = sqrt(squares / n - mean * mean);
	print_message("# figures: mean %.3f, deviation %.3f of %.0f\n", mean, deviation, n);
	assert_true(fabs(mean) <= 0.05);
	assert_true(fabs(deviation - 1) <= fmax(0.05, 4 / sqrt(2 * n)));
}

/* ---- Loops -------------------------------------------------------------------------------- */

static const struct chi_expect *fitted; /* on the world */
static unsigned since;			/* the filter: a year; 0: none */

static bool expect(const struct insight_world *in, uint32_t number, double *e, double *variance)
{
	const struct chi_game_head *head = &in->heads[number];
	return chi_expect_of(fitted, head->white_elo, head->black_elo, head->result, e, variance);
}

static bool counts(const struct insight_world *in, uint32_t number)
{
	double e;
	double variance;
	return in->heads[number].year >= since && expect(in, number, &e, &variance);
}

static void fill_row(struct slow_position *position)
{
	struct chi_insight_row *row = &position->row;
	double n = (double)position->n;
	double points = 0;
	double expected = 0;
	double variances = 0;
	for (size_t i = 0; i < position->n; i++) {
		double e = 0;
		double variance = 0;
		expect(&world, position->games[i], &e, &variance);
		e = (double)(float)e; /* kept with fewer digits, which may change the order */
		points += chi_expect_points(world.heads[position->games[i]].result);
		expected += e;
		variances += fitted->spread * e * (1 - e);
	}
	double deviation = sqrt(variances);
	double half = 1.959964 * deviation / n;
	row->games = position->n;
	row->score = (uint32_t)lround(points / n * 10000);
	row->expected = (uint32_t)lround(expected / n * 10000);
	row->low = (uint32_t)lround(fmax(0, points / n - half) * 10000);
	row->high = (uint32_t)lround(fmin(1, points / n + half) * 10000);
	position->chance = erfc(fabs(points - expected) / deviation / sqrt(2));
	position->rank = -fabs((points - expected) / deviation);
}

static size_t compare_all(const struct chi_insight_spec *spec, uint64_t steps)
{
	struct chi_insight *insight = insight_world_ask(&world, spec, steps);
	struct slow_survey survey;
	uint64_t rated = 0;
	fitted = &insight->expect;
	for (uint32_t number = 1; number <= world.n; number++) {
		rated += world.keys[number] != NULL && counts(&world, number);
	}
	assert_int_equal(chi_insight_rows(insight)->games, rated);
	slow_collect(&survey, &world, counts, spec->min_games);
	for (size_t i = 0; i < survey.n; i++) {
		fill_row(&survey.at[i]);
	}
	slow_judge(&survey);
	size_t n = slow_compare(&survey, spec, chi_insight_rows(insight));
	slow_free(&survey);
	chi_insight_close(insight);
	return n;
}

CASE(loops_over_random_games_find_the_same)
{
	size_t n = 0;
	for (unsigned round = 0; round < 8; round++) {
		char *text = insight_world_random(20 + help_below(300));
		insight_world_open(&world, text);
		if (round % 4 == 0) { /* without the first half, about */
			*strstr(text + strlen(text) / 2, "[White ") = '\0';
			insight_world_subtract(&world, text);
		}
		free(text);
		for (unsigned i = 0; i < 6; i++) {
			since = i % 2 == 0 ? 0 : 2003;
			const struct chi_insight_spec spec = {
				CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_PERFORMANCE,
				.filter = since != 0 ? "since 2003" : "",
				.min_games = 2 + help_below(6), .fdr = i < 3 ? 1000 : 300};
			n += compare_all(&spec, 1 + help_below(3));
		}
		insight_world_close(&world);
	}
	print_message("# %zu findings\n", n);
	assert_true(n > 100);
}

CASE(steps_and_limits_change_nothing_else)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	insight_world_open(&world, text);
	free(text);
	struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_PERFORMANCE,
					.min_games = 3, .fdr = 1000};
	struct chi_insight *once = insight_world_ask(&world, &spec, UINT64_MAX);
	struct chi_insight *often = insight_world_ask(&world, &spec, 1);
	struct chi_insight_result first = *chi_insight_rows(once);
	insight_world_same(&first, chi_insight_rows(often));
	assert_true(first.n > 5);
	chi_insight_close(often);
	often = insight_world_ask(&world, &spec, 1000);
	insight_world_same(&first, chi_insight_rows(often));
	chi_insight_close(often);
	spec.limit = 5;
	first.n = 5;
	often = insight_world_ask(&world, &spec, 7);
	insight_world_same(&first, chi_insight_rows(often));
	chi_insight_close(often);
	chi_insight_close(once);
	/* Closed on the way. */
	for (unsigned calls = 0; calls < 30; calls++) {
		ok(chi_insight_open(world.read, &spec, &often, &fault));
		for (unsigned i = 0; i < calls; i++) {
			assert_true(chi_insight_step(often, 3, &fault) >= 0);
		}
		chi_insight_close(often);
	}
	insight_world_close(&world);
}

CASE(store_without_games_has_no_findings)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT,
					      .kind = CHI_INSIGHT_PERFORMANCE, .min_games = 1,
					      .fdr = 1000};
	char *text = insight_world_random(100);
	insight_world_counts(&world, text);
	free(text);
	struct chi_insight *insight = insight_world_ask(&world, &spec, 1);
	assert_int_equal(chi_insight_rows(insight)->n, 0);
	assert_int_equal(chi_insight_rows(insight)->games, 0);
	chi_insight_close(insight);
	insight_world_close(&world);
}

CASES_MAIN(NULL, help_teardown)
