/* SPDX-License-Identifier: MIT */
/*
 * The walk itself: from entry to entry in either direction, through the phases, never further
 * than the tree is large, and which entries are wanted. Cheap tests come first: the band
 * needs two bytes, the material the key, the games the record.
 */
#include <string.h>

#include "chess/key.h"
#include "chess/material.h"
#include "store/checksum.h"
#include "store/lmdb_err.h"
#include "store/scan_priv.h"

static MDB_dbi tree_of(const struct chi_scan *scan)
{
	const struct chi_env *env = scan->read->env;
	return scan->phase == CHI_PHASE_STRENGTH ? env->strength : env->position;
}

static uint16_t known_min(const struct chi_scan_spec *spec)
{
	return spec->chi2_min > 0 ? spec->chi2_min : 1;
}

/* The first entry at or behind `bytes`; behind it if `skip`. */
static int seek_up(MDB_cursor *cursor, const uint8_t *bytes, size_t len, bool skip, MDB_val *key,
		   MDB_val *value)
{
	*key = chi_val(bytes, len);
	int rc = mdb_cursor_get(cursor, key, value, MDB_SET_RANGE);
	if (rc == 0 && skip && key->mv_size == len && memcmp(key->mv_data, bytes, len) == 0) {
		rc = mdb_cursor_get(cursor, key, value, MDB_NEXT);
	}
	return rc;
}

/* The last entry before `bytes`. */
static int seek_down(MDB_cursor *cursor, const uint8_t *bytes, size_t len, MDB_val *key,
		     MDB_val *value)
{
	*key = chi_val(bytes, len);
	int rc = mdb_cursor_get(cursor, key, value, MDB_SET_RANGE);
	return mdb_cursor_get(cursor, key, value, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
}

static int first_position(struct chi_scan *scan, MDB_val *key, MDB_val *value)
{
	const struct chi_cursor *after = &scan->spec.after;
	/* By strength, a cursor with a known statistic stands outside of this phase. */
	bool here = after->set &&
		    (scan->phase == CHI_PHASE_POSITION || after->chi2 == CHI_CHI2_UNKNOWN);
	if (!here) {
		return mdb_cursor_get(scan->cursor, key, value,
				      scan->spec.descending ? MDB_LAST : MDB_FIRST);
	}
	return scan->spec.descending
		       ? seek_down(scan->cursor, after->key.bytes, after->key.len, key, value)
		       : seek_up(scan->cursor, after->key.bytes, after->key.len, true, key, value);
}

static int first_strength(struct chi_scan *scan, MDB_val *key, MDB_val *value)
{
	const struct chi_scan_spec *spec = &scan->spec;
	const struct chi_cursor *after = &spec->after;
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
	bool inside = after->set && after->chi2 >= known_min(spec) && after->chi2 <= spec->chi2_max;
	size_t len = 2;
	if (inside) {
		len = chi_strength_key(after->chi2, after->key.bytes, after->key.len, bytes);
	}
	if (!spec->descending) {
		if (!inside) {
			chi_chi2_bytes(known_min(spec), bytes);
		}
		return seek_up(scan->cursor, bytes, len, inside, key, value);
	}
	if (!inside && spec->chi2_max == CHI_CHI2_MAX) {
		return mdb_cursor_get(scan->cursor, key, value, MDB_LAST);
	}
	if (!inside) {
		chi_chi2_bytes((uint16_t)(spec->chi2_max + 1), bytes);
	}
	return seek_down(scan->cursor, bytes, len, key, value);
}

void chi_walk_leave(struct chi_scan *scan)
{
	if (scan->cursor != NULL) {
		mdb_cursor_close(scan->cursor);
		scan->cursor = NULL;
	}
	const struct chi_scan_spec *spec = &scan->spec;
	if (scan->phase == CHI_PHASE_UNKNOWN && !spec->descending && spec->chi2_max > 0) {
		scan->phase = CHI_PHASE_STRENGTH;
	} else if (scan->phase == CHI_PHASE_STRENGTH && spec->descending && spec->chi2_min == 0) {
		scan->phase = CHI_PHASE_UNKNOWN;
	} else {
		scan->phase = CHI_PHASE_OVER;
	}
}

/* Returns LMDB's code. */
static inline int step(struct chi_scan *scan, MDB_val *key, MDB_val *value)
{
	if (CHI_LIKELY(scan->cursor != NULL)) {
		return mdb_cursor_get(scan->cursor, key, value,
				      scan->spec.descending ? MDB_PREV : MDB_NEXT);
	}
	int rc = mdb_cursor_open(scan->read->txn, tree_of(scan), &scan->cursor);
	if (rc != 0) {
		return rc;
	}
	scan->left = scan->phase == CHI_PHASE_STRENGTH ? scan->known : scan->positions;
	return scan->phase == CHI_PHASE_STRENGTH ? first_strength(scan, key, value)
						 : first_position(scan, key, value);
}

/* Takes the strength key apart. CHI_NONE: behind the band's end. */
static inline int take_strength(const struct chi_scan *scan, struct chi_entry *entry)
{
	const uint8_t *bytes = entry->tree_key.mv_data;
	size_t len = entry->tree_key.mv_size;
	if (CHI_UNLIKELY(len < 2 + CHI_KEY_MIN || len > CHI_STRENGTH_KEY_MAX)) {
		return -CHI_ECORRUPT;
	}
	entry->key = bytes + 2;
	entry->key_len = len - 2;
	entry->chi2 = chi_chi2_of(bytes);
	if (CHI_UNLIKELY(entry->chi2 == CHI_CHI2_UNKNOWN)) {
		return -CHI_ECORRUPT;
	}
	bool over = scan->spec.descending ? entry->chi2 < known_min(&scan->spec)
					  : entry->chi2 > scan->spec.chi2_max;
	return over ? CHI_NONE : CHI_OK;
}

static inline int take(const struct chi_scan *scan, struct chi_entry *entry)
{
	if (scan->phase == CHI_PHASE_STRENGTH) {
		return take_strength(scan, entry);
	}
	entry->key = entry->tree_key.mv_data;
	entry->key_len = entry->tree_key.mv_size;
	entry->chi2 = CHI_CHI2_UNKNOWN;
	return chi_key_shape_ok(entry->key, entry->key_len) ? CHI_OK : -CHI_ECORRUPT;
}

/* The next entry of the current phase. CHI_NONE: the phase is over. */
static inline int next_here(struct chi_scan *scan, struct chi_entry *entry)
{
	int rc = step(scan, &entry->tree_key, &entry->value);
	if (CHI_UNLIKELY(rc != 0)) {
		return chi_lmdb_status(rc);
	}
	if (CHI_UNLIKELY(scan->left-- == 0)) {
		return -CHI_ECORRUPT;
	}
	rc = take(scan, entry);
	if (CHI_LIKELY(rc == CHI_OK)) {
		scan->last = entry->tree_key;
		scan->last_phase = scan->phase;
	}
	return rc;
}

static inline int next_entry(struct chi_scan *scan, struct chi_entry *entry)
{
	while (scan->phase != CHI_PHASE_OVER) {
		int rc = next_here(scan, entry);
		if (CHI_LIKELY(rc != CHI_NONE)) {
			return rc;
		}
		chi_walk_leave(scan);
	}
	return CHI_NONE;
}

/* Reads the position record of a strength entry; they must agree. */
static int join(const struct chi_scan *scan, const struct chi_entry *entry, struct chi_row *row,
		MDB_val *record)
{
	MDB_val key = chi_val(entry->key, entry->key_len);
	int rc = mdb_get(scan->read->txn, scan->read->env->position, &key, record);
	if (rc != 0) {
		return rc == MDB_NOTFOUND ? -CHI_ECORRUPT : chi_lmdb_status(rc);
	}
	uint16_t chi2;
	rc = chi_record_peek(entry->key, entry->key_len, record->mv_data, record->mv_size, &chi2,
			     &row->counts);
	return rc < 0 || chi2 != entry->chi2 ? -CHI_ECORRUPT : CHI_OK;
}

/* White + draws + black at least `min`; the sum is known to fit. */
static bool enough_games(const struct chi_counts *counts, uint64_t min)
{
	return counts->white + counts->draws + counts->black >= min;
}

static bool in_band(const struct chi_scan *scan, uint16_t chi2)
{
	if (scan->phase == CHI_PHASE_UNKNOWN) {
		return chi2 == CHI_CHI2_UNKNOWN;
	}
	return chi2 >= scan->spec.chi2_min && chi2 <= scan->spec.chi2_max;
}

int chi_walk_next(struct chi_scan *scan, struct chi_entry *entry)
{
	return next_entry(scan, entry);
}

/* The checksum of a strength entry, and its key's shape where the filter relies on it. */
static inline bool entry_ok(const struct chi_scan *scan, const struct chi_entry *entry)
{
	size_t len = entry->value.mv_size;
	return len >= 2 &&
	       chi_strength_sum_ok(entry->tree_key.mv_data, entry->tree_key.mv_size,
				   entry->value.mv_data, len) &&
	       (!scan->filters_key || chi_key_shape_ok(entry->key, entry->key_len));
}

static inline int match(struct chi_scan *scan, struct chi_entry *entry, struct chi_row *row,
			MDB_val *record, bool *matched)
{
	*matched = false;
	bool strength = scan->phase == CHI_PHASE_STRENGTH;
	if (strength && CHI_UNLIKELY(!entry_ok(scan, entry))) {
		return -CHI_ECORRUPT;
	}
	if (scan->filters_key &&
	    !chi_filter_matches_key(&scan->spec.filter, entry->key, entry->key_len)) {
		return CHI_OK;
	}
	if (strength && !scan->joins) {
		row->chi2 = entry->chi2;
		*matched = true;
		return CHI_OK;
	}
	int rc;
	if (strength) {
		rc = join(scan, entry, row, record);
	} else {
		*record = entry->value;
		rc = chi_record_peek(entry->key, entry->key_len, record->mv_data, record->mv_size,
				     &entry->chi2, &row->counts);
	}
	if (CHI_UNLIKELY(rc < 0)) {
		return rc;
	}
	scan->last_chi2 = entry->chi2;
	row->chi2 = entry->chi2;
	*matched = (strength || in_band(scan, entry->chi2)) &&
		   enough_games(&row->counts, scan->spec.filter.games_min);
	return CHI_OK;
}

int chi_walk_match(struct chi_scan *scan, struct chi_entry *entry, struct chi_row *row,
		   MDB_val *record, bool *matched)
{
	return match(scan, entry, row, record, matched);
}

/* Copies a key of CHI_KEY_MIN to CHI_KEY_MAX bytes, zeroes behind it, in a few stores of fixed
 * size; the second one overlaps what it must. */
static inline void copy_key(struct chi_key *out, const uint8_t *key, size_t len)
{
	memset(out, 0, sizeof(*out));
	out->len = (uint8_t)len;
	if (len >= 16) {
		memcpy(out->bytes, key, 16);
	} else {
		memcpy(out->bytes, key, 8);
	}
	memcpy(out->bytes + len - 8, key + len - 8, 8);
}

int chi_walk_row(struct chi_scan *scan, uint64_t *steps, struct chi_row *row, MDB_val *record,
		 bool *got)
{
	*got = false;
	while (*steps > 0) {
		struct chi_entry entry;
		--*steps;
		int rc = next_entry(scan, &entry);
		if (CHI_UNLIKELY(rc != CHI_OK)) {
			return rc;
		}
		bool matched;
		row->counts = (struct chi_counts){0};
		rc = match(scan, &entry, row, record, &matched);
		if (CHI_UNLIKELY(rc < 0)) {
			return rc;
		}
		if (matched) {
			copy_key(&row->key, entry.key, entry.key_len);
			row->found = true;
			*got = true;
			return CHI_OK;
		}
	}
	return CHI_OK;
}

/* ---- Joins in groups ---------------------------------------------------------------------- */

/* Strength entries whose records are looked up together. */
struct group {
	struct chi_entry entries[CHI_DESCENT_LANES];
	struct chi_key keys[CHI_DESCENT_LANES];
	size_t n;
};

/* The next entries that the filter's tests of the key leave. Looks at no more than may become
 * rows, so that none is behind the scan's last. How it ended, after those of the group. */
static int collect(struct chi_scan *scan, uint64_t *steps, size_t max, struct group *group)
{
	group->n = 0;
	while (group->n<max && * steps> 0) {
		struct chi_entry *entry = &group->entries[group->n];
		int rc = next_here(scan, entry);
		if (CHI_UNLIKELY(rc != CHI_OK)) {
			return rc;
		}
		--*steps;
		if (CHI_UNLIKELY(!entry_ok(scan, entry))) {
			return -CHI_ECORRUPT;
		}
		if (!scan->filters_key ||
		    chi_filter_matches_key(&scan->spec.filter, entry->key, entry->key_len)) {
			copy_key(&group->keys[group->n], entry->key, entry->key_len);
			group->n++;
		}
	}
	return CHI_OK;
}

/* As join, of a record that was looked for. */
static int take_record(const struct chi_entry *entry, const struct chi_found *found,
		       struct chi_row *row)
{
	if (CHI_UNLIKELY(found->finding != CHI_FINDING_THERE)) {
		return -CHI_ECORRUPT;
	}
	int rc = chi_record_peek(found->key, entry->key_len, found->value, found->len, &row->chi2,
				 &row->counts);
	return CHI_UNLIKELY(rc < 0 || row->chi2 != entry->chi2) ? -CHI_ECORRUPT : CHI_OK;
}

int chi_walk_join(struct chi_scan *scan, uint64_t *steps, struct chi_row *rows, size_t max,
		  size_t *n)
{
	struct group group;
	struct chi_found found[CHI_DESCENT_LANES];
	*n = 0;
	int ended = collect(scan, steps, max < CHI_DESCENT_LANES ? max : CHI_DESCENT_LANES, &group);
	int rc = group.n > 0 ? chi_read_find(scan->read, group.keys, group.n, found) : CHI_OK;
	for (size_t i = 0; i < group.n; i++) {
		struct chi_row *row = &rows[*n];
		if (rc == CHI_OK) {
			rc = take_record(&group.entries[i], &found[i], row);
		}
		if (CHI_UNLIKELY(rc < 0)) {
			/* The scan stands where it failed, not where it has looked ahead. */
			scan->last = group.entries[i].tree_key;
			return rc;
		}
		row->key = group.keys[i];
		row->found = true;
		*n += enough_games(&row->counts, scan->spec.filter.games_min);
	}
	if (ended == CHI_NONE) {
		chi_walk_leave(scan);
		ended = CHI_OK;
	}
	return ended;
}
