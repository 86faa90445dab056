/* SPDX-License-Identifier: MIT */
/*
 * Where a side does worse, or better, than in its other games. Of each position that enough rated
 * games reached, the mean of results less what ratings let expect is compared with that of all
 * other games; the difference, by its standard deviation, is one draw of a normal distribution if
 * the position makes no difference. The chance of one so far off is corrected for the number of
 * positions (Benjamini and Hochberg, "Controlling the false discovery rate", Journal of the Royal
 * Statistical Society B 57, 1995). Positions of the same games are tested once. Those whose games
 * are most of another finding's, or the other way round, are that finding.
 *
 * Games are played again; a position is known by the hash of its key, 64 bits, which are taken for
 * the position: of 4 million, two with one hash come once in 2 million questions.
 */
#include "insight/insight_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "chess/key.h"
#include "insight/tested.h"
#include "store/games/archive.h"
#include "store/games/columns.h"

#define GAMES_A_STEP 25
#define PLIES_MOST   60 /* later, hardly any position was reached by other games too */
#define TALLIES	     (UINT32_C(1) << 20)
#define Z_95	     1.959964

/* A rated game. */
struct result {
	uint32_t number;
	double points; /* of the side */
	double expected;
	double variance;
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
	if (weak->n_visits == weak->max_visits) {
		size_t max = weak->max_visits > 0 ? 2 * weak->max_visits : 4096;
		void *visits = reallocarray(weak->visits, max, sizeof(weak->visits[0]));
		if (visits == NULL) {
			return -CHI_ENOMEM;
		}
		weak->visits = visits;
		weak->max_visits = max;
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
		return rc;
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
	int rc = chi_columns_read(&weak->columns, number, &head);
	if (rc != CHI_OK || !chi_expect_of(&weak->base.expect, head.white_elo, head.black_elo,
					   head.result, &result.expected, &result.variance)) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	result.points = chi_expect_points(head.result);
	if (weak->base.spec.black) {
		result.points = 1 - result.points;
		result.expected = 1 - result.expected;
	}
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

/* Sums over games. */
struct sums {
	double n;
	double points;
	double beyond; /* points less those expected */
	double squares;
	double variance;
};

static void add_result(struct sums *sums, const struct result *result)
{
	double beyond = result->points - result->expected;
	sums->n++;
	sums->points += result->points;
	sums->beyond += beyond;
	sums->squares += beyond * beyond;
	sums->variance += result->variance;
}

static struct sums sum_all(const struct weak *weak)
{
	struct sums all = {0};
	for (size_t i = 0; i < weak->n_results; i++) {
		add_result(&all, &weak->results[i]);
	}
	/* Some players draw more than others: variances are scaled to their own. */
	double mean = all.n > 0 ? all.beyond / all.n : 0;
	double own = all.squares - all.n * mean * mean;
	for (size_t i = 0; i < weak->n_results && all.variance > 0; i++) {
		weak->results[i].variance *= own / all.variance;
	}
	all.variance = own;
	return all;
}

static struct sums sums_of_position(const struct weak *weak, const struct tested *tested)
{
	struct sums sums = {0};
	for (size_t i = 0; i < tested->n; i++) {
		add_result(&sums, &weak->results[weak->visits[tested->first + i].game]);
	}
	return sums;
}

/* The chance of a mean so far off, to the side that is asked for, by luck. */
static double chance_of(const struct weak *weak, const struct sums *here, const struct sums *all)
{
	double n = all->n - here->n;
	double off = here->beyond / here->n - (all->beyond - here->beyond) / n;
	double variance =
		here->variance / (here->n * here->n) + (all->variance - here->variance) / (n * n);
	if (!(variance > 0)) { /* all games ended alike */
		return 1;
	}
	off = weak->base.spec.kind == CHI_INSIGHT_WEAK ? -off : off;
	return 0.5 * erfc(off / sqrt(2 * variance));
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
		return rc;
	}
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	for (uint32_t ply = 0; rc == CHI_OK && ply < visit->ply; ply++) {
		rc = chi_replay_next(&replay, &move);
	}
	chi_key_encode(chi_replay_position(&replay), out);
	return rc;
}

static int add_finding(struct weak *weak, const struct tested *tested, const struct sums *all)
{
	const struct visit *visit = &weak->visits[tested->first];
	struct sums here = sums_of_position(weak, tested);
	double elsewhere = (all->beyond - here.beyond) / (all->n - here.n);
	double off = Z_95 * sqrt(here.variance);
	struct chi_insight_row row = {
		.game = weak->results[visit->game].number,
		.ply = visit->ply,
		.games = tested->n,
		.others = tested->chance.positions,
		.score = insight_score(here.points, here.n),
		.expected = insight_score(here.points - here.beyond + here.n * elsewhere, here.n),
		.low = insight_score(here.points - off, here.n),
		.high = insight_score(here.points + off, here.n),
		.chance = (uint32_t)(tested->chance.chance * CHI_INSIGHT_CHANCE + 0.5),
		.adjusted = (uint32_t)(tested->chance.adjusted * CHI_INSIGHT_CHANCE + 0.5),
	};
	int rc = key_of_visit(weak, visit, &row.key);
	return rc == CHI_OK ? insight_add(&weak->base, &row) : rc;
}

/* The surest first: others that are nested with it are part of it. *heads: those that are not part
 * of another are moved to the front. */
static int join_findings(const struct weak *weak, struct insight_join *join, struct tested *tested,
			 size_t n, size_t *heads)
{
	int rc = insight_join_begin(join, weak->n_results);
	*heads = 0;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		const struct tested one = tested[i];
		size_t head;
		for (size_t j = 0; rc == CHI_OK && j < one.n; j++) {
			rc = insight_join_game(join, weak->visits[one.first + j].game);
		}
		rc = rc == CHI_OK ? insight_join_settle(join, &head) : rc;
		if (rc == CHI_OK) {
			tested[head].chance.positions += one.chance.positions;
		} else if (rc == CHI_NONE) {
			tested[head] = one;
			*heads = head + 1;
			rc = CHI_OK;
		}
	}
	return rc;
}

static int add_findings(struct weak *weak, struct tested *tested, size_t n, const struct sums *all)
{
	struct insight_join join;
	size_t heads;
	int rc = join_findings(weak, &join, tested, n, &heads);
	insight_join_end(&join);
	for (size_t i = 0; rc == CHI_OK && i < heads; i++) {
		rc = add_finding(weak, &tested[i], all);
	}
	return rc;
}

static int judge_positions(struct weak *weak)
{
	int rc = sort_visits(weak);
	size_t most = weak->n_visits / weak->base.spec.min_games + 1;
	struct tested *tested = rc == CHI_OK ? calloc(most, sizeof(*tested)) : NULL;
	if (tested == NULL) {
		return rc == CHI_OK ? -CHI_ENOMEM : rc;
	}
	struct sums all = sum_all(weak);
	size_t n = insight_join_equal(tested, find_tested(weak, tested), sizeof(*tested));
	for (size_t i = 0; i < n; i++) {
		struct sums here = sums_of_position(weak, &tested[i]);
		tested[i].chance.chance = chance_of(weak, &here, &all);
	}
	weak->base.result.tested = n;
	weak->base.result.games = weak->n_results;
	size_t found = insight_correct(tested, n, sizeof(*tested), weak->base.spec.fdr);
	rc = add_findings(weak, tested, found, &all);
	free(tested);
	return rc == CHI_OK ? CHI_NONE : rc;
}

/* ---- The kind ----------------------------------------------------------------------------- */

static int step_weak(struct chi_insight *insight, uint64_t *steps)
{
	struct weak *weak = weak_of(insight);
	uint32_t number = 0;
	int rc = weak->is_begun ? CHI_OK : begin_weak(weak);
	for (; rc == CHI_OK && *steps > 0; --*steps) {
		for (int i = 0; rc == CHI_OK && i < GAMES_A_STEP; i++) {
			if (weak->next == 0 ||
			    !chi_among_next(insight->among, weak->next, &number)) {
				return judge_positions(weak);
			}
			rc = take_result(weak, number);
			weak->next = number + 1;
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
		weak->is_begun = false;
	}
}

static size_t memory_of_weak(const struct chi_insight *insight)
{
	const struct weak *weak = (const struct weak *)insight;
	return weak->is_begun ? CHI_ARCHIVE_READER_BYTES +
					chi_among_count(insight->among) * sizeof(struct result) +
					weak->max_visits * sizeof(struct visit)
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
