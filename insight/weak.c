/* SPDX-License-Identifier: MIT */
/*
 * Where a side does worse, or better, than in its other games. A logistic regression of its results
 * on what ratings let expect says how much better than its ratings the side is in all games; of
 * each position that enough rated games reached it is tested whether their results are other ones
 * than that. Chances are corrected for the number of positions. Positions of the same games are
 * tested once; those of which one's games are nearly all among the other's are one finding.
 *
 * Games are played again; a position is known by the hash of its key, 64 bits, which are taken for
 * the position: of 4 million, two with one hash come once in 2 million questions.
 */
#include "insight/insight_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buffer.h"
#include "chess/key.h"
#include "insight/tested.h"
#include "store/games/archive.h"
#include "store/games/columns.h"

#define A_STEP	       25 /* games that are played, or positions that are judged */
#define PLIES_MOST     60 /* later, hardly any position was reached by other games too */
#define TALLIES	       (UINT32_C(1) << 20)
#define Z_95	       1.959964
#define OFFSET_MOST    30.0 /* who lost all games is that much worse */
#define VARIANCE_LEAST 1e-3 /* of points */

/* A rated game. */
struct result {
	uint32_t number;
	double points; /* of the side */
	double logit;  /* of what ratings let expect */
	double expected;
};

/* A position that a game reached. */
struct visit {
	uint64_t hash;
	uint32_t game; /* in `results` */
	uint32_t ply;
};

/* A position with games enough. */
struct tested {
	struct insight_chance chance;
	size_t first; /* its visits, each of another game, ascending */
	size_t n;
};

/* Sums over games. */
struct sums {
	double n;
	double points;
	double expected;
	double variance;
	double skewness;
};

struct weak {
	struct chi_insight base;
	struct chi_archive_reader *reader;
	struct chi_columns_reader columns;
	bool is_begun;
	uint32_t next; /* games below are played */
	struct result *results;
	size_t n_results;
	struct visit *visits;
	size_t n_visits;
	size_t max_visits;
	double spread;	 /* of the side's own results, as that of struct chi_expect */
	struct sums all; /* of all games */
	struct tested *tested;
	size_t n_tested;
	size_t max_tested;
	size_t found; /* of these, the first ones */
	struct insight_join join;
	size_t heads; /* of the findings, those that are not part of others */
	size_t phase;
	size_t at; /* the next one in it */
};

static struct weak *weak_of(struct chi_insight *insight)
{
	return (struct weak *)insight;
}

/* ---- Games -------------------------------------------------------------------------------- */

static int begin_weak(struct weak *weak)
{
	const struct chi_archive_view *view = &weak->base.view;
	uint64_t games = chi_among_count(weak->base.among);
	weak->is_begun = true;
	weak->next = 1;
	weak->results = calloc(games > 0 ? games : 1, sizeof(weak->results[0]));
	if (weak->results == NULL) {
		return -CHI_ENOMEM;
	}
	int rc = chi_archive_reader_new(&weak->reader);
	rc = rc == CHI_OK ? chi_archive_reader_begin(weak->reader, view->txn, &view->trees) : rc;
	return rc == CHI_OK
		       ? chi_columns_reader_init(&weak->columns, view->txn, view->trees.columns)
		       : rc;
}

static int add_visit(struct weak *weak, const struct chi_position *position, uint32_t ply)
{
	uint8_t key[CHI_KEY_MAX];
	if (weak->n_visits == weak->max_visits &&
	    chi_grow(&weak->visits, &weak->max_visits, weak->n_visits + 1, sizeof(*weak->visits)) <
		    0) {
		return -CHI_ENOMEM;
	}
	chi_key_bytes(position, key);
	weak->visits[weak->n_visits++] =
		(struct visit){XXH3_64bits(key, sizeof(key)), (uint32_t)(weak->n_results - 1), ply};
	return CHI_OK;
}

static int play_game(struct weak *weak, uint32_t number)
{
	struct chi_game_moves moves;
	struct chi_replay replay;
	int rc = chi_archive_moves(weak->reader, number, &moves);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	for (uint32_t ply = 0; rc == CHI_OK && ply <= PLIES_MOST; ply++) {
		chi_move move;
		rc = add_visit(weak, chi_replay_position(&replay), ply);
		rc = rc == CHI_OK ? chi_replay_next(&replay, &move) : rc;
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* If it is rated. */
static int take_result(struct weak *weak, uint32_t number)
{
	struct chi_game_head head;
	struct result result = {.number = number};
	double expected;
	double variance;
	int rc = chi_columns_read(&weak->columns, number, &head);
	if (rc != CHI_OK || !chi_expect_of(&weak->base.expect, head.white_elo, head.black_elo,
					   head.result, &expected, &variance)) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	bool black = weak->base.spec.black;
	result.points = chi_expect_points(head.result);
	result.points = black ? 1 - result.points : result.points;
	result.logit = log(expected / (1 - expected)) * (black ? -1 : 1);
	weak->results[weak->n_results++] = result;
	return play_game(weak, number);
}

/* ---- Positions ---------------------------------------------------------------------------- */

static int compare_visits(const void *a, const void *b)
{
	const struct visit *left = a;
	const struct visit *right = b;
	if (left->hash != right->hash) {
		return left->hash < right->hash ? -1 : 1;
	}
	if (left->game != right->game) {
		return left->game < right->game ? -1 : 1;
	}
	return (left->ply > right->ply) - (left->ply < right->ply);
}

/* Leaves out what hardly any game reached, which is most, then sorts the rest, of each position
 * and game the first visit. */
static int sort_visits(struct weak *weak)
{
	uint32_t *tallies = calloc(TALLIES, sizeof(*tallies));
	size_t n = 0;
	if (tallies == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < weak->n_visits; i++) {
		tallies[weak->visits[i].hash % TALLIES]++;
	}
	for (size_t i = 0; i < weak->n_visits; i++) {
		if (tallies[weak->visits[i].hash % TALLIES] >= weak->base.spec.min_games) {
			weak->visits[n++] = weak->visits[i];
		}
	}
	free(tallies);
	if (n > 0) {
		qsort(weak->visits, n, sizeof(weak->visits[0]), compare_visits);
	}
	weak->n_visits = 0;
	for (size_t i = 0; i < n; i++) {
		const struct visit *last =
			&weak->visits[weak->n_visits > 0 ? weak->n_visits - 1 : 0];
		if (weak->n_visits == 0 || last->hash != weak->visits[i].hash ||
		    last->game != weak->visits[i].game) {
			weak->visits[weak->n_visits++] = weak->visits[i];
		}
	}
	return CHI_OK;
}

/* ---- Chances ------------------------------------------------------------------------------ */

static double expected_with(const struct result *result, double offset)
{
	return 1 / (1 + exp(-result->logit - offset));
}

/* How much better the side is than its ratings, on the scale of the fit: with it the results of all
 * games are as many points as are expected. It is bounded, for who won all games. */
static double find_offset(const struct weak *weak)
{
	double low = -OFFSET_MOST;
	double high = OFFSET_MOST;
	for (int round = 0; round < 60; round++) {
		double middle = (low + high) / 2;
		double beyond = 0;
		for (size_t i = 0; i < weak->n_results; i++) {
			beyond +=
				weak->results[i].points - expected_with(&weak->results[i], middle);
		}
		low = beyond > 0 ? middle : low;
		high = beyond > 0 ? high : middle;
	}
	return (low + high) / 2;
}

/* The third central moment of a result with these chances of a win and a draw. */
static double skewness_of(double e, double spread)
{
	double drawn = 4 * e * (1 - e) * (1 - spread);
	double most = 2 * (e < 0.5 ? e : 1 - e);
	drawn = drawn < 0 ? 0 : drawn > most ? most : drawn;
	double off = 0.5 - e;
	return (e - drawn / 2) * (1 - e) * (1 - e) * (1 - e) + drawn * off * off * off -
	       (1 - e - drawn / 2) * e * e * e;
}

/* What is expected of each game, given all of them. Some players draw more than others, so how much
 * their results vary is their own, but not much less than what it is of all. */
static void fit_own(struct weak *weak)
{
	double offset = find_offset(weak);
	double squares = 0;
	double most = 0;
	for (size_t i = 0; i < weak->n_results; i++) {
		struct result *result = &weak->results[i];
		result->expected = expected_with(result, offset);
		double beyond = result->points - result->expected;
		squares += beyond * beyond;
		most += result->expected * (1 - result->expected);
	}
	double least = weak->base.expect.spread / 2;
	weak->spread = most > 0 && squares / most > least ? squares / most : least;
}

static void add_result(const struct weak *weak, struct sums *sums, const struct result *result)
{
	double e = result->expected;
	sums->n++;
	sums->points += result->points;
	sums->expected += e;
	sums->variance += weak->spread * e * (1 - e);
	sums->skewness += skewness_of(e, weak->spread);
}

static struct sums sums_of_position(const struct weak *weak, const struct tested *tested)
{
	struct sums sums = {0};
	for (size_t i = 0; i < tested->n; i++) {
		add_result(weak, &sums, &weak->results[weak->visits[tested->first + i].game]);
	}
	return sums;
}

/*
 * The chance of so few points, or so many, by luck. As what all games came to is given, points
 * beyond those expected in some games are missing in the others: a part of the variance is left
 * (the score test of logistic regression). Results of a favourite are skewed, and their sum too:
 * the gamma distribution with its three moments is taken in place of the normal one, by the cube
 * root that makes one of the other (E. B. Wilson and M. M. Hilferty, "The distribution of
 * chi-square", Proceedings of the National Academy of Sciences 17, 1931).
 */
static double chance_of(const struct weak *weak, const struct sums *here, const struct sums *all)
{
	double part = here->variance / all->variance;
	double variance = here->variance * (1 - part);
	if (!(variance > VARIANCE_LEAST)) { /* nothing can be otherwise than expected */
		return 1;
	}
	double deviation = sqrt(variance);
	double z = (here->points - here->expected) / deviation;
	double rest = 1 - part;
	double third = rest * rest * rest * here->skewness -
		       part * part * part * (all->skewness - here->skewness);
	double skew = third / (variance * deviation);
	if (fabs(skew) > 1e-6) {
		double root = cbrt(1 + skew * z / 2);
		z = 6 / skew * (root - 1) + skew / 6;
	}
	return 0.5 * erfc((weak->base.spec.kind == CHI_INSIGHT_WEAK ? -z : z) / M_SQRT2);
}

/* All positions with games enough, and as many other games. */
static size_t find_tested(const struct weak *weak, struct tested *out)
{
	uint64_t least = weak->base.spec.min_games;
	size_t found = 0;
	for (size_t at = 0; at < weak->n_visits;) {
		struct tested tested = {
			.chance = {.rank = (double)at, .ply = UINT32_MAX, .positions = 1},
			.first = at};
		struct insight_chance *chance = &tested.chance;
		for (; at < weak->n_visits &&
		       weak->visits[at].hash == weak->visits[tested.first].hash;
		     at++, tested.n++) {
			const struct visit *visit = &weak->visits[at];
			chance->games_hash += insight_game_hash(visit->game);
			chance->ply = visit->ply < chance->ply ? visit->ply : chance->ply;
		}
		if (tested.n >= least && weak->n_results - tested.n >= least) {
			out[found++] = tested;
		}
	}
	return found;
}

/* ---- Findings ----------------------------------------------------------------------------- */

/* The position after so many plies of a game. */
static int key_of_visit(struct weak *weak, const struct visit *visit, struct chi_key *out)
{
	struct chi_game_moves moves;
	struct chi_replay replay;
	chi_move move;
	int rc = chi_archive_moves(weak->reader, weak->results[visit->game].number, &moves);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	for (uint32_t ply = 0; rc == CHI_OK && ply < visit->ply; ply++) {
		rc = chi_replay_next(&replay, &move);
	}
	chi_key_encode(chi_replay_position(&replay), out);
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

static int add_finding(struct weak *weak, const struct tested *tested)
{
	const struct visit *visit = &weak->visits[tested->first];
	struct sums here = sums_of_position(weak, tested);
	double off = Z_95 * sqrt(here.variance);
	struct chi_insight_row row = {
		.game = weak->results[visit->game].number,
		.ply = visit->ply,
		.games = tested->n,
		.others = tested->chance.positions,
		.score = insight_score(here.points, here.n),
		.expected = insight_score(here.expected, here.n),
		.low = (int32_t)insight_score(here.points - off, here.n),
		.high = (int32_t)insight_score(here.points + off, here.n),
		.chance = (uint32_t)(tested->chance.chance * CHI_INSIGHT_CHANCE + 0.5),
		.adjusted = (uint32_t)(tested->chance.adjusted * CHI_INSIGHT_CHANCE + 0.5),
	};
	int rc = key_of_visit(weak, visit, &row.key);
	return rc == CHI_OK ? insight_add(&weak->base, &row) : rc;
}

/* A finding that is nested with a surer one is part of it; the others are moved to the front. */
static int join_finding(struct weak *weak, size_t i)
{
	const struct tested one = weak->tested[i];
	size_t head;
	int rc = CHI_OK;
	for (size_t j = 0; rc == CHI_OK && j < one.n; j++) {
		rc = insight_join_game(&weak->join, weak->visits[one.first + j].game);
	}
	rc = rc == CHI_OK ? insight_join_settle(&weak->join, &head) : rc;
	if (rc == CHI_OK) {
		weak->tested[head].chance.positions += one.chance.positions;
	} else if (rc == CHI_NONE) {
		weak->tested[head] = one;
		weak->heads = head + 1;
		rc = CHI_OK;
	}
	return rc;
}

/* ---- Phases ------------------------------------------------------------------------------- */

/* All games are played. */
static int end_playing(struct weak *weak)
{
	int rc = sort_visits(weak);
	weak->max_tested = weak->n_visits / weak->base.spec.min_games + 1;
	weak->tested = rc == CHI_OK ? calloc(weak->max_tested, sizeof(*weak->tested)) : NULL;
	if (weak->tested == NULL) {
		return rc == CHI_OK ? -CHI_ENOMEM : rc;
	}
	fit_own(weak);
	for (size_t i = 0; i < weak->n_results; i++) {
		add_result(weak, &weak->all, &weak->results[i]);
	}
	weak->n_tested = insight_join_equal(weak->tested, find_tested(weak, weak->tested),
					    sizeof(*weak->tested));
	weak->base.result.tested = weak->n_tested;
	weak->base.result.games = weak->n_results;
	return CHI_OK;
}

static int play_next(struct weak *weak)
{
	uint32_t number = 0;
	if (weak->next == 0 || !chi_among_next(weak->base.among, weak->next, &number)) {
		int rc = end_playing(weak);
		return rc == CHI_OK ? CHI_NONE : rc;
	}
	weak->next = number + 1;
	return take_result(weak, number);
}

static int test_next(struct weak *weak)
{
	if (weak->at == weak->n_tested) {
		weak->found = insight_correct(weak->tested, weak->n_tested, sizeof(*weak->tested),
					      weak->base.spec.fdr);
		int rc = insight_join_begin(&weak->join, weak->n_results, false);
		return rc == CHI_OK ? CHI_NONE : rc;
	}
	struct tested *tested = &weak->tested[weak->at++];
	struct sums here = sums_of_position(weak, tested);
	tested->chance.chance = chance_of(weak, &here, &weak->all);
	return CHI_OK;
}

static int join_next(struct weak *weak)
{
	if (insight_wants_all(&weak->base)) {
		weak->heads = weak->found;
		return CHI_NONE;
	}
	return weak->at == weak->found ? CHI_NONE : join_finding(weak, weak->at++);
}

static int add_next(struct weak *weak)
{
	uint64_t limit = weak->base.spec.limit;
	bool over = weak->at == weak->heads || (limit > 0 && weak->at == limit);
	return over ? CHI_NONE : add_finding(weak, &weak->tested[weak->at++]);
}

/* ---- The kind ----------------------------------------------------------------------------- */

static int step_weak(struct chi_insight *insight, uint64_t *steps)
{
	/* Each does a little; CHI_NONE: the next one's turn. */
	static int (*const phases[])(struct weak * weak) = {play_next, test_next, join_next,
							    add_next};
	struct weak *weak = weak_of(insight);
	int rc = weak->is_begun ? CHI_OK : begin_weak(weak);
	for (; rc == CHI_OK && *steps > 0; --*steps) {
		for (int i = 0; rc == CHI_OK && i < A_STEP; i++) {
			rc = phases[weak->phase](weak);
			if (rc == CHI_NONE && ++weak->phase < CHI_COUNT(phases)) {
				weak->at = 0;
				rc = CHI_OK;
			}
		}
	}
	return rc;
}

static void end_weak(struct chi_insight *insight)
{
	struct weak *weak = weak_of(insight);
	if (weak->is_begun) {
		chi_columns_reader_deinit(&weak->columns);
		chi_archive_reader_free(weak->reader);
		free(weak->results);
		free(weak->visits);
		free(weak->tested);
		insight_join_end(&weak->join);
		weak->is_begun = false;
	}
}

static size_t memory_of_weak(const struct chi_insight *insight)
{
	const struct weak *weak = (const struct weak *)insight;
	return weak->is_begun ? CHI_ARCHIVE_READER_BYTES +
					chi_among_count(insight->among) * sizeof(struct result) +
					weak->max_visits * sizeof(struct visit) +
					2 * weak->max_tested * sizeof(struct tested) +
					insight_join_memory(&weak->join, weak->n_results)
			      : 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct chi_insight_row *left = a;
	const struct chi_insight_row *right = b;
	if (left->chance != right->chance) {
		return left->chance < right->chance ? -1 : 1;
	}
	return (left->game > right->game) - (left->game < right->game);
}

const struct insight_kind insight_weak = {
	.size = sizeof(struct weak),
	.step = step_weak,
	.end = end_weak,
	.memory = memory_of_weak,
	.compare = compare_rows,
};
