/* SPDX-License-Identifier: MIT */
#include "tests/insight/slow.h"

#include <stdlib.h>
#include <string.h>

#include "insight/tested.h"

static bool same_games(const struct slow_position *a, const struct slow_position *b)
{
	return a->n == b->n && memcmp(a->games, b->games, a->n * sizeof(a->games[0])) == 0;
}

static void add_position(struct slow_survey *survey, const struct slow_position *position)
{
	for (size_t i = 0; i < survey->n; i++) {
		struct slow_position *one = &survey->at[i];
		if (same_games(one, position)) {
			if (position->ply < one->ply) {
				one->ply = position->ply;
				one->key = position->key;
			}
			one->positions++;
			free(position->games);
			return;
		}
	}
	survey->at[survey->n++] = *position;
}

void slow_collect(struct slow_survey *survey, const struct insight_world *world,
		  slow_counts *counts, size_t least)
{
	size_t len;
	*survey = (struct slow_survey){calloc(world->n_places + 1, sizeof(survey->at[0])), 0};
	for (size_t i = 0; i < world->n_places; i += len) {
		const struct insight_place *places =
			insight_world_find(world, &world->places[i].key, &len);
		struct slow_position position = {.key = places[0].key, .positions = 1};
		position.games = calloc(len, sizeof(position.games[0]));
		for (size_t j = 0; j < len; j++) {
			if (counts(world, places[j].game)) {
				position.ply = position.n == 0 ? places[j].ply : position.ply;
				position.games[position.n++] = places[j].game;
			}
		}
		if (position.n >= least) {
			add_position(survey, &position);
		} else {
			free(position.games);
		}
	}
}

/* Of equal ones any order would do: this is the one that the code has. */
static uint64_t hash_games(const struct slow_position *position)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < position->n; i++) {
		hash += insight_game_hash(position->games[i]);
	}
	return hash;
}

static int compare_positions(const void *a, const void *b)
{
	const struct slow_position *x = a;
	const struct slow_position *y = b;
	if (x->chance < y->chance || x->chance > y->chance) {
		return x->chance < y->chance ? -1 : 1;
	}
	if (x->rank < y->rank || x->rank > y->rank) {
		return x->rank < y->rank ? -1 : 1;
	}
	return hash_games(x) < hash_games(y) ? -1 : 1;
}

static bool has_game(const struct slow_position *position, uint32_t game)
{
	for (size_t i = 0; i < position->n; i++) {
		if (position->games[i] == game) {
			return true;
		}
	}
	return false;
}

static bool are_alike(const struct slow_position *a, const struct slow_position *b)
{
	size_t both = 0;
	for (size_t i = 0; i < a->n; i++) {
		both += has_game(b, a->games[i]);
	}
	return 10 * both >= 9 * (a->n < b->n ? b->n : a->n);
}

void slow_judge(struct slow_survey *survey)
{
	struct slow_position *at = survey->at;
	qsort(at, survey->n, sizeof(at[0]), compare_positions);
	for (size_t i = 0; i < survey->n; i++) {
		at[i].adjusted = 1;
		for (size_t j = i; j < survey->n; j++) {
			double one = at[j].chance * (double)survey->n / (double)(j + 1);
			at[i].adjusted = one < at[i].adjusted ? one : at[i].adjusted;
		}
	}
}

/* Of the first n, which are found. */
static void join_positions(struct slow_position *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; !at[i].is_part && j < n; j++) {
			if (!at[j].is_part && are_alike(&at[i], &at[j])) {
				at[j].is_part = true;
				at[i].positions += at[j].positions;
			}
		}
	}
}

static void assert_near(double a, double b, double off)
{
	assert_true(a - b <= off && b - a <= off);
}

static void assert_same_row(const struct slow_position *slow, const struct chi_insight_row *row)
{
	const struct chi_insight_row *made = &slow->row;
	assert_memory_equal(row->key.bytes, slow->key.bytes, CHI_KEY_MAX);
	assert_int_equal(row->game, slow->games[0]);
	assert_int_equal(row->ply, slow->ply);
	assert_int_equal(row->games, made->games);
	assert_near(row->score, made->score, 1);
	assert_near(row->expected, made->expected, 1);
	assert_near(row->low, made->low, 1);
	assert_near(row->high, made->high, 1);
	assert_near(row->chance, slow->chance * CHI_INSIGHT_CHANCE, 1);
	assert_near(row->adjusted, slow->adjusted * CHI_INSIGHT_CHANCE, 1);
}

size_t slow_compare(const struct slow_survey *survey, const struct chi_insight_spec *spec,
		    const struct chi_insight_result *result)
{
	bool drift = spec->kind == CHI_INSIGHT_DRIFT;
	size_t found = 0;
	size_t n = 0;
	while (found < survey->n && survey->at[found].adjusted <= spec->fdr / 1000.0) {
		found++;
	}
	if (spec->fdr < 1000) {
		join_positions(survey->at, found);
	}
	assert_int_equal(result->tested, survey->n);
	for (size_t i = 0; i < found; i++) {
		if (!survey->at[i].is_part) {
			assert_true(n < result->n);
			const struct chi_insight_row *row = &result->rows[n++];
			assert_same_row(&survey->at[i], row);
			assert_int_equal(drift ? row->followed : row->others,
					 survey->at[i].positions);
			assert_true(!drift || row->others == survey->at[i].row.others);
		}
	}
	assert_int_equal(result->n, n);
	return n;
}

void slow_free(struct slow_survey *survey)
{
	for (size_t i = 0; i < survey->n; i++) {
		free(survey->at[i].games);
	}
	free(survey->at);
}
