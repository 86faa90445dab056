/* SPDX-License-Identifier: MIT */
/*
 * The phases of a walk: where each begins, in either direction, and what comes behind it. A tree
 * whose pages are as expected is walked page by page (leaves.h), others by LMDB's cursor.
 */
#include <string.h>

#include "store/env/lmdb_err.h"
#include "store/query/scan_priv.h"

/* Where a phase begins: at an end of its tree (no bytes), or at a key. */
struct place {
	size_t len;
	bool behind; /* the key itself is passed over; only upwards, as downwards it always is */
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
};

static struct place position_place(const struct chi_scan *scan)
{
	const struct chi_cursor *after = &scan->spec.after;
	struct place place = {.len = 0};
	/* By strength, a cursor with a known statistic stands outside of this phase. */
	if (after->set &&
	    (scan->range == CHI_SCAN_RANGE_POSITION || after->chi2 == CHI_CHI2_UNKNOWN)) {
		place.len = after->key.len;
		place.behind = !scan->spec.descending;
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
		place.behind = !spec->descending;
		place.len = chi_strength_key(after->chi2, after->key.bytes, after->key.len,
					     place.bytes);
	} else if (!spec->descending) {
		chi_chi2_bytes(chi_known_min(spec), place.bytes);
	} else if (spec->chi2_max == CHI_CHI2_MAX) {
		place.len = 0;
	} else {
		chi_chi2_bytes((uint16_t)(spec->chi2_max + 1), place.bytes);
	}
	return place;
}

static int begin_by_pages(struct chi_scan *scan, const struct place *place)
{
	struct chi_leaf_cursor *leaf_cursor = &scan->leaf_cursor;
	chi_key_order *order = scan->range == CHI_SCAN_RANGE_STRENGTH ? chi_strength_compare
								      : chi_position_compare;
	if (place->len == 0) {
		return chi_leaf_cursor_start(leaf_cursor, &scan->tree, order,
					     scan->spec.descending);
	}
	int rc = chi_leaf_cursor_seek(leaf_cursor, &scan->tree, order, scan->spec.descending,
				      place->bytes, place->len);
	struct chi_item item;
	if (rc != CHI_OK || !place->behind || leaf_cursor->leaf.at == leaf_cursor->leaf.n) {
		return rc;
	}
	if (!chi_leaf_item(&leaf_cursor->leaf, leaf_cursor->leaf.at, &item)) {
		return -CHI_ECORRUPT;
	}
	leaf_cursor->leaf.at +=
		item.key_len == place->len && memcmp(item.key, place->bytes, place->len) == 0;
	return CHI_OK;
}

/* Puts the cursor on the first entry; LMDB's code. */
static int begin_by_cursor(struct chi_scan *scan, MDB_dbi tree, const struct place *place)
{
	bool descending = scan->spec.descending;
	MDB_val key = chi_val(place->bytes, place->len);
	MDB_val value;
	int rc = mdb_cursor_open(scan->read->txn, tree, &scan->cursor);
	if (rc != 0) {
		return rc;
	}
	if (place->len == 0) {
		return mdb_cursor_get(scan->cursor, &key, &value,
				      descending ? MDB_LAST : MDB_FIRST);
	}
	rc = mdb_cursor_get(scan->cursor, &key, &value, MDB_SET_RANGE);
	if (descending) {
		return mdb_cursor_get(scan->cursor, &key, &value,
				      rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
	}
	bool skip = rc == 0 && place->behind && key.mv_size == place->len &&
		    memcmp(key.mv_data, place->bytes, place->len) == 0;
	return skip ? mdb_cursor_get(scan->cursor, &key, &value, MDB_NEXT) : rc;
}

int chi_scan_range_begin(struct chi_scan *scan)
{
	const struct chi_env *env = scan->read->env;
	bool strength = scan->range == CHI_SCAN_RANGE_STRENGTH;
	struct place place = strength ? strength_place(scan) : position_place(scan);
	scan->begun = true;
	scan->left = strength ? scan->known : scan->positions;
	chi_descent_start(env->mdb, scan->read->txn, &env->pages,
			  strength ? STRENGTH_TREE : POSITION_TREE, &scan->tree);
	scan->by_pages = scan->tree.usable;
	if (scan->by_pages) {
		return begin_by_pages(scan, &place);
	}
	scan->at_first = true;
	return chi_lmdb_status(
		begin_by_cursor(scan, strength ? env->strength : env->position, &place));
}

int chi_scan_range_step(struct chi_scan *scan, MDB_val *key, MDB_val *value)
{
	MDB_cursor_op op = scan->spec.descending ? MDB_PREV : MDB_NEXT;
	int rc = mdb_cursor_get(scan->cursor, key, value, scan->at_first ? MDB_GET_CURRENT : op);
	scan->at_first = false;
	return chi_lmdb_status(rc);
}

void chi_scan_range_leave(struct chi_scan *scan)
{
	if (scan->cursor != NULL) {
		mdb_cursor_close(scan->cursor);
		scan->cursor = NULL;
	}
	scan->begun = false;
	scan->counts = false;
	scan->has_end = false;
	const struct chi_scan_spec *spec = &scan->spec;
	if (scan->range == CHI_SCAN_RANGE_UNKNOWN && !spec->descending && spec->chi2_max > 0) {
		scan->range = CHI_SCAN_RANGE_STRENGTH;
	} else if (scan->range == CHI_SCAN_RANGE_STRENGTH && spec->descending &&
		   spec->chi2_min == 0) {
		scan->range = CHI_SCAN_RANGE_UNKNOWN;
	} else {
		scan->range = CHI_SCAN_RANGE_OVER;
	}
}
