/* SPDX-License-Identifier: MIT */
/*
 * Where results are other than ratings let expect. Of the rated games of a position, the sum of
 * White's results less those expected, by its standard deviation, is one draw of a normal
 * distribution if the position makes no difference.
 */
#include "insight/findings.h"

#include <math.h>

#define Z_95 1.959964

/* Of a position's games that count. */
struct performance_sums {
	const struct insight_survey *survey;
	uint32_t first; /* number of the first; 0: none */
	uint64_t games_hash;
	double n;
	double points;
	double expected;
	double variance;
};

static int add_performance(void *context, uint32_t number)
{
	struct performance_sums *sums = context;
	const struct insight_game *game = &sums->survey->walk.games[number];
	double e = (double)game->expected;
	if (insight_survey_is_rated(sums->survey, number)) {
		sums->first = sums->first == 0 ? number : sums->first;
		sums->games_hash += insight_game_hash(number);
		sums->n++;
		sums->points += chi_expect_points(game->result);
		sums->expected += e;
		sums->variance += sums->survey->insight.expect.spread * e * (1 - e);
	}
	return CHI_OK;
}

static int test_performance(struct chi_insight *insight, const struct chi_row *at, uint64_t *steps)
{
	const struct chi_key *key = &at->key;
	struct insight_survey *survey = (struct insight_survey *)insight;
	struct performance_sums sums = {.survey = survey};
	int rc = insight_walk_games(insight, key, add_performance, &sums, steps);
	if (rc != CHI_OK || sums.n < (double)insight->spec.min_games || !(sums.variance > 0)) {
		return rc == CHI_NONE ? CHI_OK : rc;
	}
	double deviation = sqrt(sums.variance);
	double z = (sums.points - sums.expected) / deviation;
	struct insight_tested tested = {
		.chance = {.chance = insight_two_sided(z), .games_hash = sums.games_hash},
		.row = {.key = *key,
			.game = sums.first,
			.games = (uint64_t)sums.n,
			.score = insight_score(sums.points, sums.n),
			.expected = insight_score(sums.expected, sums.n),
			.low = (int32_t)insight_score(sums.points - Z_95 * deviation, sums.n),
			.high = (int32_t)insight_score(sums.points + Z_95 * deviation, sums.n)}};
	/* Those too small to be told apart are in the order of z. */
	tested.chance.rank = -fabs(z);
	return insight_survey_add(survey, &tested, steps);
}

static int step_performance(struct chi_insight *insight, uint64_t *steps)
{
	static const struct insight_survey_kind kind = {
		.begin = insight_survey_count_rated,
		.look = test_performance,
		.counts = insight_survey_is_rated,
	};
	return insight_survey_step((struct insight_survey *)insight, &kind, steps);
}

const struct insight_kind insight_performance = {
	.size = sizeof(struct insight_survey),
	.step = step_performance,
	.end = insight_survey_end,
	.memory = insight_survey_memory,
};
