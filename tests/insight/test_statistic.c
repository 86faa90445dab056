/* SPDX-License-Identifier: MIT */
/*
 * The performance statistic of a store: sums over its games, worked out here in doubles, say the
 * same, however the games came and went; and verify finds one that does not follow from them.
 */
#include "tests/store/help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/txn/txn.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"
#include "tests/import/session.h"
#include "tests/insight/world.h"

#define STORE "insight"

static struct insight_world world;

static struct chi_info info_of(void)
{
	struct chi_info info;
	ok(chi_dir_info(world.store, &info));
	return info;
}

static void create(void)
{
	help_remove(help_path(STORE));
	ok(chi_dir_create(help_path(STORE), CHI_STATISTIC_PERFORMANCE, CHI_KEEP_GAMES, &fault));
}

/* z of a position's games in hundredths; -1,000,000: too few have ratings. */
static double statistic_of(const struct chi_expectation *expected, const struct insight_place *at,
			   size_t n)
{
	double beyond = 0;
	double variance = 0;
	unsigned rated = 0;
	for (size_t i = 0; i < n; i++) {
		const struct chi_game_head *head = &world.heads[at[i].game];
		if (head->white_elo == 0 || head->black_elo == 0 ||
		    head->result == CHI_RESULT_OTHER) {
			continue;
		}
		double d = (double)head->white_elo - head->black_elo;
		double e = 1 / (1 + pow(10, -(d * 1000 + (double)expected->move) /
						    (double)expected->scale));
		beyond += (head->result == CHI_RESULT_WHITE  ? 1
			   : head->result == CHI_RESULT_DRAW ? 0.5
							     : 0) -
			  e;
		variance += (double)expected->spread / 1000 * e * (1 - e);
		rated++;
	}
	return rated < 5 ? -1e6 : 12800 + 100 * beyond / sqrt(variance);
}

/* Of all positions; how many have one. */
static unsigned compare(void)
{
	const struct chi_info info = info_of();
	unsigned known = 0;
	for (size_t i = 0; i < world.n_places;) {
		struct chi_row row;
		const struct chi_key *key = &world.places[i].key;
		size_t n;
		const struct insight_place *at = insight_world_find(&world, key, &n);
		double wanted = statistic_of(&info.expected, at, n);
		ok(help_get(world.store, key, &row));
		if (wanted < 0) {
			assert_int_equal(row.chi2, CHI_CHI2_UNKNOWN);
		} else {
			/* Expected points are of 16 bits there. */
			assert_true(fabs(row.chi2 - wanted) <= 0.75);
			known++;
		}
		i += n;
	}
	assert_int_equal(info.known, known);
	struct chi_verify_result result;
	ok(help_verify(world.store, &result));
	return known;
}

static void rescore(void)
{
	uint64_t changed;
	insight_world_close(&world);
	struct chi_dir *store = help_open(help_path(STORE), CHI_STORE_WRITE);
	ok(help_rescore(store, NULL, &changed, &fault));
	ok(help_rescore(store, NULL, &changed, &fault));
	assert_int_equal(changed, 0);
	chi_dir_close(store);
	insight_world_load(&world);
}

CASE(follows_games_that_come_and_go)
{
	unsigned known = 0;
	for (unsigned round = 0; round < 8; round++) {
		char *text = insight_world_random(100 + help_below(400));
		char *middle = strstr(text + strlen(text) / (2 + round % 3), "[White ");
		char *first = strndup(text, (size_t)(middle - text));
		create();
		session_add(STORE, first);
		insight_world_load(&world);
		known += compare();
		insight_world_close(&world);
		session_add(STORE, middle);
		insight_world_load(&world);
		known += compare();
		insight_world_subtract(&world, first);
		known += compare();
		rescore();
		known += compare();
		insight_world_close(&world);
		free(first);
		free(text);
	}
	print_message("# %u known\n", known);
	assert_true(known > 300);
}

/* Expectations stay until twice as many games are rated. */
CASE(is_fitted_again_when_games_have_doubled)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	char *at = strstr(text + strlen(text) / 10, "\n[Event ");
	char *few = strndup(text, (size_t)(at - text));
	create();
	session_add(STORE, few);
	insight_world_load(&world);
	uint64_t games = info_of().expected.games;
	assert_true(games > 5 && games < 100);
	insight_world_close(&world);
	session_add(STORE, at);
	insight_world_load(&world);
	assert_true(info_of().expected.games > 2 * games);
	assert_true(compare() > 50);
	insight_world_subtract(&world, few);
	assert_true(info_of().expected.games > 2 * games);
	compare();
	insight_world_close(&world);
	free(few);
	free(text);
}

/* A put brings no games; one that says what the statistic is is refused. */
CASE(puts_leave_it)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	create();
	session_add(STORE, text);
	struct chi_dir *store = help_open(help_path(STORE), CHI_STORE_WRITE);
	struct chi_row row;
	struct chi_row after;
	const struct chi_key start =
		help_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
	ok(help_get(store, &start, &row));
	assert_int_not_equal(row.chi2, CHI_CHI2_UNKNOWN);
	struct chi_put_entry put = {.key = start, .parts = CHI_PUT_NOTE};
	put.record.note = "begin here";
	put.record.n_note = 10;
	help_put(store, &put);
	ok(help_get(store, &start, &after));
	assert_int_equal(after.chi2, row.chi2);
	assert_int_equal(chi_put_check(&(struct chi_put_entry){.key = start,
							       .parts = CHI_PUT_CHI2,
							       .record.chi2 = 5},
				       CHI_STATISTIC_PERFORMANCE, &fault),
			 -CHI_EINVAL);
	chi_dir_close(store);
	free(text);
}

/* The control: what was computed with another expectation is found. */
CASE(verify_finds_what_does_not_follow)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	create();
	session_add(STORE, text);
	free(text);
	struct chi_dir *store = help_open(help_path(STORE), CHI_STORE_WRITE);
	struct chi_verify_result result;
	ok(help_verify(store, &result));
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	write->state.expected.move += 300000;
	write->changed = true;
	ok(chi_write_commit(write, &fault));
	assert_int_equal(help_verify(store, &result), -CHI_ECORRUPT);
	assert_true(result.errors > 10);
	chi_dir_close(store);
}

CASE(needs_the_games)
{
	help_remove(help_path(STORE));
	assert_int_equal(chi_dir_create(help_path(STORE), CHI_STATISTIC_PERFORMANCE,
					CHI_KEEP_COUNTS, &fault),
			 -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "games"));
}

CASES_MAIN(NULL, help_teardown)
