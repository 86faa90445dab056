/* SPDX-License-Identifier: MIT */
/*
 * Counting without building rows. The trees know their sizes, so that the whole store, its known
 * and its unknown part are counted at once. A band without a filter is counted by its pages, whose
 * heads tell how many entries they have; only at its two ends keys are looked at. A filter's count
 * looks at keys, and touches a value only if the filter needs it.
 */
#include <string.h>

#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/pages/descent.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"
#include "store/store.h"

/* What counting a page by its head is worth, in steps: it waits for one line of memory. */
#define STEPS_A_PAGE 8

bool chi_count_unfiltered(const struct chi_scan *scan)
{
	return scan->sieve.idle && !chi_filter_joins(&scan->spec.filter);
}

/* True, and *count raised, if the rest of this phase follows from the trees' sizes. */
static bool count_at_once(const struct chi_scan *scan, uint64_t *count)
{
	const struct chi_scan_spec *spec = &scan->spec;
	if (scan->begun || !chi_count_unfiltered(scan) || spec->after.set) {
		return false;
	}
	if (scan->range == CHI_SCAN_RANGE_UNKNOWN && scan->positions >= scan->known) {
		*count += scan->positions - scan->known;
		return true;
	}
	if (scan->range == CHI_SCAN_RANGE_STRENGTH && spec->chi2_min <= 1 &&
	    spec->chi2_max == CHI_CHI2_MAX) {
		*count += scan->known;
		return true;
	}
	return false;
}

/* Makes the entry before the scan's place the last one looked at, for chi_scan_where. Its page was
 * not looked into: a cursor is made of the key, and may be given to the store again. */
static int mark(struct chi_scan *scan)
{
	struct chi_leaf_cursor back = scan->leaf_cursor;
	struct chi_item item;
	int rc = chi_leaf_cursor_next(&back, true, &item);
	if (rc == CHI_OK && !chi_strength_ok(item.key, item.key_len, item.value, item.len)) {
		return -CHI_ECORRUPT;
	}
	if (rc == CHI_OK) {
		scan->last = chi_val(item.key, item.key_len);
		scan->last_range = scan->range;
	}
	return rc < 0 ? rc : CHI_OK;
}

/* Pages by their heads, until the steps are used up or the phase is over. */
static int count_heads(struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	struct chi_leaf *leaf = &scan->leaf_cursor.leaf;
	for (;;) {
		/* By the way that was found to lead there. */
		bool last = scan->has_end && leaf->page == scan->end.leaf.page &&
			    memcmp(scan->leaf_cursor.at, scan->end.at,
				   (scan->tree.depth - 1) * sizeof(scan->end.at[0])) == 0;
		uint32_t to = last ? scan->end.leaf.at : leaf->n;
		uint32_t n = to > leaf->at ? to - leaf->at : 0;
		if (CHI_UNLIKELY(n > scan->left)) {
			return -CHI_ECORRUPT;
		}
		*count += n;
		leaf->at += n;
		scan->left -= n;
		*steps -= STEPS_A_PAGE < *steps ? STEPS_A_PAGE : *steps;
		if (!last && *steps == 0) {
			return mark(scan);
		}
		int rc = last ? CHI_NONE : chi_leaf_cursor_skip(&scan->leaf_cursor, false);
		if (rc == CHI_NONE && !(last ? chi_leaf_cursor_end_ok(&scan->end)
					     : chi_scan_range_end(scan) == CHI_NONE)) {
			rc = -CHI_ECORRUPT;
		}
		if (rc == CHI_NONE) {
			rc = mark(scan);
			chi_scan_range_leave(scan);
			return rc;
		}
		if (rc < 0) {
			return rc;
		}
	}
}

/* Begins the phase, and looks for where a count by pages ends. */
static int begin(struct chi_scan *scan)
{
	const struct chi_scan_spec *spec = &scan->spec;
	int rc = chi_scan_range_begin(scan);
	if (rc != CHI_OK || scan->range != CHI_SCAN_RANGE_STRENGTH || spec->descending) {
		return rc;
	}
	scan->has_end = spec->chi2_max < CHI_CHI2_MAX;
	if (scan->has_end) {
		uint8_t bytes[2];
		chi_chi2_bytes((uint16_t)(spec->chi2_max + 1), bytes);
		rc = chi_leaf_cursor_seek(&scan->end, &scan->tree, chi_strength_compare, false,
					  bytes, sizeof(bytes));
		if (rc == CHI_OK &&
		    !chi_scan_range_gap_ok(scan, &scan->end, bytes, sizeof(bytes))) {
			rc = -CHI_ECORRUPT;
		}
	}
	if (chi_count_unfiltered(scan)) {
		/* Pages that are counted by their heads stay unread. */
		scan->leaf_cursor.order = NULL;
	}
	return rc;
}

int chi_count_some(struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	if (scan->range == CHI_SCAN_RANGE_STRENGTH && chi_count_unfiltered(scan) &&
	    !scan->spec.descending) {
		return count_heads(scan, steps, count);
	}
	struct chi_row rows[CHI_DESCENT_LANES];
	struct chi_batch batch = {.rows = rows, .steps = *steps};
	batch.counted = !scan->joins || scan->range != CHI_SCAN_RANGE_STRENGTH;
	batch.max = batch.counted ? SIZE_MAX : CHI_DESCENT_LANES;
	int rc = chi_walk_some(scan, &batch);
	*steps = batch.steps;
	*count += batch.n;
	return rc;
}

int chi_count_next(struct chi_scan *scan, uint64_t *count)
{
	while (scan->range != CHI_SCAN_RANGE_OVER) {
		int rc = CHI_NONE;
		if (!count_at_once(scan, count)) {
			rc = scan->begun ? CHI_OK : begin(scan);
		}
		if (rc != CHI_NONE) {
			return rc;
		}
		chi_scan_range_leave(scan);
	}
	return CHI_NONE;
}

int chi_count_ready(struct chi_scan *scan)
{
	if (chi_env_forked(scan->read->env)) {
		return -CHI_EFORK;
	}
	/* The number is the same in any order; upwards by strength it is cheapest. What is wanted
	 * of each row does not matter, so nothing is joined for it. */
	struct chi_scan_spec *spec = &scan->spec;
	bool other = spec->order == CHI_ORDER_POSITION || spec->descending;
	scan->joins = chi_filter_joins(&spec->filter);
	if (scan->rc == CHI_OK && other && !scan->begun && !spec->after.set) {
		spec->order = CHI_ORDER_STRENGTH;
		spec->descending = false;
		scan->range =
			spec->chi2_min == 0 ? CHI_SCAN_RANGE_UNKNOWN : CHI_SCAN_RANGE_STRENGTH;
	}
	return scan->rc;
}

int chi_scan_count(struct chi_scan *scan, uint64_t steps, uint64_t *count)
{
	int rc = chi_count_ready(scan);
	while (rc == CHI_OK && steps > 0) {
		rc = chi_count_next(scan, count);
		if (rc == CHI_OK) {
			rc = chi_count_some(scan, &steps, count);
		}
	}
	if (rc != CHI_OK && rc != -CHI_EFORK) {
		scan->rc = rc;
	}
	return rc;
}
