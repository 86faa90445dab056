/* SPDX-License-Identifier: MIT */
/*
 * What changed between two spans of years. Of each position two questions are asked. Is the share
 * of all games that reach it another one? That is a table of two by two games, tested by the
 * likelihood ratio, which holds for small numbers where the difference of shares by its standard
 * deviation does not (S. Wilks, "The large-sample distribution of the likelihood ratio", Annals of
 * Mathematical Statistics 9, 1938). And are the results other than ratings let expect by another
 * amount, less the same of all games? The position's chance is twice the smaller one of these two
 * (C. Bonferroni).
 */
#include "insight/findings.h"

#include <math.h>

#define Z_95	    1.959964
#define RATED_LEAST 20 /* games of a span, for a question about results */

enum {
	BEFORE,
	AFTER,
	SPANS
};

/* Games of a span. */
struct drift_span {
	double n;
	/* Of rated ones. */
	double rated;
	double points;
	double beyond; /* points less those expected */
	double variance;
};

struct drift {
	struct insight_survey survey;
	struct drift_span all[SPANS];
};

/* Of a position's games that count. */
struct drift_sums {
	const struct insight_survey *survey;
	uint32_t first; /* number of the first; 0: none */
	uint64_t games_hash;
	struct drift_span span[SPANS];
};

/* Its year is known, and it is one of the filter. */
static bool counts_in_drift(const struct insight_survey *survey, uint32_t number)
{
	return survey->walk.games[number].date != 0 && chi_among_has(survey->insight.among, number);
}

static void add_to_span(const struct insight_survey *survey, uint32_t number,
			struct drift_span spans[SPANS])
{
	const struct insight_game *game = &survey->walk.games[number];
	bool after = game->date >> INSIGHT_YEAR >= survey->insight.spec.split;
	struct drift_span *span = &spans[after ? AFTER : BEFORE];
	double e = (double)game->expected;
	span->n++;
	if (e >= 0) {
		double points = chi_expect_points(game->result);
		span->rated++;
		span->points += points;
		span->beyond += points - e;
		span->variance += survey->insight.expect.spread * e * (1 - e);
	}
}

static int add_drift(void *context, uint32_t number)
{
	struct drift_sums *sums = context;
	if (counts_in_drift(sums->survey, number)) {
		sums->first = sums->first == 0 ? number : sums->first;
		sums->games_hash += insight_game_hash(number);
		add_to_span(sums->survey, number, sums->span);
	}
	return CHI_OK;
}

static void sum_all_games(struct insight_survey *survey)
{
	struct drift *drift = (struct drift *)survey;
	struct chi_insight_result *result = &survey->insight.result;
	for (uint32_t number = 1; number <= survey->insight.view.last; number++) {
		if (counts_in_drift(survey, number)) {
			add_to_span(survey, number, drift->all);
		}
	}
	result->before = (uint64_t)drift->all[BEFORE].n;
	result->games = (uint64_t)(drift->all[BEFORE].n + drift->all[AFTER].n);
}

/* ---- The two questions -------------------------------------------------------------------- */

static double likelihood_term(double n, double expected)
{
	return n > 0 ? n * log(n / expected) : 0;
}

/* The likelihood ratio is distributed as the square of a normal variable. */
static double share_chance(const struct drift *drift, const struct drift_sums *sums)
{
	double all = drift->all[BEFORE].n + drift->all[AFTER].n;
	double here = sums->span[BEFORE].n + sums->span[AFTER].n;
	double ratio = 0;
	for (int i = 0; i < SPANS; i++) {
		double n = sums->span[i].n;
		double span = drift->all[i].n;
		ratio += likelihood_term(n, here * span / all);
		ratio += likelihood_term(span - n, (all - here) * span / all);
	}
	return insight_two_sided(sqrt(ratio > 0 ? 2 * ratio : 0));
}

/* Sets what is asked of the score too. All games have those of the position in them: the mean of
 * some, less that of all, varies by the share of the others. */
static double score_chance(const struct drift *drift, const struct drift_sums *sums,
			   struct chi_insight_row *row)
{
	double drifted = 0;
	double variance = 0;
	for (int i = 0; i < SPANS; i++) {
		const struct drift_span *here = &sums->span[i];
		const struct drift_span *all = &drift->all[i];
		if (here->rated < RATED_LEAST) {
			row->score = row->expected = CHI_INSIGHT_UNKNOWN;
			return 1;
		}
		double off = here->beyond / here->rated - all->beyond / all->rated;
		double weight = 1 / here->rated - 1 / all->rated;
		drifted += i == AFTER ? off : -off;
		variance += here->variance * weight * weight +
			    (all->variance - here->variance) / (all->rated * all->rated);
	}
	const struct drift_span *after = &sums->span[AFTER];
	double half = Z_95 * sqrt(variance) * after->rated;
	row->score = insight_score(after->points, after->rated);
	row->expected = insight_score(after->points - drifted * after->rated, after->rated);
	row->low = (int32_t)insight_score(after->points - half, after->rated);
	row->high = (int32_t)insight_score(after->points + half, after->rated);
	return variance > 0 ? insight_two_sided(drifted / sqrt(variance)) : 1;
}

/* How far the share is from what it was, whether more or less. */
static double share_ratio(const struct drift *drift, const struct drift_sums *sums)
{
	double before = (sums->span[BEFORE].n + 0.5) / (drift->all[BEFORE].n + 1);
	double after = (sums->span[AFTER].n + 0.5) / (drift->all[AFTER].n + 1);
	return fabs(log(after / before));
}

static int test_drift(struct chi_insight *insight, const struct chi_row *at, uint64_t *steps)
{
	const struct chi_key *key = &at->key;
	struct drift *drift = (struct drift *)insight;
	struct drift_sums sums = {.survey = &drift->survey};
	int rc = CHI_OK;
	if (drift->all[BEFORE].n > 0 && drift->all[AFTER].n > 0) {
		rc = insight_walk_games(insight, key, add_drift, &sums, steps);
	}
	double games = sums.span[BEFORE].n + sums.span[AFTER].n;
	if (rc != CHI_OK || games < (double)insight->spec.min_games) {
		return rc == CHI_NONE ? CHI_OK : rc;
	}
	struct insight_tested tested = {
		.chance = {.games_hash = sums.games_hash, .rank = -share_ratio(drift, &sums)},
		.row = {.key = *key,
			.game = sums.first,
			.games = (uint64_t)sums.span[AFTER].n,
			.others = (uint64_t)sums.span[BEFORE].n}};
	double share = share_chance(drift, &sums);
	double score = score_chance(drift, &sums, &tested.row);
	double chance = 2 * (share < score ? share : score);
	/* So many are far below what is printed that these are put in the order of the ratio. */
	tested.chance.chance = chance > 1 ? 1 : chance < 0.5 / CHI_INSIGHT_CHANCE ? 0 : chance;
	return insight_survey_add(&drift->survey, &tested, steps);
}

static int step_drift(struct chi_insight *insight, uint64_t *steps)
{
	static const struct insight_survey_kind kind = {
		.begin = sum_all_games,
		.look = test_drift,
		.counts = counts_in_drift,
	};
	return insight_survey_step((struct insight_survey *)insight, &kind, steps);
}

const struct insight_kind insight_drift = {
	.size = sizeof(struct drift),
	.step = step_drift,
	.end = insight_survey_end,
	.memory = insight_survey_memory,
};
