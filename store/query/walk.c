/* SPDX-License-Identifier: MIT */
/*
 * The walk itself: from entry to entry in either direction, through the phases, never further
 * than the tree is large, and which entries are wanted. Cheap tests come first: the band
 * needs two bytes, the material the key, the games the record.
 */
#include <string.h>

#include "chess/key.h"
#include "store/record/checksum.h"
#include "store/env/lmdb_err.h"
#include "store/query/scan_priv.h"

/* The next entry of the tree. */
static inline int step(struct chi_scan *scan, MDB_val *key, MDB_val *value)
{
	if (CHI_UNLIKELY(!scan->begun)) {
		int rc = chi_scan_range_begin(scan);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	if (CHI_UNLIKELY(!scan->by_pages)) {
		return chi_scan_range_step(scan, key, value);
	}
	struct chi_item item;
	int rc = chi_leaf_cursor_next(&scan->leaf_cursor, scan->spec.descending, &item);
	*key = chi_val(item.key, item.key_len);
	*value = chi_val(item.value, item.len);
	return rc;
}

/* No statistic but a damaged one is 0, which is in no band of known ones. */
static inline bool in_known_band(const struct chi_scan_spec *spec, uint16_t chi2)
{
	uint32_t least = chi_known_min(spec);
	return chi2 - least <= spec->chi2_max - least;
}

/* Outside of the band. CHI_NONE: behind its end. Before its beginning no sound tree leads. */
static int leave_band(const struct chi_scan_spec *spec, uint16_t chi2)
{
	bool over = spec->descending ? chi2 < chi_known_min(spec) : chi2 > spec->chi2_max;
	return over && chi2 != CHI_CHI2_UNKNOWN ? CHI_NONE : -CHI_ECORRUPT;
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
	return CHI_LIKELY(in_known_band(&scan->spec, entry->chi2))
		       ? CHI_OK
		       : leave_band(&scan->spec, entry->chi2);
}

static inline int take(const struct chi_scan *scan, struct chi_entry *entry)
{
	if (scan->range == CHI_SCAN_RANGE_STRENGTH) {
		return take_strength(scan, entry);
	}
	entry->key = entry->tree_key.mv_data;
	entry->key_len = entry->tree_key.mv_size;
	entry->chi2 = CHI_CHI2_UNKNOWN;
	return chi_key_shape_ok(entry->key, entry->key_len) ? CHI_OK : -CHI_ECORRUPT;
}

/* Whether a key is behind another in the scan's direction. Pages are in order where they meet; in
 * one that is damaged the same entry may stand twice. */
static inline bool is_behind(bool strength, bool descending, const uint8_t *before,
			     size_t before_len, const uint8_t *key, size_t len)
{
	int order = strength ? chi_strength_compare(before, before_len, key, len)
			     : chi_position_compare(before, before_len, key, len);
	return descending ? order > 0 : order < 0;
}

static inline bool goes_on(const struct chi_scan *scan, const MDB_val *key)
{
	return scan->last_range != scan->range ||
	       is_behind(scan->range == CHI_SCAN_RANGE_STRENGTH, scan->spec.descending,
			 scan->last.mv_data, scan->last.mv_size, key->mv_data, key->mv_size);
}

/* The next entry of the current phase. CHI_NONE: the phase is over. */
static inline int next_here(struct chi_scan *scan, struct chi_entry *entry)
{
	int rc = step(scan, &entry->tree_key, &entry->value);
	if (CHI_UNLIKELY(rc != CHI_OK)) {
		return rc;
	}
	if (CHI_UNLIKELY(scan->left-- == 0 || !goes_on(scan, &entry->tree_key))) {
		return -CHI_ECORRUPT;
	}
	rc = take(scan, entry);
	if (CHI_LIKELY(rc == CHI_OK)) {
		scan->last = entry->tree_key;
		scan->last_range = scan->range;
	}
	return rc;
}

static inline int next_entry(struct chi_scan *scan, struct chi_entry *entry)
{
	while (scan->range != CHI_SCAN_RANGE_OVER) {
		int rc = next_here(scan, entry);
		if (CHI_LIKELY(rc != CHI_NONE)) {
			return rc;
		}
		chi_scan_range_leave(scan);
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
	if (scan->range == CHI_SCAN_RANGE_UNKNOWN) {
		return chi2 == CHI_CHI2_UNKNOWN;
	}
	return chi2 >= scan->spec.chi2_min && chi2 <= scan->spec.chi2_max;
}

int chi_walk_next(struct chi_scan *scan, struct chi_entry *entry)
{
	return next_entry(scan, entry);
}

/* The checksum of a strength entry. */
static inline bool sum_ok(const struct chi_entry *entry)
{
	size_t len = entry->value.mv_size;
	return len >= 2 && chi_strength_sum_ok(entry->tree_key.mv_data, entry->tree_key.mv_size,
					       entry->value.mv_data, len);
}

/* Whether the filter lets the key pass. -CHI_ECORRUPT: it is none. */
static inline int sift(const struct chi_scan *scan, const uint8_t *key, size_t len, bool *passed)
{
	*passed = true;
	if (scan->sieve.idle) {
		return CHI_OK;
	}
	uint32_t n = chi_sieve_count(key, len);
	if (CHI_UNLIKELY(n == 0)) {
		return -CHI_ECORRUPT;
	}
	*passed = chi_sieve_passes(&scan->sieve, key, len, n);
	return CHI_OK;
}

static inline int match(struct chi_scan *scan, struct chi_entry *entry, struct chi_row *row,
			MDB_val *record, bool *matched)
{
	bool strength = scan->range == CHI_SCAN_RANGE_STRENGTH;
	if (strength && CHI_UNLIKELY(!sum_ok(entry))) {
		return -CHI_ECORRUPT;
	}
	int rc = sift(scan, entry->key, entry->key_len, matched);
	if (rc != CHI_OK || !*matched) {
		return rc;
	}
	if (strength && !scan->joins) {
		row->chi2 = entry->chi2;
		return CHI_OK;
	}
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

/* ---- Keys alone, page by page -------------------------------------------------------------- */

/* Where a leaf is left: what chi_walk_keys keeps in registers while it is in one. */
struct stride {
	struct chi_leaf leaf;
	uint64_t steps;
	size_t got;
	const uint8_t *last; /* the key of the entry looked at last; NULL: none */
	size_t last_len;
};

/* One entry, as a row if it is wanted. CHI_NONE: behind the band's end. */
static inline int take_key(const struct chi_scan *scan, const struct chi_item *item, bool filters,
			   struct chi_row *row, bool *wanted)
{
	size_t len = item->key_len;
	if (CHI_UNLIKELY(len < 2 + CHI_KEY_MIN || len > CHI_STRENGTH_KEY_MAX || item->len < 2)) {
		return -CHI_ECORRUPT;
	}
	uint16_t chi2 = chi_chi2_of(item->key);
	if (CHI_UNLIKELY(!in_known_band(&scan->spec, chi2))) {
		return leave_band(&scan->spec, chi2);
	}
	if (CHI_UNLIKELY(!chi_strength_sum_ok(item->key, len, item->value, item->len))) {
		return -CHI_ECORRUPT;
	}
	*wanted = true;
	if (filters) {
		int rc = sift(scan, item->key + 2, len - 2, wanted);
		if (rc != CHI_OK || !*wanted) {
			return rc;
		}
	}
	copy_key(&row->key, item->key + 2, len - 2);
	row->found = true;
	row->chi2 = chi2;
	row->counts = (struct chi_counts){0};
	return CHI_OK;
}

/* The rest of a leaf, or as much as there are steps and room for. */
static inline int take_leaf(const struct chi_scan *scan, bool descending, bool filters,
			    struct chi_row *rows, size_t max, struct stride *s)
{
	struct chi_leaf leaf = s->leaf;
	int rc = CHI_OK;
	while (leaf.at != (descending ? 0 : leaf.n) && s->got < max && s->steps > 0) {
		struct chi_item item;
		bool wanted = false;
		uint32_t at = leaf.at - descending;
		chi_leaf_ask(&leaf, descending ? leaf.n - leaf.at : leaf.at);
		bool good = chi_leaf_item(&leaf, at, &item) &&
			    (s->last == NULL || is_behind(true, descending, s->last, s->last_len,
							  item.key, item.key_len));
		rc = good ? CHI_OK : -CHI_ECORRUPT;
		if (CHI_UNLIKELY(good && item.big)) {
			rc = chi_leaf_cursor_big(&scan->tree, &item);
		}
		if (CHI_LIKELY(rc == CHI_OK)) {
			rc = take_key(scan, &item, filters, &rows[s->got], &wanted);
		}
		if (CHI_UNLIKELY(rc != CHI_OK)) {
			break;
		}
		s->last = item.key;
		s->last_len = item.key_len;
		s->steps--;
		s->got += wanted;
		leaf.at = descending ? at : at + 1;
	}
	s->leaf = leaf;
	return rc;
}

int chi_walk_keys(struct chi_scan *scan, uint64_t *steps, struct chi_row *rows, size_t max,
		  size_t *n)
{
	bool down = scan->spec.descending;
	struct chi_leaf *leaf = &scan->leaf_cursor.leaf;
	uint64_t most = *steps < scan->left ? *steps : scan->left;
	struct stride s = {.steps = most};
	int rc = CHI_OK;
	*n = 0;
	if (scan->last_range == scan->range) {
		s.last = scan->last.mv_data;
		s.last_len = scan->last.mv_size;
	}
	if (leaf->at == (down ? 0 : leaf->n)) {
		rc = down ? chi_leaf_cursor_back(&scan->leaf_cursor)
			  : chi_leaf_cursor_forth(&scan->leaf_cursor);
	}
	if (rc == CHI_OK && CHI_UNLIKELY(scan->left == 0)) {
		return -CHI_ECORRUPT;
	}
	if (rc == CHI_OK) {
		s.leaf = *leaf;
		if (scan->sieve.idle) {
			rc = down ? take_leaf(scan, true, false, rows, max, &s)
				  : take_leaf(scan, false, false, rows, max, &s);
		} else {
			rc = down ? take_leaf(scan, true, true, rows, max, &s)
				  : take_leaf(scan, false, true, rows, max, &s);
		}
		*leaf = s.leaf;
	}
	*n = s.got;
	*steps -= most - s.steps;
	scan->left -= most - s.steps;
	if (s.last != NULL) {
		scan->last = chi_val(s.last, s.last_len);
		scan->last_range = scan->range;
	}
	if (rc == CHI_NONE) {
		chi_scan_range_leave(scan);
		rc = CHI_OK;
	}
	return rc;
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
		bool passed;
		rc = sum_ok(entry) ? sift(scan, entry->key, entry->key_len, &passed)
				   : -CHI_ECORRUPT;
		if (CHI_UNLIKELY(rc != CHI_OK)) {
			return rc;
		}
		if (passed) {
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
	int rc = CHI_OK;
	if (group.n > 0 && scan->apart) {
		/* What a descent is not sure of is damaged; LMDB may not be asked. */
		chi_descent_find(&scan->read->descent, group.keys, group.n, found);
	} else if (group.n > 0) {
		rc = chi_read_find(scan->read, group.keys, group.n, found);
	}
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
		chi_scan_range_leave(scan);
		ended = CHI_OK;
	}
	return ended;
}
