/* SPDX-License-Identifier: MIT */
/*
 * Counting without building rows. The trees know their sizes, so that the whole store, its known
 * and its unknown part are counted at once. A band without a filter is counted by its pages, whose
 * heads tell how many entries they have; only at its two ends keys are looked at. A filter's count
 * looks at keys, and touches a value only if the filter needs it.
 */
#include "store/query/scan_priv.h"

/* What counting a page by its head is worth, in steps: it waits for one line of memory. */
#define STEPS_A_PAGE 8

bool chi_count_unfiltered(const struct chi_scan *scan)
{
	return scan->sieve.idle && scan->spec.filter.games_min == 0;
}

/* True, and *count raised, if the rest of this phase stands in the trees' sizes. */
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

/* ---- Entry by entry ------------------------------------------------------------------------ */

/* Whether the entry counts. In the strength tree its key may be all there is to look at. */
static inline int match(struct chi_scan *scan, struct chi_entry *entry, bool *matched)
{
	if (scan->range != CHI_SCAN_RANGE_STRENGTH || scan->spec.filter.games_min > 0) {
		struct chi_row row = {0};
		MDB_val record;
		return chi_walk_match(scan, entry, &row, &record, matched);
	}
	*matched = true;
	if (scan->sieve.idle) {
		return CHI_OK;
	}
	uint32_t n = chi_sieve_count(entry->key, entry->key_len);
	*matched = n != 0 && chi_sieve_passes(&scan->sieve, entry->key, entry->key_len, n);
	return n != 0 ? CHI_OK : -CHI_ECORRUPT;
}

static int count_entry(struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	struct chi_entry entry;
	bool matched = false;
	--*steps;
	int rc = chi_walk_next(scan, &entry);
	if (rc == CHI_OK) {
		rc = match(scan, &entry, &matched);
	}
	*count += matched;
	return rc;
}

/* Those that have games enough, a group together. */
static int count_group(struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	struct chi_row rows[CHI_DESCENT_LANES];
	size_t n;
	int rc = chi_walk_join(scan, steps, rows, CHI_DESCENT_LANES, &n);
	*count += n;
	return rc;
}

/* ---- Page by page -------------------------------------------------------------------------- */

/* Entries `at` .. `to` - 1 of a leaf of the strength tree. */
static int sift_leaf(struct chi_scan *scan, uint32_t to, uint64_t *count)
{
	const struct chi_leaf leaf = scan->leaf_cursor.leaf;
	uint64_t passed = 0;
	for (uint32_t i = leaf.at; i < to; i++) {
		struct chi_item item;
		chi_leaf_ask(&leaf, i);
		if (CHI_UNLIKELY(!chi_leaf_item(&leaf, i, &item) || item.key_len < 2 ||
				 chi_chi2_of(item.key) == CHI_CHI2_UNKNOWN)) {
			return -CHI_ECORRUPT;
		}
		uint32_t n = chi_sieve_count(item.key + 2, item.key_len - 2);
		if (CHI_UNLIKELY(n == 0)) {
			return -CHI_ECORRUPT;
		}
		passed += chi_sieve_passes(&scan->sieve, item.key + 2, item.key_len - 2, n);
	}
	*count += passed;
	return CHI_OK;
}

/* The same of the position tree, whose records tell whether they are in the band. */
static int match_leaf(struct chi_scan *scan, uint32_t to, uint64_t *count)
{
	const struct chi_leaf leaf = scan->leaf_cursor.leaf;
	struct chi_item before = {0};
	for (uint32_t i = leaf.at; i < to; i++) {
		struct chi_item item;
		bool matched = false;
		chi_leaf_ask(&leaf, i);
		if (CHI_UNLIKELY(!chi_leaf_item(&leaf, i, &item) ||
				 (item.big && chi_leaf_cursor_big(&scan->tree, &item) != CHI_OK) ||
				 chi_sieve_count(item.key, item.key_len) == 0 ||
				 (before.key != NULL &&
				  chi_position_compare(before.key, before.key_len, item.key,
						       item.key_len) >= 0))) {
			return -CHI_ECORRUPT;
		}
		before = item;
		struct chi_entry entry = {
			.tree_key = chi_val(item.key, item.key_len),
			.value = chi_val(item.value, item.len),
			.key = item.key,
			.key_len = item.key_len,
		};
		int rc = match(scan, &entry, &matched);
		if (CHI_UNLIKELY(rc != CHI_OK)) {
			return rc;
		}
		*count += matched;
	}
	return CHI_OK;
}

/* Makes the entry before the scan's place the last one looked at, for chi_scan_where. By pages. */
static int mark(struct chi_scan *scan)
{
	struct chi_leaf_cursor back = scan->leaf_cursor;
	size_t strength = scan->range == CHI_SCAN_RANGE_STRENGTH ? 2 : 0;
	struct chi_item item;
	int rc = chi_leaf_cursor_next(&back, true, &item);
	/* Pages that were counted by their heads have not been looked at: a cursor is made of this
	 * key, and may be given to the store again. */
	if (rc == CHI_OK && (item.key_len < strength ||
			     chi_sieve_count(item.key + strength, item.key_len - strength) == 0)) {
		return -CHI_ECORRUPT;
	}
	if (rc == CHI_OK) {
		scan->last = chi_val(item.key, item.key_len);
		scan->last_range = scan->range;
	}
	return rc < 0 ? rc : CHI_OK;
}

/* The rest of the leaf the scan is in, as far as the band goes. */
static int count_leaf(struct chi_scan *scan, uint64_t *steps, uint64_t *count, bool *last)
{
	struct chi_leaf *leaf = &scan->leaf_cursor.leaf;
	bool unfiltered = scan->range == CHI_SCAN_RANGE_STRENGTH && chi_count_unfiltered(scan);
	*last = scan->has_end && leaf->page == scan->end.leaf.page;
	uint32_t to = *last ? scan->end.leaf.at : leaf->n;
	uint32_t n = to > leaf->at ? to - leaf->at : 0;
	uint64_t cost = unfiltered ? STEPS_A_PAGE : n;
	int rc = CHI_OK;
	if (CHI_UNLIKELY(n > scan->left)) {
		return -CHI_ECORRUPT;
	}
	if (unfiltered) {
		*count += n;
	} else if (scan->range == CHI_SCAN_RANGE_STRENGTH) {
		rc = sift_leaf(scan, to, count);
	} else {
		rc = match_leaf(scan, to, count);
	}
	leaf->at += n;
	scan->left -= n;
	*steps -= cost < *steps ? cost : *steps;
	return rc;
}

/* Leaves, until the steps are used up or the phase is over. */
static int count_leaves(struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	while (*steps > 0) {
		bool last;
		int rc = count_leaf(scan, steps, count, &last);
		if (rc == CHI_OK && !last) {
			rc = *steps > 0 ? chi_leaf_cursor_forth(&scan->leaf_cursor) : CHI_OK;
		}
		if (rc < 0) {
			return rc;
		}
		if (last || rc == CHI_NONE) {
			rc = mark(scan);
			chi_scan_range_leave(scan);
			return rc;
		}
	}
	return mark(scan);
}

/* Begins the phase if it has not, and looks for where a count by pages ends. */
static int begin(struct chi_scan *scan)
{
	const struct chi_scan_spec *spec = &scan->spec;
	int rc = scan->begun ? CHI_OK : chi_scan_range_begin(scan);
	if (rc != CHI_OK || scan->counts) {
		return rc;
	}
	scan->counts = true;
	if (scan->range == CHI_SCAN_RANGE_STRENGTH && chi_count_unfiltered(scan)) {
		/* Pages that are counted by their heads stay unread. */
		scan->leaf_cursor.order = NULL;
	}
	scan->has_end = scan->by_pages && scan->range == CHI_SCAN_RANGE_STRENGTH &&
			spec->chi2_max < CHI_CHI2_MAX;
	if (!scan->has_end) {
		return CHI_OK;
	}
	uint8_t bytes[2];
	chi_chi2_bytes((uint16_t)(spec->chi2_max + 1), bytes);
	return chi_leaf_cursor_seek(&scan->end, &scan->tree, chi_strength_compare, false, bytes,
				    sizeof(bytes));
}

int chi_count_some(struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	if (scan->range == CHI_SCAN_RANGE_STRENGTH && scan->spec.filter.games_min > 0) {
		return count_group(scan, steps, count);
	}
	if (scan->by_pages && !scan->spec.descending) {
		return count_leaves(scan, steps, count);
	}
	return count_entry(scan, steps, count);
}

int chi_count_next(struct chi_scan *scan, uint64_t *count)
{
	while (scan->range != CHI_SCAN_RANGE_OVER) {
		int rc = CHI_NONE;
		if (!count_at_once(scan, count)) {
			rc = begin(scan);
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
