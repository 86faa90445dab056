/* SPDX-License-Identifier: MIT */
/* The walk costs lists of games only of positions with games enough. */
#include "insight/games.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "store/games/archive.h"
#include "store/games/columns.h"

#define GAMES_A_STEP 8192 /* of lists */
#define DATE_MASK    ((UINT32_C(1) << 24) - 1)

void insight_spend(uint64_t *steps, uint64_t n)
{
	*steps -= *steps < n ? *steps : n;
}

/* ---- Games -------------------------------------------------------------------------------- */

static void load_game(struct chi_insight *insight, const struct chi_columns_chunk *chunk,
		      uint32_t row, struct insight_game *out)
{
	uint32_t result = chi_column_value(chunk, CHI_COLUMN_RESULT, row);
	uint32_t year = chi_column_value(chunk, CHI_COLUMN_YEAR, row);
	double expected;
	double variance;
	*out = (struct insight_game){.result = CHI_RESULT_OTHER, .expected = -1.0F};
	if (result == CHI_ROW_REMOVED) {
		return;
	}
	out->result = (uint8_t)result;
	if (chi_expect_of(&insight->expect, chi_column_value(chunk, CHI_COLUMN_WHITE_ELO, row),
			  chi_column_value(chunk, CHI_COLUMN_BLACK_ELO, row), result, &expected,
			  &variance)) {
		out->expected = (float)expected;
	}
	if (year != 0) {
		uint32_t date = year << INSIGHT_YEAR |
				chi_column_value(chunk, CHI_COLUMN_MONTH, row) << INSIGHT_MONTH |
				chi_column_value(chunk, CHI_COLUMN_DAY, row);
		out->date = date & DATE_MASK;
		insight->result.games++;
	}
}

static void load_chunk(struct insight_walk *walk, struct chi_insight *insight,
		       const struct chi_columns_chunk *chunk)
{
	for (uint32_t row = 0; row < chunk->n && chunk->first + row <= insight->view.last; row++) {
		load_game(insight, chunk, row, &walk->games[chunk->first + row]);
	}
	walk->next = chunk->first + chunk->n;
}

static int load_chunks(struct insight_walk *walk, struct chi_insight *insight, uint64_t *steps)
{
	const struct chi_archive_view *view = &insight->view;
	struct chi_columns_reader reader;
	int rc = chi_columns_reader_init(&reader, view->txn, view->trees.columns);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_columns_seek(&reader, walk->next);
	for (; rc == CHI_OK && *steps > 0; --*steps) {
		load_chunk(walk, insight, &reader.chunk);
		rc = chi_columns_next(&reader);
	}
	chi_columns_reader_deinit(&reader);
	return rc;
}

static int compare_children(const void *a, const void *b)
{
	return memcmp(a, b, CHI_KEY_MAX);
}

/* Only the positions after the moves of one. */
static int give_children(struct insight_walk *walk, const struct chi_insight *insight)
{
	struct chi_position position;
	struct chi_position next;
	struct chi_move_list list;
	int rc = chi_key_decode(&insight->position, &position, NULL);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_movegen_legal(&position, &list);
	walk->children = calloc(list.n + 1, sizeof(walk->children[0]));
	if (walk->children == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < list.n; i++) {
		chi_position_play(&position, list.moves[i], &next);
		chi_key_bytes(&next, walk->children[i]);
	}
	qsort(walk->children, list.n, sizeof(walk->children[0]), compare_children);
	chi_scan_given(walk->scan, walk->children[0], list.n);
	return CHI_OK;
}

static int begin_footprint(struct insight_walk *walk, const struct chi_insight *insight)
{
	uint64_t positions = 0;
	(void)chi_scan_left(walk->scan, &positions);
	return chi_footprint_pays(insight->among, positions, CHI_FOOTPRINT_SERVED_MAX)
		       ? chi_footprint_new(insight->among, CHI_FOOTPRINT_SERVED_MAX,
					   &walk->footprint)
		       : CHI_OK;
}

static int begin_walk(struct insight_walk *walk, struct chi_insight *insight)
{
	bool evaluated = insight->spec.kind == CHI_INSIGHT_GAP;
	const struct chi_scan_spec all = {
		CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .order = CHI_ORDER_POSITION,
		.want = CHI_WANT_COUNTS,
		.filter = {.engines_min = evaluated ? insight->spec.engines : 0,
			   .evidence = insight->spec.evidence}};
	const struct chi_archive_view *view = &insight->view;
	walk->games = calloc((size_t)view->last + 1, sizeof(walk->games[0]));
	if (walk->games == NULL) {
		return -CHI_ENOMEM;
	}
	int rc = chi_archive_reader_new(&walk->reader);
	rc = rc == CHI_OK ? chi_archive_reader_begin(walk->reader, view->txn, &view->trees) : rc;
	rc = rc == CHI_OK ? chi_read_scan(insight->read, &all, &walk->scan, NULL) : rc;
	if (rc == CHI_OK && insight->spec.position != NULL) {
		return give_children(walk, insight);
	}
	return rc == CHI_OK ? begin_footprint(walk, insight) : rc;
}

int insight_walk_load(struct insight_walk *walk, struct chi_insight *insight, uint64_t *steps)
{
	int rc = walk->games == NULL ? begin_walk(walk, insight) : CHI_OK;
	if (rc == CHI_OK && !walk->is_loaded) {
		rc = load_chunks(walk, insight, steps);
		walk->is_loaded = rc == CHI_NONE;
		return rc;
	}
	return rc == CHI_OK ? CHI_NONE : rc;
}

/* ---- Positions ---------------------------------------------------------------------------- */

/* The next positions. CHI_NONE: there are none. */
static int walk_on(struct insight_walk *walk, uint64_t *steps)
{
	if (walk->is_over) {
		return CHI_NONE;
	}
	int rc = chi_scan_rows(walk->scan, walk->rows, INSIGHT_ROWS_A_STEP, INSIGHT_ROWS_A_STEP,
			       &walk->n_rows);
	walk->row = 0;
	walk->is_over = rc == CHI_NONE;
	insight_spend(steps, 1);
	return rc < 0 ? rc : CHI_OK;
}

/* CHI_OK: there are more. */
static int look_at_next(struct insight_walk *walk, struct chi_insight *insight, insight_look *look,
			uint64_t *steps)
{
	if (walk->row == walk->n_rows) {
		return walk_on(walk, steps);
	}
	const struct chi_row *row = &walk->rows[walk->row++];
	const struct chi_counts *counts = &row->counts;
	bool enough = counts->white + counts->draws + counts->black + counts->other >=
		      insight->spec.min_games;
	return enough ? look(insight, row, steps) : CHI_OK;
}

/* Plays the few games that count. Where that fails all positions are walked over. CHI_NONE: done.
 */
static int find_footprint(struct insight_walk *walk, struct chi_insight *insight, uint64_t *steps)
{
	size_t n = 0;
	if (walk->footprint == NULL || walk->has_footprint) {
		return CHI_NONE;
	}
	int rc = chi_footprint_step(walk->footprint, insight->read, steps);
	if (rc == CHI_NONE) {
		const uint8_t *keys = chi_footprint_keys(walk->footprint, &n);
		chi_scan_given(walk->scan, keys, n);
		walk->has_footprint = true;
	} else if (rc < 0) {
		chi_footprint_free(walk->footprint);
		walk->footprint = NULL;
		rc = CHI_NONE;
	}
	return rc;
}

int insight_walk_step(struct insight_walk *walk, struct chi_insight *insight, insight_look *look,
		      uint64_t *steps)
{
	int rc = insight_walk_load(walk, insight, steps);
	rc = rc == CHI_NONE ? find_footprint(walk, insight, steps) : rc;
	if (rc != CHI_NONE) {
		return rc;
	}
	rc = CHI_OK;
	while (rc == CHI_OK && *steps > 0) {
		rc = look_at_next(walk, insight, look, steps);
	}
	return rc;
}

void insight_walk_end(struct insight_walk *walk)
{
	chi_scan_free(walk->scan);
	walk->scan = NULL;
	if (walk->reader != NULL) {
		chi_archive_reader_end(walk->reader);
		chi_archive_reader_free(walk->reader);
		walk->reader = NULL;
	}
	free(walk->games);
	walk->games = NULL;
	chi_footprint_free(walk->footprint);
	walk->footprint = NULL;
	free(walk->children);
	walk->children = NULL;
}

size_t insight_walk_memory(const struct insight_walk *walk, const struct chi_insight *insight)
{
	return ((size_t)insight->view.last + 1) * sizeof(walk->games[0]) +
	       CHI_ARCHIVE_READER_BYTES + (walk->scan != NULL ? chi_scan_memory(walk->scan) : 0) +
	       (walk->footprint != NULL ? chi_footprint_memory(walk->footprint) : 0);
}

/* ---- One position ------------------------------------------------------------------------- */

int insight_walk_games(const struct chi_insight *insight, const struct chi_key *key,
		       insight_take *take, void *context, uint64_t *steps)
{
	struct chi_reached *reached;
	const struct chi_posting *entries;
	size_t n;
	uint32_t last = 0;
	int rc = chi_reached_open(insight->read, key, 0, &reached);
	if (rc != CHI_OK) {
		return rc;
	}
	insight_spend(steps, 1 + chi_reached_entries(reached) / GAMES_A_STEP);
	while (rc == CHI_OK && (rc = chi_reached_next(reached, &entries, &n)) == CHI_OK) {
		for (size_t i = 0; rc == CHI_OK && i < n; i++) {
			uint32_t number = entries[i].game;
			if (number > insight->view.last) {
				rc = -CHI_ECORRUPT;
			} else if (number != last) {
				rc = take(context, number);
			}
			last = number;
		}
	}
	chi_reached_close(reached);
	return rc == CHI_NONE ? CHI_OK : rc;
}

int insight_find_ply(struct chi_archive_reader *reader, uint32_t number, const struct chi_key *key,
		     uint32_t *ply)
{
	struct chi_game_moves moves;
	struct chi_replay replay;
	int rc = chi_archive_moves(reader, number, &moves);
	if (rc != CHI_OK) { /* its number is in a list */
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	for (*ply = 0; rc == CHI_OK; ++*ply) {
		struct chi_key reached;
		chi_move move;
		chi_key_encode(chi_replay_position(&replay), &reached);
		if (memcmp(reached.bytes, key->bytes, CHI_KEY_MAX) == 0) {
			return CHI_OK;
		}
		rc = chi_replay_next(&replay, &move);
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

int insight_find_game(const struct chi_insight *insight, struct chi_archive_reader *reader,
		      struct chi_insight_row *row)
{
	struct chi_reached *reached;
	const struct chi_posting *entries;
	size_t n;
	int rc = chi_reached_open(insight->read, &row->key, 0, &reached);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? CHI_OK : rc;
	}
	rc = chi_reached_next(reached, &entries, &n);
	row->game = rc == CHI_OK ? entries[0].game : 0;
	chi_reached_close(reached);
	return rc == CHI_OK	? insight_find_ply(reader, row->game, &row->key, &row->ply)
	       : rc == CHI_NONE ? -CHI_ECORRUPT
				: rc;
}
