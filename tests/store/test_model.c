/* SPDX-License-Identifier: MIT */
/*
 * Thousands of random operations against a model that is nothing but an array: puts of every
 * part, deletes, aborted batches, reopening; then every record, every order, band, filter, limit
 * and cursor, and every count.
 */
#include "tests/store/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chess/sieve.h"
#include "store/ratings/expect.h"

#define BATCHES 120

/* ---- Comparing ------------------------------------------------------------------------------ */

static void check_moves(const struct model *m, const struct chi_record *record)
{
	size_t n = 0;
	for (size_t i = 0; i < m->n_legal; i++) {
		if (m->played[i]) {
			assert_true(n < record->n_moves);
			assert_int_equal(record->moves[n].move, m->legal[i]);
			assert_memory_equal(&record->moves[n].counts, &m->by_move[i],
					    sizeof(m->by_move[i]));
			n++;
		}
	}
	assert_int_equal(record->n_moves, n);
}

static void check_plies(const struct model *m, const struct chi_record *record)
{
	size_t n = 0;
	for (size_t i = 0; i < PLIES; i++) {
		if (m->by_ply[i] > 0) {
			assert_true(n < record->n_plies);
			assert_int_equal(record->plies[n].ply, model_plies[i]);
			assert_int_equal(record->plies[n++].games, m->by_ply[i]);
		}
	}
	assert_int_equal(record->n_plies, n);
}

static void check_evals(const struct model *m, const struct chi_record *record)
{
	size_t n = 0;
	for (size_t i = 0; i < ENGINES; i++) {
		if (m->evaluated[i]) {
			assert_true(n < record->n_evals);
			const struct chi_eval *eval = &record->evals[n++];
			assert_string_equal(eval->engine, engines[i]);
			assert_int_equal(eval->depth, m->evals[i].depth);
			assert_int_equal(eval->score, m->evals[i].score);
			assert_int_equal(eval->nodes, m->evals[i].nodes);
			assert_int_equal(eval->n_pv, m->evals[i].n_pv);
		}
	}
	assert_int_equal(record->n_evals, n);
}

static void check_record(struct chi_read *read, const struct model *m, struct chi_arena *arena)
{
	struct chi_row row;
	struct chi_record record;
	chi_arena_reset(arena);
	int expected = m->stored ? CHI_OK : CHI_NONE;
	assert_int_equal(chi_read_row(read, &m->key, &row), expected);
	assert_int_equal(row.found, m->stored);
	assert_int_equal(chi_read_record(read, &m->key, arena, &record), expected);
	if (!m->stored) {
		return;
	}
	assert_int_equal(row.chi2, m->chi2);
	assert_memory_equal(&row.counts, &m->counts, sizeof(row.counts));
	assert_int_equal(record.chi2, m->chi2);
	assert_memory_equal(&record.counts, &m->counts, sizeof(record.counts));
	check_moves(m, &record);
	check_plies(m, &record);
	check_evals(m, &record);
	assert_int_equal(record.n_line, m->line);
	assert_true(!m->line || record.line[0] == m->legal[0]);
	assert_int_equal(record.n_note, strlen(m->note));
	assert_true(record.n_note == 0 || strcmp(record.note, m->note) == 0);
}

static int by_strength(const void *a, const void *b)
{
	const struct model *x = *(struct model *const *)a;
	const struct model *y = *(struct model *const *)b;
	return x->chi2 != y->chi2 ? (int)x->chi2 - (int)y->chi2
				  : help_key_compare(&x->key, &y->key);
}

static int by_key(const void *a, const void *b)
{
	return help_key_compare(&(*(struct model *const *)a)->key,
				&(*(struct model *const *)b)->key);
}

static bool within(const struct chi_range *range, int value)
{
	return !range->set || (value >= range->min && value <= range->max);
}

/* White's points in hundredths of a percent, half up; -1 without results. */
static int share_of(const struct model *m)
{
	uint64_t n = m->counts.white + m->counts.draws + m->counts.black;
	uint64_t points = 2 * m->counts.white + m->counts.draws;
	return n == 0 ? -1 : (int)((20000 * points + 2 * n) / (4 * n));
}

static int ply_of(const struct model *m)
{
	for (size_t i = 0; i < PLIES; i++) {
		if (m->by_ply[i] > 0) {
			return model_plies[i];
		}
	}
	return -1;
}

static bool filtered(const struct chi_filter *filter, const struct model *m)
{
	unsigned engines_there = 0;
	for (size_t i = 0; i < ENGINES; i++) {
		engines_there += m->evaluated[i];
	}
	return within(&filter->score, share_of(m)) && within(&filter->ply, ply_of(m)) &&
	       within(&filter->eval, model_eval(m)) && engines_there >= filter->engines_min;
}

/* The rows that a scan must give, before limit and cursor. */
static size_t expect(const struct chi_scan_spec *spec, struct model *out[POSITIONS])
{
	size_t n = 0;
	struct chi_sieve sieve;
	chi_sieve_init(&sieve, &spec->filter);
	for (size_t i = 0; i < POSITIONS; i++) {
		struct model *m = &models[i];
		uint64_t games = m->counts.white + m->counts.draws + m->counts.black;
		if (m->stored && m->chi2 >= spec->chi2_min && m->chi2 <= spec->chi2_max &&
		    games >= spec->filter.games_min && filtered(&spec->filter, m) &&
		    chi_sieve_passes(&sieve, m->key.bytes, m->key.len,
				     chi_sieve_count(m->key.bytes, m->key.len))) {
			out[n++] = m;
		}
	}
	qsort(out, n, sizeof(struct model *),
	      spec->order == CHI_ORDER_POSITION ? by_key : by_strength);
	for (size_t i = 0; spec->descending && i < n / 2; i++) {
		struct model *m = out[i];
		out[i] = out[n - 1 - i];
		out[n - 1 - i] = m;
	}
	return n;
}

static void random_spec(struct chi_scan_spec *spec)
{
	*spec = (struct chi_scan_spec){.chi2_max = CHI_CHI2_MAX};
	switch (help_below(5)) {
	case 0:
		break;
	case 1:
		spec->chi2_max = 0;
		break;
	case 2:
		spec->chi2_min = models[help_below(POSITIONS)].chi2;
		break;
	default: {
		unsigned a = models[help_below(POSITIONS)].chi2;
		unsigned b = models[help_below(POSITIONS)].chi2;
		spec->chi2_min = (uint16_t)(a < b ? a : b);
		spec->chi2_max = (uint16_t)(a < b ? b : a);
		break;
	}
	}
	spec->descending = help_below(2);
	spec->order = help_below(3) == 0;
	spec->want = (uint8_t)help_below(3);
	if (help_below(3) == 0) {
		spec->filter.side = (uint8_t)(1 + help_below(2));
	}
	if (help_below(3) == 0) {
		spec->filter.games_min = help_below(100);
	}
	if (help_below(3) == 0) {
		spec->filter.pieces_min = 20;
	}
	if (help_below(6) == 0) {
		uint16_t low = (uint16_t)help_below(6000);
		spec->filter.score = (struct chi_range){true, low, (uint16_t)(low + 3000)};
	}
	if (help_below(6) == 0) {
		uint16_t low = (uint16_t)(12700 + help_below(100));
		spec->filter.eval = (struct chi_range){true, low, (uint16_t)(low + 70)};
	}
	if (help_below(6) == 0) {
		uint16_t low = model_plies[help_below(PLIES)];
		spec->filter.ply = (struct chi_range){true, low, (uint16_t)(low + help_below(200))};
	}
	spec->filter.engines_min = help_below(6) == 0 ? (uint8_t)help_below(4) : 0;
	if (spec->filter.ply.max > CHI_PLY_MAX) {
		spec->filter.ply.max = CHI_PLY_MAX;
	}
}

static void check_row(const struct chi_row *row, const struct model *m, uint8_t want)
{
	const struct chi_counts none = {0};
	assert_memory_equal(&row->key, &m->key, sizeof(row->key));
	assert_true(row->found);
	assert_int_equal(row->chi2, m->chi2);
	assert_memory_equal(&row->counts, want == CHI_WANT_KEYS ? &none : &m->counts,
			    sizeof(row->counts));
}

/* Walks in random slices, going on from a cursor (through its text) now and then. */
static void check_scan(struct chi_read *read, struct chi_scan_spec *spec)
{
	struct model *expected[POSITIONS];
	size_t n = expect(spec, expected);
	struct chi_scan *scan;
	ok(chi_read_scan(read, spec, &scan, &fault));
	size_t at = 0;
	int rc = CHI_OK;
	while (rc == CHI_OK) {
		struct chi_row rows[20];
		size_t got;
		rc = chi_scan_rows(scan, rows, 1 + help_below(20), 1 + help_below(30), &got);
		assert_true(rc >= 0);
		for (size_t i = 0; i < got; i++) {
			assert_true(at < n);
			check_row(&rows[i], expected[at++], spec->want);
		}
		if (rc == CHI_OK && help_below(3) == 0) {
			char text[CHI_CURSOR_TEXT_SIZE];
			struct chi_cursor where;
			chi_scan_where(scan, &where);
			size_t len = chi_cursor_print(&where, text);
			ok(chi_cursor_parse(text, len, &spec->after));
			chi_scan_free(scan);
			ok(chi_read_scan(read, spec, &scan, &fault));
		}
	}
	assert_int_equal(at, n);
	chi_scan_free(scan);
	spec->after = (struct chi_cursor){0};
}

/* A limit cuts; a cursor at any position, stored or not, goes on after it. */
static void check_limit_and_cursor(struct chi_read *read, struct chi_scan_spec *spec)
{
	struct model *expected[POSITIONS];
	size_t n = expect(spec, expected);
	const struct model *from = &models[help_below(POSITIONS)];
	spec->after = (struct chi_cursor){.set = true, .chi2 = from->chi2, .key = from->key};
	spec->limit = 1 + help_below(10);
	size_t at = 0;
	const struct model *const *f = &from;
	while (at < n) {
		int order = spec->order == CHI_ORDER_POSITION ? by_key(&expected[at], f)
							      : by_strength(&expected[at], f);
		if (spec->descending ? order < 0 : order > 0) {
			break;
		}
		at++;
	}
	struct chi_scan *scan;
	struct chi_row rows[20];
	size_t got;
	ok(chi_read_scan(read, spec, &scan, &fault));
	assert_int_equal(chi_scan_rows(scan, rows, 20, UINT64_MAX, &got), CHI_NONE);
	assert_int_equal(got, n - at < spec->limit ? n - at : spec->limit);
	for (size_t i = 0; i < got; i++) {
		check_row(&rows[i], expected[at + i], spec->want);
	}
	chi_scan_free(scan);
	spec->after = (struct chi_cursor){0};
	spec->limit = 0;
}

static enum chi_sort sort_by;
static struct chi_expect curve; /* of gaps */

static int cp_of(const struct model *m)
{
	int cp = model_eval(m) - CHI_EVAL_EVEN;
	return cp > 1599 ? 1599 : cp < -1599 ? -1599 : cp;
}

static double ended_of(const struct model *m)
{
	return (double)m->counts.white + (double)m->counts.draws + (double)m->counts.black;
}

static void fit_curve(struct model *const *rows, size_t n)
{
	curve = (struct chi_expect){0};
	for (size_t i = 0; i < n; i++) {
		double wins = (double)rows[i]->counts.white;
		double draws = (double)rows[i]->counts.draws;
		if (model_eval(rows[i]) != 0 && ended_of(rows[i]) > 0) {
			chi_expect_add_many(&curve, cp_of(rows[i]), (uint64_t)ended_of(rows[i]),
					    wins + draws / 2, wins + draws / 4);
		}
	}
	chi_expect_fit(&curve);
}

static int gap_of(const struct model *m)
{
	double variance;
	double n = ended_of(m);
	double points = (double)m->counts.white + (double)m->counts.draws / 2;
	if (model_eval(m) == 0 || n == 0) {
		return -1;
	}
	double e = chi_expect_at(&curve, cp_of(m), &variance);
	double z = fabs(points - n * e) / sqrt(n * variance);
	return z < 1e6 ? (int)lround(1000 * z) : INT32_MAX;
}

static int sort_value(const struct model *m)
{
	return sort_by == CHI_SORT_SCORE ? share_of(m)
	       : sort_by == CHI_SORT_GAP ? gap_of(m)
	       : sort_by == CHI_SORT_EVAL
		       ? model_eval(m) - 1
		       : (int)(m->counts.white + m->counts.draws + m->counts.black);
}

/* The greatest first; of equals those with more games, then by key. */
static int by_value(const void *a, const void *b)
{
	const struct model *x = *(const struct model *const *)a;
	const struct model *y = *(const struct model *const *)b;
	uint64_t games_x = x->counts.white + x->counts.draws + x->counts.black;
	uint64_t games_y = y->counts.white + y->counts.draws + y->counts.black;
	int order = sort_value(y) - sort_value(x);
	if (order == 0 && games_x != games_y) {
		order = games_x > games_y ? -1 : 1;
	}
	return order != 0 ? order : help_key_compare(&x->key, &y->key);
}

static int by_value_up(const void *a, const void *b)
{
	const struct model *x = *(const struct model *const *)a;
	const struct model *y = *(const struct model *const *)b;
	int order = sort_value(x) - sort_value(y);
	return order != 0 ? order : by_value(a, b);
}

/* A sorted scan against all rows sorted; records come in the same order. */
static void check_sorted(struct chi_read *read, struct chi_scan_spec *spec, struct chi_arena *arena)
{
	struct model *expected[POSITIONS];
	size_t n = 0;
	spec->sort = (uint8_t)(1 + help_below(4));
	spec->limit = 1 + help_below(help_below(2) ? 10 : 2 * POSITIONS);
	sort_by = (enum chi_sort)spec->sort;
	size_t all = expect(spec, expected);
	fit_curve(expected, all);
	for (size_t i = 0; i < all; i++) {
		if (sort_value(expected[i]) >= 0) {
			expected[n++] = expected[i];
		}
	}
	qsort(expected, n, sizeof(struct model *), spec->descending ? by_value : by_value_up);
	n = n < spec->limit ? n : (size_t)spec->limit;
	struct chi_scan *scan;
	ok(chi_read_scan(read, spec, &scan, &fault));
	size_t at = 0;
	for (int rc = CHI_OK; rc == CHI_OK;) {
		struct chi_row rows[7] = {0};
		struct chi_record record;
		bool got = false;
		size_t some = 0;
		chi_arena_reset(arena);
		if (spec->want == CHI_WANT_RECORDS) {
			rc = chi_scan_record(scan, 1 + help_below(60), arena, rows, &record, &got);
			some = got;
		} else {
			rc = chi_scan_rows(scan, rows, 1 + help_below(7), 1 + help_below(60),
					   &some);
		}
		assert_true(rc >= 0);
		for (size_t i = 0; i < some; i++) {
			assert_true(at < n);
			assert_false(rows[i].has_eval || rows[i].score != 0);
			check_row(&rows[i], expected[at++], spec->want);
		}
	}
	assert_int_equal(at, n);
	chi_scan_free(scan);
}

static void check_count(struct chi_read *read, const struct chi_scan_spec *spec)
{
	struct model *expected[POSITIONS];
	size_t n = expect(spec, expected);
	struct chi_scan *scan;
	uint64_t count = 0;
	int rc;
	ok(chi_read_scan(read, spec, &scan, &fault));
	do {
		rc = chi_scan_tally(scan, 1 + help_below(50), &count);
	} while (rc == CHI_OK);
	assert_int_equal(rc, CHI_NONE);
	assert_int_equal(count, n);
	chi_scan_free(scan);
}

static void check_records_of_scan(struct chi_read *read, struct chi_arena *arena)
{
	struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_RECORDS};
	struct model *expected[POSITIONS];
	size_t n = expect(&spec, expected);
	size_t at = 0;
	struct chi_scan *scan;
	ok(chi_read_scan(read, &spec, &scan, &fault));
	for (;;) {
		struct chi_row row;
		struct chi_record record;
		bool got;
		chi_arena_reset(arena);
		int rc = chi_scan_record(scan, 1 + help_below(5), arena, &row, &record, &got);
		if (rc == CHI_NONE) {
			break;
		}
		ok(rc);
		if (got) {
			assert_true(at < n);
			check_row(&row, expected[at], spec.want);
			check_moves(expected[at++], &record);
		}
	}
	assert_int_equal(at, n);
	chi_scan_free(scan);
}

static void check_all(struct chi_dir *store)
{
	struct chi_arena arena;
	struct chi_read *read;
	chi_arena_init(&arena, 1 << 20);
	ok(chi_read_begin(store, &read));
	for (size_t i = 0; i < POSITIONS; i++) {
		check_record(read, &models[i], &arena);
	}
	for (int i = 0; i < 12; i++) {
		struct chi_scan_spec spec;
		random_spec(&spec);
		check_scan(read, &spec);
		check_limit_and_cursor(read, &spec);
		check_count(read, &spec);
		check_sorted(read, &spec, &arena);
	}
	check_records_of_scan(read, &arena);
	chi_read_end(read);
	chi_arena_deinit(&arena);
}

static void run_model(enum chi_statistic statistic)
{
	struct chi_counts base = {0};
	struct chi_dir *store = help_store("model", statistic);
	if (statistic == CHI_STATISTIC_OUTCOME || statistic == CHI_STATISTIC_SCORE) {
		struct chi_write *write;
		base = (struct chi_counts){400, 300, 300, 5};
		ok(chi_write_begin(store, &write, &fault));
		ok(chi_write_base(write, &base));
		ok(chi_write_commit(write, &fault));
	}
	model_reset(statistic, &base);
	for (int i = 0; i < BATCHES; i++) {
		model_batch(store);
		if (i % 10 == 9) {
			check_all(store);
		}
		if (i % 40 == 39) {
			chi_dir_close(store);
			store = help_open(help_path("model"), CHI_STORE_WRITE);
			ok(help_verify(store, NULL));
		}
	}
	struct chi_verify_result result;
	ok(help_verify(store, &result));
	assert_int_equal(result.positions, help_count(store));
	chi_dir_close(store);
}

CASE(test_external)
{
	run_model(CHI_STATISTIC_EXTERNAL);
}

CASE(test_control)
{
	run_model(CHI_STATISTIC_CONTROL);
}

CASE(test_outcome)
{
	run_model(CHI_STATISTIC_OUTCOME);
}

CASE(test_score)
{
	run_model(CHI_STATISTIC_SCORE);
}

CASE(test_eval)
{
	run_model(CHI_STATISTIC_EVAL);
}
