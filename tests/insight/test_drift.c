/* SPDX-License-Identifier: MIT */
/*
 * drift: a planted change of share and one of results are found; years that say nothing of either
 * give findings in few runs, also if the results of all games changed; and loops over random games
 * find the same.
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

#define GROUPS	   16
#define GAMES_EACH 60
#define GAMES	   (GROUPS * GAMES_EACH)
#define SPLIT	   2000
#define STORE	   "apart"

static struct apart_game made[GAMES];
static struct insight_world world;

/* In later years White scores more, whatever the position. */
static void make_games(void)
{
	for (unsigned i = 0; i < GAMES; i++) {
		struct apart_game *game = &made[i];
		game->group = i / GAMES_EACH;
		game->year = SPLIT - 10 + help_below(20);
		game->elo[0] = 2500;
		game->elo[1] = help_below(10) == 0 ? 0 : 2400 + (int)help_below(200);
		game->points = apart_points(game->elo, game->year >= SPLIT ? 0.1 : 0);
	}
}

static struct chi_insight_spec spec_of(uint32_t fdr)
{
	return (struct chi_insight_spec){CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_DRIFT,
					 .min_games = 30, .fdr = fdr, .split = SPLIT};
}

/* Of the store of games apart; `world` has no more than its snapshot. */
static struct chi_insight *ask_apart(const struct chi_insight_spec *spec)
{
	world.store = help_open(help_path(STORE), CHI_STORE_READ);
	ok(chi_read_begin(world.store, &world.read));
	return insight_world_ask(&world, spec, 1000);
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

/* Group 0 is new; of group 1 the second half of the games is later, and lost. */
static void plant_changes(void)
{
	make_games();
	for (unsigned i = 0; i < 2 * GAMES_EACH; i++) {
		bool later = i % 2 == 1 || made[i].group == 0;
		made[i].year = later ? SPLIT : SPLIT - 1;
		made[i].elo[1] = 2500;
		if (made[i].group == 1) {
			made[i].points = later ? 0 : 2;
		}
	}
}

CASE(planted_changes_are_found)
{
	plant_changes();
	apart_store(STORE, made, GAMES);
	struct chi_insight_spec spec = spec_of(50);
	struct chi_insight *insight = ask_apart(&spec);
	const struct chi_insight_result *result = chi_insight_rows(insight);
	uint64_t before = 0;
	for (size_t i = 0; i < GAMES; i++) {
		before += made[i].year < SPLIT;
	}
	assert_int_equal(result->tested, GROUPS);
	assert_int_equal(result->games, GAMES);
	assert_int_equal(result->before, before);
	const struct chi_insight_row *share = row_of_group(result, 0);
	const struct chi_insight_row *score = row_of_group(result, 1);
	assert_true(result->n < 10);
	assert_non_null(share);
	assert_int_equal(share->games, GAMES_EACH);
	assert_int_equal(share->others, 0);
	assert_int_equal(share->followed, 2); /* before the move and after it */
	assert_int_equal(share->expected, CHI_INSIGHT_UNKNOWN);
	assert_int_equal(share->score, CHI_INSIGHT_UNKNOWN);
	assert_non_null(score);
	assert_int_equal(score->games, GAMES_EACH / 2);
	assert_int_equal(score->others, GAMES_EACH / 2);
	assert_int_equal(score->score, 0);
	assert_true(score->expected > 8000);
	assert_true(share->chance <= share->adjusted && share->adjusted < 1000000);
	/* Games of the filter alone. */
	spec.filter = "since 2000";
	close_apart(insight);
	insight = ask_apart(&spec);
	result = chi_insight_rows(insight);
	assert_int_equal(result->n, 0);
	assert_int_equal(result->tested, 0);
	assert_int_equal(result->games, GAMES - before);
	assert_int_equal(result->before, 0);
	close_apart(insight);
}

/* Four standard deviations above one run in twenty. */
CASE(years_at_random_are_no_finding)
{
	const struct chi_insight_spec spec = spec_of(50);
	const size_t rounds = seed_rounds(30);
	size_t runs = 0;
	for (size_t i = 0; i < rounds; i++) {
		make_games();
		apart_store(STORE, made, GAMES);
		struct chi_insight *insight = ask_apart(&spec);
		assert_int_equal(chi_insight_rows(insight)->tested, GROUPS);
		runs += chi_insight_rows(insight)->n > 0;
		close_apart(insight);
	}
	print_message("# figures: %zu of %zu runs have a finding\n", runs, rounds);
	assert_true((double)runs <= 0.05 * (double)rounds + 4 * sqrt(0.0475 * (double)rounds));
}

CASE(year_of_the_split_must_be_given)
{
	struct chi_insight_spec spec = spec_of(50);
	struct chi_insight *insight;
	spec.split = 0;
	world.store = help_open(help_path(STORE), CHI_STORE_READ);
	ok(chi_read_begin(world.store, &world.read));
	assert_int_equal(chi_insight_open(world.read, &spec, &insight, &fault), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "split"));
	chi_read_end(world.read);
	chi_dir_close(world.store);
}

/* ---- Loops -------------------------------------------------------------------------------- */

static const struct chi_expect *fitted; /* on the world */
static unsigned since;			/* the filter: a year; 0: none */
static unsigned split;

struct loop_span {
	double n;
	double rated;
	double points;
	double beyond;
	double variance;
};

static bool counts(const struct insight_world *in, uint32_t number)
{
	return in->heads[number].year != 0 && in->heads[number].year >= since;
}

static void add_game(struct loop_span spans[2], uint32_t number)
{
	const struct chi_game_head *head = &world.heads[number];
	struct loop_span *span = &spans[head->year >= split];
	double e;
	double variance;
	span->n++;
	if (chi_expect_of(fitted, head->white_elo, head->black_elo, head->result, &e, &variance)) {
		e = (double)(float)e; /* kept with fewer digits, which may change the order */
		span->rated++;
		span->points += chi_expect_points(head->result);
		span->beyond += chi_expect_points(head->result) - e;
		span->variance += fitted->spread * e * (1 - e);
	}
}

static double term(double n, double expected)
{
	return n > 0 ? n * log(n / expected) : 0;
}

static double share_chance(const struct loop_span here[2], const struct loop_span all[2])
{
	double n = here[0].n + here[1].n;
	double games = all[0].n + all[1].n;
	double half = 0;
	for (int i = 0; i < 2; i++) {
		half += term(here[i].n, n * all[i].n / games);
		half += term(all[i].n - here[i].n, (games - n) * all[i].n / games);
	}
	return half > 0 ? erfc(sqrt(half)) : 1;
}

/* Of what is beyond ratings at the position, less all games', and of its variance. */
static double score_chance(const struct loop_span here[2], const struct loop_span all[2],
			   struct chi_insight_row *row)
{
	if (here[0].rated < 20 || here[1].rated < 20) {
		row->score = row->expected = CHI_INSIGHT_UNKNOWN;
		return 1;
	}
	double off[2];
	double variance = 0;
	for (int i = 0; i < 2; i++) {
		double others = all[i].rated - here[i].rated;
		off[i] = here[i].beyond / here[i].rated - all[i].beyond / all[i].rated;
		/* The same said of the others: a share of the difference to them. */
		double part = others / all[i].rated;
		variance += part * part * here[i].variance / (here[i].rated * here[i].rated);
		variance += (all[i].variance - here[i].variance) / (all[i].rated * all[i].rated);
	}
	double mean = here[1].points / here[1].rated;
	double half = 1.959964 * sqrt(variance);
	row->score = (uint32_t)lround(mean * 10000);
	row->expected = (uint32_t)lround(fmin(1, fmax(0, mean - off[1] + off[0])) * 10000);
	row->low = (int32_t)lround(fmax(0, mean - half) * 10000);
	row->high = (int32_t)lround(fmin(1, mean + half) * 10000);
	return erfc(fabs(off[1] - off[0]) / sqrt(2 * variance));
}

static void fill_row(struct slow_position *position, const struct loop_span all[2])
{
	struct loop_span here[2] = {{.n = 0}, {.n = 0}};
	for (size_t i = 0; i < position->n; i++) {
		add_game(here, position->games[i]);
	}
	double share = share_chance(here, all);
	double score = score_chance(here, all, &position->row);
	position->row.others = (uint64_t)here[0].n;
	position->row.games = (uint64_t)here[1].n;
	position->chance = fmin(1, 2 * fmin(share, score));
	position->chance = position->chance < 5e-10 ? 0 : position->chance;
	position->rank = -fabs(
		log((here[1].n + 0.5) / (all[1].n + 1) / ((here[0].n + 0.5) / (all[0].n + 1))));
}

static size_t compare_all(const struct chi_insight_spec *spec, uint64_t steps)
{
	struct chi_insight *insight = insight_world_ask(&world, spec, steps);
	struct slow_survey survey;
	struct loop_span all[2] = {{.n = 0}, {.n = 0}};
	fitted = &insight->expect;
	for (uint32_t number = 1; number <= world.n; number++) {
		if (world.keys[number] != NULL && counts(&world, number)) {
			add_game(all, number);
		}
	}
	const struct chi_insight_result *result = chi_insight_rows(insight);
	assert_int_equal(result->before, (uint64_t)all[0].n);
	assert_int_equal(result->games, (uint64_t)(all[0].n + all[1].n));
	size_t n = 0;
	if (all[0].n > 0 && all[1].n > 0) {
		slow_collect(&survey, &world, counts, spec->min_games);
		for (size_t i = 0; i < survey.n; i++) {
			fill_row(&survey.at[i], all);
		}
		slow_judge(&survey);
		n = slow_compare(&survey, spec, result);
		slow_free(&survey);
	}
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
			split = 2002 + help_below(5);
			const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT,
							      .kind = CHI_INSIGHT_DRIFT,
							      .filter = since != 0 ? "since 2003"
										   : "",
							      .min_games = 2 + help_below(6),
							      .split = split,
							      .fdr = i < 3 ? 1000 : 300};
			n += compare_all(&spec, 1 + help_below(3));
		}
		insight_world_close(&world);
	}
	print_message("# %zu findings\n", n);
	assert_true(n > 50);
}

CASE(steps_and_limits_change_nothing_else)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	insight_world_open(&world, text);
	free(text);
	struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = CHI_INSIGHT_DRIFT,
					.min_games = 3, .fdr = 1000, .split = 2005};
	struct chi_insight *once = insight_world_ask(&world, &spec, UINT64_MAX);
	struct chi_insight *often = insight_world_ask(&world, &spec, 1);
	struct chi_insight_result first = *chi_insight_rows(once);
	insight_world_same(&first, chi_insight_rows(often));
	assert_true(first.n > 3);
	chi_insight_close(often);
	often = insight_world_ask(&world, &spec, 1000);
	insight_world_same(&first, chi_insight_rows(often));
	chi_insight_close(often);
	spec.limit = 2;
	first.n = 2;
	often = insight_world_ask(&world, &spec, 7);
	insight_world_same(&first, chi_insight_rows(often));
	chi_insight_close(often);
	chi_insight_close(once);
	insight_world_close(&world);
}

CASES_MAIN(NULL, help_teardown)
