/* SPDX-License-Identifier: MIT */
/*
 * The walk itself: from entry to entry in either direction, through the phases, never further than
 * the tree is large, and which entries are wanted. All scans and all counts that look at entries
 * are this one loop over the entries of a leaf. Cheap tests come first: the band needs two bytes,
 * the material the key, the games the record.
 *
 * A walk proves its end: a band ends at a sound entry beyond it, a tree where its pages end
 * and, if all of it was walked, after as many entries as it says it has.
 */
#include <string.h>

#include "chess/key.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/pages/descent.h"
#include "store/query/scan_priv.h"
#include "store/record/checksum.h"
#include "store/record/codec.h"

/* What a loop over a leaf does. Constants where speed matters, so that each has code of its own. */
struct kind {
	bool strength; /* which tree */
	bool down;
	bool sifts; /* the filter asks something of keys */
	bool rows;  /* else entries are counted up to where the band was found to end, by keys of
		       the strength tree, which are believed without their checksum */
};

/* No statistic but a damaged one is 0, which is in no band of known ones. */
static inline bool in_known_band(const struct chi_scan_spec *spec, uint16_t chi2)
{
	uint32_t least = chi_known_min(spec);
	return chi2 - least <= spec->chi2_max - least;
}

/* Outside of the band. CHI_NONE: beyond its end, shown by a sound entry in its right place. No
 * sound tree leads to one before its beginning. */
static int leave_band(const struct chi_scan *scan, struct chi_item item, uint16_t chi2)
{
	const struct chi_scan_spec *spec = &scan->spec;
	bool over = spec->descending ? chi2 < chi_known_min(spec) : chi2 > spec->chi2_max;
	return over && chi_strength_ok(item.key, item.key_len, item.value, item.len) &&
			       chi_leaf_cursor_end_ok(&scan->leaf_cursor)
		       ? CHI_NONE
		       : -CHI_ECORRUPT;
}

/* Whether a record of the position tree is wanted. */
static int match_record(const struct chi_scan *scan, const struct chi_item *item,
			struct chi_row *row, bool *wanted)
{
	int rc = chi_filter_match(&scan->spec.filter, scan->spec.sort, item->key, item->key_len,
				  item->value, item->len, row, wanted);
	bool in_band =
		scan->range == CHI_SCAN_RANGE_UNKNOWN
			? row->chi2 == CHI_CHI2_UNKNOWN
			: row->chi2 >= scan->spec.chi2_min && row->chi2 <= scan->spec.chi2_max;
	*wanted = *wanted && in_band;
	return rc;
}

/* Copies a key of CHI_KEY_MIN to CHI_KEY_MAX bytes, zeroes after it, in a few stores of fixed
 * size; the second one overlaps what it must. */
CHI_INLINE void copy_key(struct chi_key *out, const uint8_t *key, size_t len)
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

/* The row of a wanted entry, and its value. Counts are filled already, where there are any. */
CHI_INLINE void take_row(struct kind kind, const struct chi_item *item, struct chi_row *row,
			 MDB_val *value)
{
	size_t skip = kind.strength ? 2 : 0;
	copy_key(&row->key, item->key + skip, item->key_len - skip);
	row->found = true;
	if (kind.strength) {
		row->counts = (struct chi_counts){0};
	}
	if (value != NULL) {
		*value = chi_val(item->value, item->len);
	}
}

/* What the entry's key alone tells: whether it is one, in the band, and wanted. */
CHI_INLINE int look_at_key(const struct chi_scan *scan, struct kind kind,
			   const struct chi_item *item, struct chi_row *row, bool *wanted)
{
	size_t skip = kind.strength ? 2 : 0;
	size_t len = item->key_len - skip;
	*wanted = false;
	if (kind.strength && kind.rows) {
		uint16_t chi2 = chi_chi2_of(item->key);
		row->chi2 = chi2;
		if (CHI_UNLIKELY(item->key_len < skip + CHI_KEY_MIN || len > CHI_KEY_MAX ||
				 item->len < 2)) {
			return -CHI_ECORRUPT;
		}
		if (CHI_UNLIKELY(!in_known_band(&scan->spec, chi2))) {
			return leave_band(scan, *item, chi2);
		}
		if (CHI_UNLIKELY(!chi_strength_sum_ok(item->key, item->key_len, item->value,
						      item->len))) {
			return -CHI_ECORRUPT;
		}
	} else if (kind.strength && CHI_UNLIKELY(chi_chi2_of(item->key) == CHI_CHI2_UNKNOWN)) {
		return -CHI_ECORRUPT;
	}
	if (kind.sifts || !kind.strength) {
		uint32_t pieces = chi_sieve_count(item->key + skip, len);
		if (CHI_UNLIKELY(pieces == 0)) {
			return -CHI_ECORRUPT;
		}
		*wanted = !kind.sifts ||
			  chi_sieve_passes(&scan->sieve, item->key + skip, len, pieces);
		return CHI_OK;
	}
	*wanted = true;
	return CHI_OK;
}

/* Pages are in order where they meet; in one that is damaged the same entry may occur twice. */
CHI_INLINE bool goes_on(struct kind kind, const MDB_val *before, const struct chi_item *item)
{
	if (before->mv_data == NULL) {
		return true;
	}
	int order = kind.strength ? chi_strength_compare(before->mv_data, before->mv_size,
							 item->key, item->key_len)
				  : chi_position_compare(before->mv_data, before->mv_size,
							 item->key, item->key_len);
	return kind.down ? order > 0 : order < 0;
}

/* An entry that is to be looked at: its key, and in the position tree its record. */
CHI_INLINE int look_at(struct chi_scan *scan, struct kind kind, struct chi_item *item,
		       struct chi_row *row, bool *wanted)
{
	if (CHI_UNLIKELY(item->big) && kind.rows) {
		struct chi_item big = *item; /* else `item` could not stay in registers */
		if (chi_leaf_cursor_big(&scan->tree, &big) < 0) {
			return -CHI_ECORRUPT;
		}
		item->value = big.value;
	}
	int rc = look_at_key(scan, kind, item, row, wanted);
	if (CHI_LIKELY(rc == CHI_OK) && !kind.strength && *wanted) {
		rc = match_record(scan, item, row, wanted);
		scan->last_chi2 = row->chi2;
	}
	return rc;
}

/* How many entries of the leaf are to be looked at; *ends: a count ends after them. */
CHI_INLINE uint32_t leaf_todo(const struct chi_scan *scan, struct kind kind,
			      const struct chi_batch *batch, bool *ends)
{
	const struct chi_leaf *leaf = &scan->leaf_cursor.leaf;
	uint64_t most = batch->steps < scan->left ? batch->steps : scan->left;
	bool last = !kind.rows && scan->has_end && leaf->page == scan->end.leaf.page;
	uint32_t to = last ? scan->end.leaf.at : leaf->n;
	uint32_t here = kind.down ? leaf->at : to > leaf->at ? to - leaf->at : 0;
	*ends = last && here <= most;
	return here < most ? here : (uint32_t)most;
}

/* The rest of a leaf, or as much as there are steps and room for. CHI_NONE: beyond the band. */
CHI_INLINE int walk_leaf(struct chi_scan *scan, struct kind kind, struct chi_batch *batch)
{
	struct chi_leaf leaf = scan->leaf_cursor.leaf;
	MDB_val last = scan->last_range == scan->range ? scan->last : chi_val(NULL, 0);
	size_t n = batch->n;
	struct chi_row *row = batch->rows + (batch->counted ? 0 : n);
	bool ends;
	uint32_t most = leaf_todo(scan, kind, batch, &ends);
	uint32_t todo = most;
	int rc = CHI_OK;
	struct chi_item item;
	for (; todo > 0 && (!kind.rows || n < batch->max); todo--) {
		bool wanted;
		bool good = chi_leaf_take(&leaf, kind.down, &item) &&
			    (!kind.rows || goes_on(kind, &last, &item));
		rc = CHI_LIKELY(good) ? look_at(scan, kind, &item, row, &wanted) : -CHI_ECORRUPT;
		if (CHI_UNLIKELY(rc != CHI_OK)) {
			break;
		}
		if (kind.rows) {
			last = chi_val(item.key, item.key_len);
		}
		if (kind.rows && wanted) {
			take_row(kind, &item, row,
				 batch->values != NULL ? &batch->values[n] : NULL);
			row += !batch->counted;
		}
		n += wanted;
	}
	if (!kind.rows && rc == CHI_OK && todo < most && chi_leaf_item(&leaf, leaf.at - 1, &item)) {
		last = chi_val(item.key, item.key_len);
	}
	batch->n = n;
	batch->steps -= most - todo;
	scan->left -= most - todo;
	scan->leaf_cursor.leaf = leaf;
	if (last.mv_data != NULL) {
		scan->last = last;
		scan->last_range = scan->range;
	}
	if (rc == CHI_OK && ends) {
		rc = chi_leaf_cursor_end_ok(&scan->leaf_cursor) ? CHI_NONE : -CHI_ECORRUPT;
	}
	return rc;
}

/* A function for each kind of loop, so that none makes another slow. */
#define WALK(name, ...)                                                                            \
	static int name(struct chi_scan *scan, struct chi_batch *batch)                            \
	{                                                                                          \
		return walk_leaf(scan, (struct kind){__VA_ARGS__}, batch);                         \
	}

WALK(keys_up, .strength = true, .rows = true)
WALK(keys_down, .strength = true, .rows = true, .down = true)
WALK(sift_up, .strength = true, .rows = true, .sifts = true)
WALK(sift_down, .strength = true, .rows = true, .sifts = true, .down = true)
WALK(count_up, .strength = true, .sifts = true)
#if defined(__x86_64__)
/* Counting looks at keys and little else: where the processor counts bits, it does. */
__attribute__((target("popcnt"))) WALK(count_up_popcnt, .strength = true, .sifts = true)
#endif
	WALK(records, .rows = true, .sifts = !scan->sieve.idle, .down = scan->spec.descending)

		typedef int walk_function(struct chi_scan *scan, struct chi_batch *batch);

/* The one that fits. */
static walk_function *walk_of(const struct chi_scan *scan, const struct chi_batch *batch)
{
	static walk_function *const keys[2][2] = {{sift_up, sift_down}, {keys_up, keys_down}};
	bool down = scan->spec.descending;
	if (scan->range != CHI_SCAN_RANGE_STRENGTH) {
		return records;
	}
	if (!batch->counted || scan->sieve.idle || down) {
		return keys[scan->sieve.idle][down];
	}
#if defined(__x86_64__)
	if (__builtin_cpu_supports("popcnt")) {
		return count_up_popcnt;
	}
#endif
	return count_up;
}

/* Leaf after leaf. CHI_NONE: the phase is over. */
static int walk_on(struct chi_scan *scan, struct chi_batch *batch)
{
	bool down = scan->spec.descending;
	const struct chi_leaf *leaf = &scan->leaf_cursor.leaf;
	walk_function *walk = walk_of(scan, batch);
	int rc = CHI_OK;
	while (rc == CHI_OK && batch->n < batch->max && batch->steps > 0) {
		if (leaf->at == (down ? 0 : leaf->n)) {
			rc = chi_leaf_cursor_turn(&scan->leaf_cursor, down);
			if (rc == CHI_NONE && scan->leaf_cursor.floor == 0) {
				rc = chi_scan_range_end(scan);
			}
		} else if (scan->left == 0) {
			/* A damaged tree may lead in circles. */
			rc = -CHI_ECORRUPT;
		} else {
			rc = walk(scan, batch);
		}
	}
	return rc;
}

/* Looks up the records of rows `from` on, which must agree with them, and keeps those that have
 * games enough. */
static int join(struct chi_scan *scan, struct chi_batch *batch, size_t from)
{
	struct chi_found found[CHI_DESCENT_LANES];
	struct chi_key keys[CHI_DESCENT_LANES];
	size_t n = batch->n - from;
	int rc = CHI_OK;
	for (size_t i = 0; i < n; i++) {
		keys[i] = batch->rows[from + i].key;
	}
	batch->n = from;
	/* What a descent is not sure of is damaged. LMDB is not asked, nor could it be where this
	 * is one of several threads. */
	if (chi_read_can_descend(scan->read)) {
		chi_descent_find(&scan->read->descent, keys, n, found);
	} else {
		rc = -CHI_ECORRUPT;
	}
	for (size_t i = 0; i < n; i++) {
		struct chi_row *row = &batch->rows[batch->n];
		uint16_t chi2 = batch->rows[from + i].chi2;
		bool wanted = false;
		if (rc == CHI_OK && (found[i].finding != CHI_FINDING_THERE ||
				     chi_filter_match(&scan->spec.filter, scan->spec.sort,
						      found[i].key, keys[i].len, found[i].value,
						      found[i].len, row, &wanted) < 0 ||
				     row->chi2 != chi2)) {
			rc = -CHI_ECORRUPT;
		}
		if (CHI_UNLIKELY(rc < 0)) {
			/* The scan's place is where it failed, not where it has looked ahead. */
			scan->failed = (struct chi_cursor){true, chi2, keys[i]};
			return rc;
		}
		row->key = keys[i];
		row->found = true;
		if (batch->values != NULL) {
			batch->values[batch->n] = chi_val(found[i].value, found[i].len);
		}
		batch->n += wanted;
	}
	return CHI_OK;
}

int chi_walk_some(struct chi_scan *scan, struct chi_batch *batch)
{
	bool joins = scan->joins && scan->range == CHI_SCAN_RANGE_STRENGTH;
	size_t max = batch->max;
	size_t from = batch->n;
	int rc = scan->begun ? CHI_OK : chi_scan_range_begin(scan);
	if (rc == CHI_OK) {
		if (joins && max - from > CHI_DESCENT_LANES) {
			batch->max = from + CHI_DESCENT_LANES;
		}
		rc = walk_on(scan, batch);
		batch->max = max;
	}
	if (joins && batch->n > from) {
		int joined = join(scan, batch, from);
		rc = joined < 0 ? joined : rc;
	}
	if (rc == CHI_NONE) {
		chi_scan_range_leave(scan);
		rc = CHI_OK;
	}
	return rc;
}
