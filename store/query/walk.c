/* SPDX-License-Identifier: MIT */
/*
 * The walk itself: from entry to entry in either direction, through the phases, and which entries
 * are wanted. All scans and all counts that look at entries are this one loop over the entries of a
 * group. Cheap tests come first: the band needs two bytes, the material the key, the games the
 * record.
 *
 * A walk proves its end: a band ends at a sound entry beyond it, a tree where its last block
 * says that there is none after it and, if all of it was walked, after as many entries as the state
 * tells.
 */
#include <string.h>

#include "chess/key.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/pages/descent.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"

/* What a loop over a group does. Constants where speed matters, so that each has code of its own.
 */
struct kind {
	bool strength; /* which tree */
	bool down;
	bool sifts; /* the filter asks something of keys */
	bool asks;  /* and so may the caller: in the position tree always */
	bool rows;  /* else entries are counted */
};

/* Outside of the band. CHI_NONE: beyond its end. No sound tree leads to an entry before its
 * beginning, or to one whose statistic is none. */
static int leave_band(const struct chi_scan *scan, uint16_t chi2)
{
	const struct chi_scan_spec *spec = &scan->spec;
	bool over = spec->descending ? chi2 < chi_known_min(spec) : chi2 > spec->chi2_max;
	return over && chi2 != CHI_CHI2_UNKNOWN ? CHI_NONE : -CHI_ECORRUPT;
}

/* The row of a wanted entry, and its value. Counts are filled already, where there are any. */
CHI_INLINE void take_row(struct kind kind, const struct chi_block_entry *entry, struct chi_row *row,
			 MDB_val *value)
{
	/* In two parts, as it was written: what is read across two writes is waited for. */
	memcpy(row->key.bytes, entry->bytes + 2, 8);
	memcpy(row->key.bytes + 8, entry->bytes + 10, CHI_KEY_MAX - 8);
	row->key.len = entry->key_len;
	row->found = true;
	if (kind.strength) {
		row->counts = (struct chi_counts){0};
	}
	if (value != NULL) {
		*value = chi_val(entry->value, entry->len);
	}
}

/* An entry that is to be looked at: whether it is in the band, and wanted. */
CHI_INLINE int look_at(struct chi_scan *scan, struct kind kind, const struct chi_block_entry *entry,
		       struct chi_row *row, bool *wanted)
{
	*wanted = false;
	if (kind.strength) {
		uint16_t chi2 = chi_chi2_of(entry->bytes);
		row->chi2 = chi2;
		if (CHI_UNLIKELY(!chi_in_known_band(&scan->spec, chi2))) {
			return leave_band(scan, chi2);
		}
	}
	*wanted = !kind.sifts ||
		  chi_sieve_passes(&scan->sieve, entry->bytes + 2, entry->key_len, entry->pieces);
	if ((kind.asks || !kind.strength) && *wanted && scan->wanted != NULL) {
		*wanted = scan->wanted(scan->wanted_context, entry->bytes + 2);
	}
	if (!kind.strength && *wanted) {
		int rc = chi_scan_match(scan, entry->bytes + 2, entry->key_len, entry->value,
					entry->len, row, wanted);
		scan->last_chi2 = row->chi2;
		return rc;
	}
	return CHI_OK;
}

/* The rest of a group, or as much as there are steps and room for. CHI_NONE: beyond the band. */
CHI_INLINE int walk_group(struct chi_scan *scan, struct kind kind, struct chi_scan_batch *batch)
{
	size_t n = batch->n;
	struct chi_row *row = batch->rows + (batch->counted ? 0 : n);
	uint64_t most = batch->steps < scan->left ? batch->steps : scan->left;
	uint32_t here = kind.down ? scan->at : scan->n - scan->at;
	uint32_t todo = here < most ? here : (uint32_t)most;
	uint32_t done = 0;
	int rc = CHI_OK;
	if (scan->fit == 0) {
		done = todo;
	}
	for (; done < todo && (!kind.rows || n < batch->max); done++) {
		bool wanted;
		uint32_t i = kind.down ? scan->at - 1 - done : scan->at + done;
		if ((scan->fit >> i & 1) == 0) {
			continue;
		}
		const struct chi_block_entry *entry = &scan->entries[i];
		rc = look_at(scan, kind, entry, row, &wanted);
		if (CHI_UNLIKELY(rc != CHI_OK)) {
			break;
		}
		if (kind.rows && wanted) {
			take_row(kind, entry, row,
				 batch->values != NULL ? &batch->values[n] : NULL);
			row += !batch->counted;
		}
		n += wanted;
	}
	batch->n = n;
	batch->steps -= done;
	scan->left -= done;
	scan->at = kind.down ? scan->at - done : scan->at + done;
	if (done > 0) {
		chi_scan_range_mark(scan, kind.down ? scan->at : scan->at - 1);
	}
	return rc;
}

/* A function for each kind of loop, so that none makes another slow. */
#define WALK(name, ...)                                                                            \
	static int name(struct chi_scan *scan, struct chi_scan_batch *batch)                       \
	{                                                                                          \
		return walk_group(scan, (struct kind){__VA_ARGS__}, batch);                        \
	}

WALK(keys_up, .strength = true, .rows = true)
WALK(keys_down, .strength = true, .rows = true, .down = true)
WALK(sift_up, .strength = true, .rows = true, .sifts = true)
WALK(sift_down, .strength = true, .rows = true, .sifts = true, .down = true)
WALK(ask_up, .strength = true, .rows = true, .sifts = true, .asks = true)
WALK(ask_down, .strength = true, .rows = true, .sifts = true, .asks = true, .down = true)
WALK(count_up, .strength = true, .sifts = true)
#if defined(__x86_64__)
/* Counting looks at keys and little else: where the processor counts bits, it does. */
__attribute__((target("popcnt"))) WALK(count_up_popcnt, .strength = true, .sifts = true)
#endif
	WALK(records, .rows = true, .sifts = !scan->sieve.idle, .down = scan->spec.descending)

		typedef int walk_function(struct chi_scan *scan, struct chi_scan_batch *batch);

/* The one that fits. */
static walk_function *walk_of(const struct chi_scan *scan, const struct chi_scan_batch *batch)
{
	static walk_function *const keys[2][2] = {{sift_up, sift_down}, {keys_up, keys_down}};
	bool down = scan->spec.descending;
	if (scan->range != CHI_SCAN_RANGE_STRENGTH) {
		return records;
	}
	if (scan->wanted != NULL) {
		return down ? ask_down : ask_up;
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

/* Group after group. CHI_NONE: the phase is over. */
static int walk_on(struct chi_scan *scan, struct chi_scan_batch *batch)
{
	bool down = scan->spec.descending;
	walk_function *walk = walk_of(scan, batch);
	int rc = CHI_OK;
	while (rc == CHI_OK && batch->n < batch->max && batch->steps > 0) {
		if (scan->at == (down ? 0 : scan->n)) {
			rc = chi_scan_range_read(scan);
			if (rc == CHI_NONE && scan->blocks.leaves.floor == 0) {
				rc = chi_scan_range_end(scan);
			}
		} else if (scan->left == 0) {
			/* More entries than the state knows of. */
			rc = -CHI_ECORRUPT;
		} else {
			rc = walk(scan, batch);
		}
	}
	int marked = chi_scan_range_mark_skipped(scan);
	return marked < 0 && rc >= 0 ? marked : rc;
}

/* Looks up the records of rows `from` on, which must agree with them, and keeps those that have
 * games enough. */
static int join_rows(struct chi_scan *scan, struct chi_scan_batch *batch, size_t from)
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
	if (chi_read_can_descend(scan->read, 0)) {
		chi_descent_find(&scan->read->descent, keys, n, found);
	} else {
		rc = -CHI_ECORRUPT;
	}
	for (size_t i = 0; i < n; i++) {
		struct chi_row *row = &batch->rows[batch->n];
		uint16_t chi2 = batch->rows[from + i].chi2;
		bool wanted = false;
		if (rc == CHI_OK && found[i].finding == CHI_FINDING_THERE) {
			rc = chi_scan_match(scan, keys[i].bytes, keys[i].len, found[i].value,
					    found[i].len, row, &wanted);
			rc = rc == CHI_OK && row->chi2 != chi2 ? -CHI_ECORRUPT : rc;
		} else if (rc == CHI_OK) {
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

int chi_walk_some(struct chi_scan *scan, struct chi_scan_batch *batch)
{
	bool joins = scan->joins && scan->range == CHI_SCAN_RANGE_STRENGTH;
	size_t max = batch->max;
	size_t from = batch->n;
	if (scan->given != NULL) {
		return chi_walk_given(scan, batch);
	}
	int rc = scan->begun ? CHI_OK : chi_scan_range_begin(scan);
	if (rc == CHI_OK) {
		if (joins && max - from > CHI_DESCENT_LANES) {
			batch->max = from + CHI_DESCENT_LANES;
		}
		rc = walk_on(scan, batch);
		batch->max = max;
	}
	if (joins && batch->n > from) {
		int joined = join_rows(scan, batch, from);
		rc = joined < 0 ? joined : rc;
	}
	if (rc == CHI_NONE) {
		chi_scan_range_leave(scan);
		rc = CHI_OK;
	}
	return rc;
}
