/* SPDX-License-Identifier: MIT */
/* Games by what they are, and positions by what is on the board: the same as loops count. */
#include "tests/search/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chess/endgame/endgame.h"
#include "chess/pattern/pattern.h"
#include "chess/sieve.h"
#include "search/stats.h"
#include "store/ratings/expect.h"

#define GAMES 900

static struct search_world world;

static struct chi_stats *run(uint8_t by, const char *filter, uint64_t limit)
{
	struct chi_stats *stats;
	const struct chi_stats_spec spec = {.by = by, .filter = filter, .limit = limit};
	int rc = CHI_OK;
	ok(chi_stats_open(world.read, &spec, &stats, &fault));
	while (rc == CHI_OK) {
		rc = chi_stats_step(stats, help_below(30));
	}
	assert_int_equal(rc, CHI_NONE);
	return stats;
}

/* What a game is counted under. */
static uint32_t value_of(uint8_t by, const struct chi_game_head *h)
{
	switch (by) {
	case CHI_STATS_YEAR:
		return h->year;
	case CHI_STATS_RATING:
		return h->white_elo != 0 && h->black_elo != 0
			       ? (h->white_elo + h->black_elo) / 2 / 100 * 100
			       : 0;
	case CHI_STATS_ECO:
		return h->eco;
	case CHI_STATS_OPENING:
		return h->eco == 0 ? 0 : 1 + (h->eco - 1u) / 100;
	case CHI_STATS_LENGTH:
		return (h->plies + 1u) / 2;
	case CHI_STATS_SPEED:
		return h->speed;
	case CHI_STATS_EVENT:
		return h->event;
	case CHI_STATS_SITE:
		return h->site;
	case CHI_STATS_SOURCE:
		return h->source;
	case CHI_STATS_BLACK:
		return h->black;
	default:
		return h->white;
	}
}

/* What the ratings of a group's games say, by what is fitted on all games there are. */
struct rated {
	uint64_t n;
	double points;
	double expected;
	double variance;
};

static void fit_world(struct chi_expect *expect)
{
	*expect = (struct chi_expect){0};
	for (uint32_t number = 1; number <= world.n; number++) {
		const struct chi_game_head *h = &world.games[number].head;
		if (world.games[number].there) {
			(void)chi_expect_add(expect, h->white_elo, h->black_elo, h->result);
		}
	}
	chi_expect_fit(expect);
}

static void rate_game(const struct chi_expect *expect, const struct chi_game_head *h, bool turn,
		      struct rated *sums)
{
	double points;
	double variance;
	if (chi_expect_of(expect, h->white_elo, h->black_elo, h->result, &points, &variance)) {
		double scored = chi_expect_points(h->result);
		sums->n++;
		sums->points += turn ? 1 - scored : scored;
		sums->expected += turn ? 1 - points : points;
		sums->variance += variance;
	}
}

static void check_rated(const struct chi_stats_row *row, const struct rated *sums)
{
	assert_int_equal(row->rated, sums->n);
	if (sums->n == 0) {
		assert_int_equal(row->expected, 0);
		assert_int_equal(row->beyond, 0);
		return;
	}
	double z = (sums->points - sums->expected) / sqrt(sums->variance);
	assert_true(fabs(row->expected - 1e4 * sums->expected / (double)sums->n) < 0.51);
	assert_true(fabs(row->beyond - 100 * z) < 0.51);
}

static void check_games(uint8_t by, const char *filter)
{
	struct chi_expect expect;
	fit_world(&expect);
	static struct chi_terms terms;
	size_t n;
	uint64_t rest = 0;
	struct chi_stats *stats = run(by, filter, 0);
	const struct chi_stats_row *rows = chi_stats_rows(stats, &n);
	ok(chi_terms_parse(filter, strlen(filter), &terms, &fault));
	for (size_t i = 0; i < n; i++) {
		struct chi_counts found = {0};
		struct rated sums = {0};
		uint64_t *of[] = {&found.white, &found.draws, &found.black, &found.other};
		assert_true(i == 0 || rows[i].value > rows[i - 1].value);
		for (uint32_t number = 1; number <= world.n; number++) {
			const struct chi_game_head *h = &world.games[number].head;
			bool is = value_of(by, h) == rows[i].value;
			bool both = by == CHI_STATS_PLAYER && h->black == rows[i].value;
			/* Who had Black won what White lost. */
			bool turn = h->result <= CHI_RESULT_BLACK &&
				    (by == CHI_STATS_BLACK || (both && !is));
			if ((is || both) && world_fits(&world.games[number], &terms)) {
				rate_game(&expect, h, by == CHI_STATS_BLACK || (both && !is),
					  &sums);
				++*of[turn ? CHI_RESULT_BLACK - h->result : h->result];
				rest += by != CHI_STATS_PLAYER;
			}
		}
		assert_memory_equal(&rows[i].counts, &found, sizeof(found));
		check_rated(&rows[i], &sums);
	}
	for (uint32_t number = 1; number <= world.n && by != CHI_STATS_PLAYER; number++) {
		rest -= world_fits(&world.games[number], &terms);
	}
	assert_int_equal(rest, 0);
	chi_stats_close(stats);
}

CASE(test_games)
{
	char filter[2048];
	for (uint8_t by = 0; by < CHI_STATS_PIECES; by++) {
		for (unsigned round = 0; round < 6; round++) {
			world_filter(&world, filter, sizeof(filter));
			check_games(by, round == 0 ? "" : filter);
		}
	}
}

static int compare(const void *a, const void *b)
{
	return help_key_compare(a, b);
}

/* All positions of all games, each once. */
static size_t all_keys(struct chi_key **out)
{
	struct chi_key *keys =
		malloc((size_t)(world.n + 1) * (WORLD_PLIES + 1) * sizeof(struct chi_key));
	size_t n = 0;
	size_t kept = 0;
	assert_non_null(keys);
	for (uint32_t number = 1; number <= world.n; number++) {
		const struct world_game *game = &world.games[number];
		for (size_t i = 0; game->there && i <= game->plies; i++) {
			keys[n++] = game->keys[i];
		}
	}
	qsort(keys, n, sizeof(keys[0]), compare);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || memcmp(&keys[kept - 1], &keys[i], sizeof(keys[i])) != 0) {
			keys[kept++] = keys[i];
		}
	}
	*out = keys;
	return kept;
}

static bool is_in(uint8_t by, const struct chi_stats_row *row, const struct chi_pattern *pattern,
		  const struct chi_key *key)
{
	return by == CHI_STATS_PIECES	 ? chi_sieve_count(key->bytes, key->len) == row->value
	       : by == CHI_STATS_ENDGAME ? chi_endgame_family_of(key->bytes) == row->value
					 : chi_pattern_matches(pattern, key->bytes);
}

CASE(test_positions)
{
	struct chi_key *keys;
	size_t n_keys = all_keys(&keys);
	for (uint8_t by = CHI_STATS_PIECES; by < CHI_STATS_KINDS; by++) {
		struct chi_stats *stats = run(by, "", 0);
		size_t n;
		uint64_t sum = 0;
		const struct chi_stats_row *rows = chi_stats_rows(stats, &n);
		for (size_t i = 0; i < n; i++) {
			struct chi_pattern pattern;
			struct chi_pattern_spec spec = {0};
			uint64_t found = 0;
			spec.material = by == CHI_STATS_MATERIAL ? rows[i].text : NULL;
			ok(chi_pattern_compile(&spec, &pattern, &fault));
			for (size_t k = 0; i < 40 && k < n_keys; k++) {
				found += is_in(by, &rows[i], &pattern, &keys[k]);
			}
			assert_true(i >= 40 || rows[i].positions == found);
			sum += rows[i].positions;
		}
		assert_int_equal(sum, n_keys);
		chi_stats_close(stats);
	}
	free(keys);
}

CASE(test_most)
{
	size_t n;
	struct chi_stats *stats = run(CHI_STATS_PLAYER, "", 3);
	const struct chi_stats_row *rows = chi_stats_rows(stats, &n);
	uint64_t before = UINT64_MAX;
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		const struct chi_counts *c = &rows[i].counts;
		uint64_t games = c->white + c->draws + c->black + c->other;
		assert_true(games <= before);
		before = games;
	}
	chi_stats_close(stats);
}

CASE(test_refused)
{
	struct chi_stats *stats;
	struct chi_stats_spec spec = {.by = CHI_STATS_KINDS};
	assert_int_equal(chi_stats_open(world.read, &spec, &stats, &fault), -CHI_EINVAL);
	spec = (struct chi_stats_spec){.by = CHI_STATS_PIECES, .filter = "eco B"};
	assert_int_equal(chi_stats_open(world.read, &spec, &stats, &fault), -CHI_EINVAL);
	spec.by = CHI_STATS_ECO;
	spec.filter = "eco ";
	assert_int_equal(chi_stats_open(world.read, &spec, &stats, &fault), -CHI_ESYNTAX);
}

int main(void)
{
	return world_run(&world, GAMES);
}
