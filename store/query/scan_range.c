/* SPDX-License-Identifier: MIT */
/* The phases of a walk: where each begins, in either direction, where it ends, and what comes next.
 */
#include <string.h>

#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"

/* Where a phase begins: at an end of its tree (no bytes), or at a key. */
struct place {
	size_t len;
	bool past; /* the key itself is skipped; only upwards, as downwards it always is */
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
};

static struct place position_place(const struct chi_scan *scan)
{
	const struct chi_cursor *after = &scan->spec.after;
	struct place place = {.len = 0};
	/* By strength, a cursor with a known statistic is outside this phase. */
	if (after->set &&
	    (scan->range == CHI_SCAN_RANGE_POSITION || after->chi2 == CHI_CHI2_UNKNOWN)) {
		place.len = after->key.len;
		place.past = !scan->spec.descending;
		memcpy(place.bytes, after->key.bytes, place.len);
	}
	return place;
}

static struct place strength_place(const struct chi_scan *scan)
{
	const struct chi_scan_spec *spec = &scan->spec;
	const struct chi_cursor *after = &spec->after;
	struct place place = {.len = 2};
	if (after->set && after->chi2 >= chi_known_min(spec) && after->chi2 <= spec->chi2_max) {
		place.past = !spec->descending;
		place.len = chi_strength_key(after->chi2, after->key.bytes, after->key.len,
					     place.bytes);
	} else if (spec->descending ? spec->chi2_max == CHI_CHI2_MAX : spec->chi2_min <= 1) {
		place.len = 0;
	} else {
		chi_chi2_bytes(spec->descending ? (uint16_t)(spec->chi2_max + 1) : spec->chi2_min,
			       place.bytes);
	}
	return place;
}

static bool entry_ok(const struct chi_scan *scan, const struct chi_item *item)
{
	uint16_t chi2;
	struct chi_counts counts;
	return scan->range == CHI_SCAN_RANGE_STRENGTH
		       ? chi_strength_ok(item->key, item->key_len, item->value, item->len)
		       : chi_record_peek(item->key, item->key_len, item->value, item->len, &chi2,
					 &counts) == CHI_OK;
}

bool chi_scan_range_gap_ok(const struct chi_scan *scan, const struct chi_leaf_cursor *gap,
			   const uint8_t *key, size_t len)
{
	for (int before = 0; before < 2; before++) {
		struct chi_leaf_cursor walk = *gap;
		struct chi_item item;
		/* These leaves are only looked into. */
		walk.order = NULL;
		int rc = chi_leaf_cursor_next(&walk, before != 0, &item);
		bool good = rc == CHI_OK && entry_ok(scan, &item) &&
			    (gap->order(item.key, item.key_len, key, len) < 0) == (before != 0);
		if (!good && rc != CHI_NONE) {
			return false;
		}
	}
	return true;
}

int chi_scan_range_begin(struct chi_scan *scan)
{
	const struct chi_env *env = scan->read->env;
	struct chi_leaf_cursor *leaf_cursor = &scan->leaf_cursor;
	bool strength = scan->range == CHI_SCAN_RANGE_STRENGTH;
	bool down = scan->spec.descending;
	chi_key_order *order = strength ? chi_strength_compare : chi_position_compare;
	struct place place = strength ? strength_place(scan) : position_place(scan);
	scan->begun = true;
	scan->left = strength ? scan->known : scan->positions;
	scan->whole = place.len == 0;
	chi_descent_start(env->mdb, scan->read->txn, &env->pages,
			  strength ? STRENGTH_TREE : POSITION_TREE, &scan->tree);
	if (!scan->tree.usable || (scan->tree.depth == 0) != (scan->left == 0)) {
		return -CHI_ECORRUPT;
	}
	if (scan->whole) {
		return chi_leaf_cursor_start(leaf_cursor, &scan->tree, order, down);
	}
	int rc =
		chi_leaf_cursor_seek(leaf_cursor, &scan->tree, order, down, place.bytes, place.len);
	if (rc != CHI_OK) {
		return rc;
	}
	if (!chi_scan_range_gap_ok(scan, leaf_cursor, place.bytes, place.len)) {
		return -CHI_ECORRUPT;
	}
	struct chi_leaf next = leaf_cursor->leaf;
	struct chi_item item;
	if (place.past && next.at < next.n && chi_leaf_take(&next, false, &item) &&
	    item.key_len == place.len && memcmp(item.key, place.bytes, place.len) == 0) {
		leaf_cursor->leaf = next;
	}
	return CHI_OK;
}

int chi_scan_range_end(const struct chi_scan *scan)
{
	bool missed = scan->has_end && scan->leaf_cursor.leaf.page != scan->end.leaf.page;
	return missed || (scan->whole && scan->left > 0) ? -CHI_ECORRUPT : CHI_NONE;
}

void chi_scan_range_leave(struct chi_scan *scan)
{
	const struct chi_scan_spec *spec = &scan->spec;
	scan->begun = false;
	scan->has_end = false;
	if (scan->range == CHI_SCAN_RANGE_UNKNOWN && !spec->descending && spec->chi2_max > 0) {
		scan->range = CHI_SCAN_RANGE_STRENGTH;
	} else if (scan->range == CHI_SCAN_RANGE_STRENGTH && spec->descending &&
		   spec->chi2_min == 0) {
		scan->range = CHI_SCAN_RANGE_UNKNOWN;
	} else {
		scan->range = CHI_SCAN_RANGE_OVER;
	}
}
