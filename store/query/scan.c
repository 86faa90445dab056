/* SPDX-License-Identifier: MIT */
/* Opening scans, and delivering their rows. */
#include <stdlib.h>
#include <string.h>

#include "base/evidence.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/key.h"
#include "chess/material.h"
#include "base/arena.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "store/store.h"

int chi_scan_check(const struct chi_scan_spec *spec, struct chi_fault *fault)
{
	if (spec->chi2_max > CHI_CHI2_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "band: the upper bound is over 255.99");
	}
	if (spec->chi2_min > spec->chi2_max) {
		return chi_fail(fault, -CHI_EINVAL, "band: the lower bound is over the upper one");
	}
	if (spec->order > CHI_ORDER_POSITION) {
		return chi_fail(fault, -CHI_EINVAL, "order: unknown number %u", spec->order);
	}
	if (spec->want > CHI_WANT_RECORDS) {
		return chi_fail(fault, -CHI_EINVAL, "want: unknown number %u", spec->want);
	}
	const struct chi_cursor *after = &spec->after;
	if (spec->sort > CHI_SORT_GAP) {
		return chi_fail(fault, -CHI_EINVAL, "sort: unknown number %u", spec->sort);
	}
	if (spec->sort != CHI_SORT_NONE && (spec->limit < 1 || spec->limit > CHI_SORT_MAX)) {
		return chi_fail(fault, -CHI_EINVAL, "sort: takes a limit of 1 to %d rows",
				CHI_SORT_MAX);
	}
	if (spec->sort != CHI_SORT_NONE && after->set) {
		return chi_fail(fault, -CHI_EINVAL, "sort: a sorted scan takes no cursor");
	}
	if (after->set && (after->chi2 > CHI_CHI2_MAX || after->key.len > CHI_KEY_MAX ||
			   !chi_key_shape_ok(after->key.bytes, after->key.len))) {
		return chi_fail(fault, -CHI_EINVAL, "cursor: not one that a scan gave");
	}
	return chi_filter_check(&spec->filter, fault);
}

/* Where a scan begins: the phase of its cursor, or the first one of its band. */
static enum chi_scan_range first_range(const struct chi_scan_spec *spec)
{
	if (spec->order == CHI_ORDER_POSITION) {
		return CHI_SCAN_RANGE_POSITION;
	}
	bool unknown = spec->chi2_min == 0;
	bool known = spec->chi2_max > 0;
	bool after_known = spec->after.set && spec->after.chi2 != CHI_CHI2_UNKNOWN;
	bool after_unknown = spec->after.set && spec->after.chi2 == CHI_CHI2_UNKNOWN;
	if (spec->descending) {
		/* A cursor below the band's known part has that part after it. */
		bool past = spec->after.set &&
			    spec->after.chi2 < (spec->chi2_min > 0 ? spec->chi2_min : 1);
		if (known && !past) {
			return CHI_SCAN_RANGE_STRENGTH;
		}
		return unknown ? CHI_SCAN_RANGE_UNKNOWN : CHI_SCAN_RANGE_OVER;
	}
	if (unknown && !after_known) {
		return CHI_SCAN_RANGE_UNKNOWN;
	}
	bool past = spec->after.set && !after_unknown && spec->after.chi2 > spec->chi2_max;
	return known && !past ? CHI_SCAN_RANGE_STRENGTH : CHI_SCAN_RANGE_OVER;
}

/* The sizes bound every walk, and answer some counts at once. */
static int count_entries(struct chi_scan *scan)
{
	struct chi_store_state state;
	int rc = chi_state_get(scan->read->txn, scan->read->env->meta, &state);
	scan->positions = rc == CHI_OK ? state.positions : 0;
	scan->known = rc == CHI_OK ? state.known : 0;
	return rc;
}

void chi_scan_free(struct chi_scan *scan)
{
	if (scan != NULL) {
		free(scan->sorted.rows);
		free(scan->curve);
		free(scan);
	}
}

static void scan_closep(struct chi_scan **scan)
{
	chi_scan_free(*scan);
}

/* Of masks the filter's number of pieces is asked, and what the caller asks. */
static void narrow_masks(struct chi_scan *scan)
{
	chi_masks_bound(&scan->masks, scan->sieve.least, scan->sieve.span);
	scan->picks = !chi_masks_idle(&scan->masks);
}

int chi_read_scan(struct chi_read *read, const struct chi_scan_spec *spec, struct chi_scan **out,
		  struct chi_fault *fault)
{
	if (chi_env_forked(read->env)) {
		return chi_fault_plain(fault, -CHI_EFORK);
	}
	int rc = chi_scan_check(spec, fault);
	if (rc < 0) {
		return rc;
	}
	_cleanup_(scan_closep) struct chi_scan *scan = calloc(1, sizeof(*scan));
	if (scan == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	scan->read = read;
	scan->spec = *spec;
	scan->range = first_range(spec);
	chi_sieve_init(&scan->sieve, &spec->filter);
	scan->fit = UINT32_MAX;
	chi_masks_init(&scan->masks);
	narrow_masks(scan);
	scan->joins = spec->want != CHI_WANT_KEYS || chi_scan_joins(scan);
	scan->last_range = CHI_SCAN_RANGE_OVER;
	rc = count_entries(scan);
	if (rc == CHI_OK && spec->sort != CHI_SORT_NONE) {
		rc = chi_sorted_open(scan);
	}
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	*out = scan;
	scan = NULL;
	return CHI_OK;
}

/* Fills the batch, up to the scan's limit. A scan that ended stays so. */
static int fill_batch(struct chi_scan *scan, struct chi_scan_batch *batch)
{
	uint64_t limit = scan->spec.limit;
	uint64_t left = limit != 0 ? limit - scan->rows : UINT64_MAX;
	size_t max = batch->max;
	if (chi_env_forked(scan->read->env)) {
		return -CHI_EFORK;
	}
	batch->max = left < max ? (size_t)left : max;
	while (scan->rc == CHI_OK && scan->range != CHI_SCAN_RANGE_OVER && batch->n < batch->max &&
	       batch->steps > 0) {
		scan->rc = chi_walk_some(scan, batch);
	}
	scan->rows += batch->n;
	if (scan->rc == CHI_OK &&
	    (scan->range == CHI_SCAN_RANGE_OVER || (limit != 0 && scan->rows == limit))) {
		scan->rc = CHI_NONE;
	}
	return scan->rc;
}

/* The rows of a sorted scan, which it delivers when it has them all. */
static int collect(struct chi_scan *scan, uint64_t steps)
{
	return chi_env_forked(scan->read->env) ? -CHI_EFORK : chi_sorted_collect(scan, steps);
}

static bool was_played(const struct chi_move_stat *stat)
{
	const struct chi_counts *c = &stat->counts;
	return c->white > 0 || c->draws > 0 || c->black > 0 || c->other > 0;
}

/* Leaves of a record what the games that count did: its counts are the row's. */
static int judge_record(struct chi_scan *scan, struct chi_arena *arena, const struct chi_row *row,
			struct chi_record *record)
{
	struct chi_reached *reached = NULL;
	struct chi_counts counts;
	size_t n = record->n_moves;
	struct chi_move_stat *moves = chi_arena_array(arena, n, sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		moves[i] = (struct chi_move_stat){.move = record->moves[i].move};
	}
	int rc = chi_reached_open(scan->read, &row->key, 1, &reached);
	if (rc >= 0) {
		rc = scan->judge(scan->judge_context, reached, &counts, moves, n);
	}
	chi_reached_close(reached);
	record->counts = row->counts;
	record->moves = moves;
	record->n_moves = 0;
	record->n_plies = 0;
	for (size_t i = 0; i < n; i++) {
		moves[record->n_moves] = moves[i];
		record->n_moves += was_played(&moves[i]);
	}
	return rc < 0 ? rc : CHI_OK;
}

/* The next of them with its record. A record that is gone, from a newer snapshot than the rows are
 * of, is passed over. */
static int sorted_record(struct chi_scan *scan, uint64_t steps, struct chi_arena *arena,
			 struct chi_row *row, struct chi_record *record, bool *got)
{
	size_t n = 0;
	*got = false;
	int rc = collect(scan, steps);
	int last = rc == CHI_OK ? chi_sorted_rows(scan, row, 1, &n) : rc;
	if (n == 0) {
		return last;
	}
	rc = chi_read_record(scan->read, &row->key, arena, record);
	rc = rc == CHI_OK ? chi_evidence_apply(&scan->spec.filter.evidence, arena, record) : rc;
	if (rc == CHI_OK && scan->judge != NULL && !scan->spec.whole_counts) {
		rc = judge_record(scan, arena, row, record);
	}
	*got = rc == CHI_OK;
	scan->rc = rc < 0 ? rc : last;
	return *got ? CHI_OK : scan->rc;
}

int chi_scan_rows(struct chi_scan *scan, struct chi_row *rows, size_t max, uint64_t steps,
		  size_t *n)
{
	struct chi_scan_batch batch = {.rows = rows, .max = max, .steps = steps};
	if (scan->sorted.rows != NULL) {
		*n = 0;
		int collected = collect(scan, steps);
		return collected == CHI_OK ? chi_sorted_rows(scan, rows, max, n) : collected;
	}
	int rc = fill_batch(scan, &batch);
	*n = batch.n;
	/* Counts that were read for the filter alone were not asked for. */
	bool zero = scan->spec.want == CHI_WANT_KEYS;
	for (size_t i = 0; zero && i < batch.n; i++) {
		rows[i].counts = (struct chi_counts){0};
	}
	return rc;
}

int chi_scan_record(struct chi_scan *scan, uint64_t steps, struct chi_arena *arena,
		    struct chi_row *row, struct chi_record *record, bool *got)
{
	if (scan->sorted.rows != NULL) {
		return sorted_record(scan, steps, arena, row, record, got);
	}
	MDB_val value = {0};
	struct chi_scan_batch batch = {.rows = row, .values = &value, .max = 1, .steps = steps};
	/* The record is needed regardless of what the spec wants. */
	scan->joins = true;
	int rc = fill_batch(scan, &batch);
	*got = batch.n == 1;
	if (!*got) {
		return rc;
	}
	rc = chi_record_decode(value.mv_data, value.mv_size, arena, record, NULL);
	rc = rc == CHI_OK ? chi_evidence_apply(&scan->spec.filter.evidence, arena, record) : rc;
	if (rc == CHI_OK && scan->judge != NULL && !scan->spec.whole_counts) {
		rc = judge_record(scan, arena, row, record);
	}
	if (rc < 0) {
		*got = false;
		scan->rc = rc;
	}
	return rc;
}

void chi_scan_sift(struct chi_scan *scan, chi_scan_wanted *wanted,
		   const struct chi_mask_wants *masks, const void *context)
{
	if (masks != NULL) {
		scan->masks = *masks;
		narrow_masks(scan);
	}
	scan->wanted = wanted;
	scan->wanted_context = context;
}

uint64_t chi_scan_left(const struct chi_scan *scan, uint64_t *all)
{
	if (scan->given != NULL) {
		*all = scan->n_given;
		return scan->n_given - scan->at_given;
	}
	*all = scan->range == CHI_SCAN_RANGE_STRENGTH ? scan->known : scan->positions;
	return scan->range == CHI_SCAN_RANGE_OVER ? 0 : scan->begun ? scan->left : *all;
}

bool chi_scan_collected(const struct chi_scan *scan)
{
	return scan->sorted.collected;
}

size_t chi_scan_memory(const struct chi_scan *scan)
{
	return sizeof(*scan) + scan->sorted.max * sizeof(*scan->sorted.rows);
}

void chi_scan_attach(struct chi_scan *scan, struct chi_read *read)
{
	scan->read = read;
}

/* ---- Cursors ------------------------------------------------------------------------------ */

void chi_scan_where(const struct chi_scan *scan, struct chi_cursor *out)
{
	const uint8_t *bytes = scan->last;
	size_t len = scan->last_len;
	*out = (struct chi_cursor){0};
	if (scan->failed.set) {
		*out = scan->failed;
		return;
	}
	if (scan->sorted.rows != NULL || scan->last_range == CHI_SCAN_RANGE_OVER ||
	    chi_env_forked(scan->read->env)) {
		*out = scan->spec.after;
		return;
	}
	out->set = true;
	if (scan->last_range == CHI_SCAN_RANGE_STRENGTH) {
		out->chi2 = chi_chi2_of(bytes);
		bytes += 2;
		len -= 2;
	} else if (scan->last_range == CHI_SCAN_RANGE_POSITION) {
		out->chi2 = scan->last_chi2;
	}
	out->key.len = (uint8_t)len;
	memcpy(out->key.bytes, bytes, len);
}

size_t chi_cursor_print(const struct chi_cursor *cursor, char out[CHI_CURSOR_TEXT_SIZE])
{
	if (!cursor->set) {
		out[0] = '\0';
		return 0;
	}
	uint8_t bytes[2 + CHI_KEY_MAX] = {(uint8_t)(cursor->chi2 >> 8), (uint8_t)cursor->chi2};
	size_t len = cursor->key.len <= CHI_KEY_MAX ? cursor->key.len : CHI_KEY_MAX;
	memcpy(bytes + 2, cursor->key.bytes, len);
	chi_hex_print(bytes, 2 + len, out);
	return 2 * (2 + len);
}

int chi_cursor_parse(const char *text, size_t len, struct chi_cursor *out)
{
	uint8_t bytes[2 + CHI_KEY_MAX];
	*out = (struct chi_cursor){0};
	if (len == 0) {
		return CHI_OK;
	}
	if (len % 2 != 0 || len < 2 * (2 + CHI_KEY_MIN) || len > 2 * sizeof(bytes) ||
	    chi_hex_parse(text, len, bytes) < 0) {
		return -CHI_ESYNTAX;
	}
	unsigned chi2 = (unsigned)bytes[0] << 8 | bytes[1];
	size_t key_len = len / 2 - 2;
	if (chi2 > CHI_CHI2_MAX || !chi_key_shape_ok(bytes + 2, key_len)) {
		return -CHI_ESYNTAX;
	}
	out->set = true;
	out->chi2 = (uint16_t)chi2;
	out->key.len = (uint8_t)key_len;
	memcpy(out->key.bytes, bytes + 2, key_len);
	return CHI_OK;
}
