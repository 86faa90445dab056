/* SPDX-License-Identifier: MIT */
/*
 * Where results and evaluations disagree. Of each position that engines evaluated and enough rated
 * games reached, White's results, less what ratings let expect and plus what is expected of equals,
 * are compared with what the evaluation lets expect: a curve of its own, 1 / (1 + 10^(-(cp + move)
 * / scale)), fitted on all of these positions by their games. The evaluation is the deepest one;
 * mates and what is farther count as 16 pawns.
 */
#include "insight/findings.h"

#include <math.h>

#include "chess/key.h"
#include "chess/statistic.h"

#define Z_95 1.959964

struct gap {
	struct insight_survey survey;
	struct chi_expect curve; /* by centipawns in place of differences of ratings */
	double even;		 /* points that are expected of equals */
};

/* Of a position's rated games, as if both players were equal. */
struct gap_sums {
	const struct gap *gap;
	uint32_t first; /* number of the first; 0: none */
	uint64_t games_hash;
	double n;
	double points;
	double squares;
};

static int add_equal_result(void *context, uint32_t number)
{
	struct gap_sums *sums = context;
	const struct insight_survey *survey = &sums->gap->survey;
	if (insight_survey_is_rated(survey, number)) {
		const struct insight_game *game = &survey->walk.games[number];
		double points =
			chi_expect_points(game->result) - (double)game->expected + sums->gap->even;
		sums->first = sums->first == 0 ? number : sums->first;
		sums->games_hash += insight_game_hash(number);
		sums->n++;
		sums->points += points;
		sums->squares += points * points;
	}
	return CHI_OK;
}

static int white_score(const struct chi_row *row, int side)
{
	const struct chi_eval eval = {.is_mate = row->is_mate, .score = row->score};
	return chi_expect_centipawns(chi_statistic_eval(&eval, side));
}

/* A walk by counts does not tell the evaluation. */
static int take_evaluated(struct chi_insight *insight, const struct chi_row *at, uint64_t *steps)
{
	struct gap *gap = (struct gap *)insight;
	struct gap_sums sums = {.gap = gap};
	struct chi_position position;
	struct chi_row found;
	const struct chi_row *row = &found;
	int rc = insight_walk_games(insight, &at->key, add_equal_result, &sums, steps);
	if (rc != CHI_OK || sums.n < (double)insight->spec.min_games) {
		return rc == CHI_NONE ? CHI_OK : rc;
	}
	rc = chi_read_row(insight->read, &at->key, &found);
	if (rc != CHI_OK || !row->has_eval) {
		return rc < 0 ? rc : -CHI_ECORRUPT;
	}
	if (chi_key_decode(&row->key, &position, NULL) != CHI_OK) {
		return -CHI_ECORRUPT;
	}
	struct insight_tested tested = {.chance = {.games_hash = sums.games_hash},
					.points = sums.points,
					.row = {.key = row->key,
						.game = sums.first,
						.games = (uint64_t)sums.n,
						.eval = white_score(row, position.side)}};
	chi_expect_add_many(&gap->curve, tested.row.eval, tested.row.games, sums.points,
			    sums.squares);
	return insight_survey_add(&gap->survey, &tested, steps);
}

static void begin_gap(struct insight_survey *survey)
{
	struct gap *gap = (struct gap *)survey;
	double variance;
	insight_survey_count_rated(survey);
	(void)chi_expect_of(&survey->insight.expect, 2500, 2500, CHI_RESULT_DRAW, &gap->even,
			    &variance);
}

/* The curve, and how far each position is from it. */
static void fit_gap(struct insight_survey *survey)
{
	struct gap *gap = (struct gap *)survey;
	chi_expect_fit(&gap->curve);
	if (!gap->curve.is_fitted) { /* evaluations say nothing of results */
		survey->findings.n = 0;
	}
	for (size_t i = 0; i < survey->findings.n; i++) {
		struct insight_tested *tested = &survey->findings.tested[i];
		struct chi_insight_row *row = &tested->row;
		double n = (double)row->games;
		double variance;
		double e = chi_expect_at(&gap->curve, row->eval, &variance);
		double deviation = sqrt(n * variance);
		double z = (tested->points - n * e) / deviation;
		tested->chance.chance = insight_two_sided(z);
		tested->chance.rank = -fabs(z);
		row->score = insight_score(tested->points, n);
		row->expected = insight_score(e, 1);
		row->low = (int32_t)insight_score(tested->points - Z_95 * deviation, n);
		row->high = (int32_t)insight_score(tested->points + Z_95 * deviation, n);
	}
}

static int step_gap(struct chi_insight *insight, uint64_t *steps)
{
	static const struct insight_survey_kind kind = {
		.begin = begin_gap,
		.look = take_evaluated,
		.fit = fit_gap,
		.counts = insight_survey_is_rated,
	};
	return insight_survey_step((struct insight_survey *)insight, &kind, steps);
}

const struct insight_kind insight_gap = {
	.size = sizeof(struct gap),
	.step = step_gap,
	.end = insight_survey_end,
	.memory = insight_survey_memory,
};
