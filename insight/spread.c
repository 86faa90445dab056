/* SPDX-License-Identifier: MIT */
/*
 * Where engines disagree. Of each position that enough engines evaluated, the best line of each is
 * made White's expected score, and the highest is compared with the lowest. The curve is a stated
 * one, not one that is fitted on the store's games as that of gap is: stores of evaluations often
 * have no games, and the order of two positions is not to depend on others. It is lichess' for its
 * winning chances, 1 / (1 + exp(-0.00368208 * centipawns)); a mate is a won game.
 *
 * Only the first rows are kept, and as many again, so that memory does not grow with the store.
 */
#include "insight/games.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/record.h"
#include "chess/key.h"
#include "chess/statistic.h"
#include "store/games/archive.h"

#define CURVE	     0.00368208
#define ROWS_A_STEP  256 /* of positions */
#define READ_A_STEP  16	 /* records */
#define STEPS_A_GAME 3	 /* that is unpacked and played */
#define RECORD_BYTES ((size_t)4 << 20)

struct spread {
	struct chi_insight insight;
	struct chi_scan *scan; /* NULL: not begun, or over */
	struct chi_archive_reader *reader;
	struct chi_arena arena; /* of one record */
	size_t most;		/* rows that are wanted */
	size_t told;		/* rows whose games are found */
	bool is_walked;
};

/* Those that are farthest apart first. */
static int compare_spread(const void *a, const void *b)
{
	const struct chi_insight_row *x = a;
	const struct chi_insight_row *y = b;
	uint32_t apart[2] = {x->score - x->expected, y->score - y->expected};
	if (apart[0] != apart[1]) {
		return apart[0] > apart[1] ? -1 : 1;
	}
	if (x->games != y->games) {
		return x->games > y->games ? -1 : 1;
	}
	return memcmp(x->key.bytes, y->key.bytes, CHI_KEY_MAX);
}

/* Leaves the first rows of those so far, in order. */
static void cut_rows(struct spread *spread)
{
	struct chi_insight *insight = &spread->insight;
	if (insight->result.n > 0) {
		qsort(insight->rows, insight->result.n, sizeof(insight->rows[0]), compare_spread);
	}
	insight->result.n = insight->result.n < spread->most ? insight->result.n : spread->most;
}

/* White's, of an evaluation as the eval statistic has it. */
static double expected_score(uint16_t eval)
{
	int centipawns = eval - CHI_EVAL_EVEN;
	return centipawns > CHI_EVAL_CP_MAX    ? 1
	       : centipawns < -CHI_EVAL_CP_MAX ? 0
					       : 1 / (1 + exp(-CURVE * centipawns));
}

static struct chi_insight_opinion opinion_of(const struct chi_eval *eval, int side)
{
	struct chi_insight_opinion opinion = {.depth = (uint16_t)eval->depth,
					      .eval = chi_statistic_eval(eval, side)};
	memcpy(opinion.engine, eval->engine, eval->engine_len);
	return opinion;
}

/* Of equal ones the deeper. */
static bool is_beyond(const struct chi_insight_opinion *one, const struct chi_insight_opinion *than,
		      bool above)
{
	return one->eval == than->eval ? one->depth > than->depth
				       : (one->eval > than->eval) == above;
}

static void find_ends(const struct chi_record *record, int side, struct chi_insight_row *row)
{
	for (size_t i = 0; i < record->n_evals; i++) {
		if (record->evals[i].rank > 0) {
			continue;
		}
		struct chi_insight_opinion one = opinion_of(&record->evals[i], side);
		if (row->others == 0 || is_beyond(&one, &row->best, true)) {
			row->best = one;
		}
		if (row->others == 0 || is_beyond(&one, &row->worst, false)) {
			row->worst = one;
		}
		row->others++;
	}
	row->score = insight_score(expected_score(row->best.eval), 1);
	row->expected = insight_score(expected_score(row->worst.eval), 1);
}

/* A position that engines enough evaluated. */
static int look_at_evals(struct spread *spread, const struct chi_row *at)
{
	struct chi_insight *insight = &spread->insight;
	struct chi_record record;
	struct chi_position position;
	struct chi_insight_row row = {
		.key = at->key, .games = at->counts.white + at->counts.draws + at->counts.black};
	chi_arena_reset(&spread->arena);
	int rc = chi_read_record(insight->read, &at->key, &spread->arena, &record);
	if (rc != CHI_OK || chi_key_decode(&at->key, &position, NULL) != CHI_OK) {
		return rc < 0 ? rc : -CHI_ECORRUPT;
	}
	insight->result.tested++;
	find_ends(&record, position.side, &row);
	if (row.score == row.expected) {
		return CHI_OK;
	}
	rc = insight_add(insight, &row);
	if (rc == CHI_OK && insight->result.n == 2 * spread->most) {
		cut_rows(spread);
	}
	return rc;
}

/* CHI_NONE: all were looked at. */
static int walk_some(struct spread *spread, uint64_t *steps)
{
	struct chi_row rows[ROWS_A_STEP];
	size_t n = 0;
	int scanned = chi_scan_rows(spread->scan, rows, ROWS_A_STEP, ROWS_A_STEP, &n);
	int rc = scanned < 0 ? scanned : CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		rc = look_at_evals(spread, &rows[i]);
	}
	insight_spend(steps, 1 + n / READ_A_STEP);
	return rc == CHI_OK ? scanned : rc;
}

static int begin_spread(struct spread *spread)
{
	struct chi_insight *insight = &spread->insight;
	const struct chi_insight_spec *asked = &insight->spec;
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION, .want = CHI_WANT_COUNTS,
					   .filter = {.engines_min = asked->engines,
						      .games_min = asked->min_games,
						      .evidence = asked->evidence}};
	bool limited = asked->limit > 0 && asked->limit < CHI_INSIGHT_SPREADS_MAX;
	spread->most = limited ? (size_t)asked->limit : CHI_INSIGHT_SPREADS_MAX;
	chi_arena_init(&spread->arena, RECORD_BYTES);
	int rc = chi_archive_reader_new(&spread->reader);
	rc = rc == CHI_OK ? chi_archive_reader_begin(spread->reader, insight->view.txn,
						     &insight->view.trees)
			  : rc;
	rc = rc == CHI_OK ? chi_read_scan(insight->read, &spec, &spread->scan, NULL) : rc;
	if (rc == CHI_OK && insight->among != NULL) {
		chi_among_judge(insight->among, spread->scan, false);
	}
	return rc;
}

static int walk_spread(struct spread *spread, uint64_t *steps)
{
	int rc = spread->scan == NULL ? begin_spread(spread) : CHI_OK;
	while (rc == CHI_OK && *steps > 0) {
		rc = walk_some(spread, steps);
	}
	if (rc == CHI_NONE) {
		spread->is_walked = true;
		chi_scan_free(spread->scan); /* before the games that it goes by */
		spread->scan = NULL;
		cut_rows(spread);
	}
	return rc;
}

static int step_spread(struct chi_insight *insight, uint64_t *steps)
{
	struct spread *spread = (struct spread *)insight;
	int rc = !spread->is_walked ? walk_spread(spread, steps) : CHI_NONE;
	if (rc != CHI_NONE) {
		return rc;
	}
	rc = CHI_OK;
	while (rc == CHI_OK && spread->told<insight->result.n && * steps> 0) {
		rc = insight_find_game(insight, spread->reader, &insight->rows[spread->told++]);
		insight_spend(steps, STEPS_A_GAME);
	}
	return rc == CHI_OK && spread->told == insight->result.n ? CHI_NONE : rc;
}

static void end_spread(struct chi_insight *insight)
{
	struct spread *spread = (struct spread *)insight;
	chi_scan_free(spread->scan);
	spread->scan = NULL;
	chi_arena_deinit(&spread->arena);
	if (spread->reader != NULL) {
		chi_archive_reader_end(spread->reader);
		chi_archive_reader_free(spread->reader);
		spread->reader = NULL;
	}
}

static size_t spread_memory(const struct chi_insight *insight)
{
	const struct spread *spread = (const struct spread *)insight;
	return CHI_ARCHIVE_READER_BYTES + chi_arena_held(&spread->arena) +
	       (spread->scan != NULL ? chi_scan_memory(spread->scan) : 0);
}

const struct insight_kind insight_spread = {
	.size = sizeof(struct spread),
	.step = step_spread,
	.end = end_spread,
	.memory = spread_memory,
};
