/* SPDX-License-Identifier: MIT */
/* A walk, as shared by the delivery of rows (scan.c) and by counting (count.c). */
#pragma once

#include "chess/sieve.h"
#include "store/env/snapshot.h"
#include "store/pages/descent.h"
#include "store/pages/block_cursor.h"
#include "store/archive.h"
#include "store/ratings/expect.h"
#include "store/record/sorted.h"
#include "store/store.h"

/*
 * A scan by strength is two walks: positions whose statistic is not known are in the position
 * tree alone, and come first (ascending) or last (descending). A scan by key is one.
 */
enum chi_scan_range {
	CHI_SCAN_RANGE_UNKNOWN,	 /* the position tree, those without a statistic */
	CHI_SCAN_RANGE_STRENGTH, /* the strength tree */
	CHI_SCAN_RANGE_POSITION, /* the position tree, those in the band */
	CHI_SCAN_RANGE_OVER,
};

struct chi_scan {
	struct chi_read *read;
	struct chi_scan_spec spec;
	struct chi_sieve sieve;	     /* what the filter asks of keys */
	struct chi_mask_wants masks; /* of masks, the caller included */
	chi_scan_wanted *wanted;     /* and what the caller asks; NULL: nothing */
	const void *wanted_context;
	const uint8_t *given; /* positions in place of a walk (given.c); NULL: none */
	size_t n_given;
	size_t at_given;
	chi_scan_judge *judge; /* of games (store/archive.h); NULL: all count */
	void *judge_context;
	enum chi_scan_range range;
	bool begun; /* `blocks` walks in `tree`, the phase's */
	bool whole; /* from an end of the tree: all of its entries must come */
	bool joins; /* strength entries need their position record */
	bool picks; /* `masks` ask something */
	struct chi_descent tree;
	struct chi_block_cursor blocks;
	uint32_t group; /* of the block, the one that was read: */
	struct chi_block_entry entries[CHI_GROUP_MOST];
	uint32_t fit;		  /* entries of it that were decoded, a bit each */
	struct chi_group place;	  /* where it lies, if not all were */
	struct chi_group skipped; /* n > 0: where the last entry looked at is, */
	uint32_t skipped_at;	  /* which was not decoded */
	uint32_t at;		  /* so many of its entries are before the scan, */
	uint32_t n;		  /* of so many */
	uint64_t left;		  /* entries that the tree still has, as the state tells */
	uint64_t positions;	  /* entries of the trees in this snapshot, the same */
	uint64_t known;
	uint64_t rows; /* delivered */
	int rc;	       /* how it ended: CHI_NONE or a failure; CHI_OK: not yet */
	/* The last entry looked at: its tree's key. */
	uint8_t last[CHI_TREE_KEY_MAX];
	size_t last_len;
	enum chi_scan_range last_range;
	uint16_t last_chi2;
	struct chi_sorted sorted;
	struct chi_expect *curve; /* by evaluation, of CHI_SORT_GAP; else NULL */
	bool is_fitted;
	enum chi_scan_range sorted_range; /* where its walks begin */
	struct chi_cursor failed; /* set: where it is instead, at a record that is damaged */
};

/* What a walk looks for, and has found. */
struct chi_scan_batch {
	struct chi_row *rows; /* room for `max`, or for one if they are only counted */
	MDB_val *values;      /* their records in the map; NULL: not wanted */
	size_t max;
	size_t n;
	uint64_t steps; /* entries that may still be looked at */
	bool counted;	/* no row is wanted, only `n` */
};

/* ---- scan_range.c ------------------------------------------------------------------------- */

/* Looks for where the current phase begins. CHI_NONE: its tree is empty. */
CHI_MUSTUSE int chi_scan_range_begin(struct chi_scan *scan);

/* The tree has no more entries in the scan's direction: CHI_NONE. -CHI_ECORRUPT: it should have. */
CHI_MUSTUSE int chi_scan_range_end(const struct chi_scan *scan);

/* Goes on to the phase after the current one. */
void chi_scan_range_leave(struct chi_scan *scan);

/* Reads the next group in the scan's direction, of this block or the next; entries that are not
 * wanted by their masks alone may be left out of scan->fit. CHI_NONE: there is none, and there
 * should be none; of a part, none in it. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_scan_range_read(struct chi_scan *scan);

static inline enum chi_tree_kind chi_scan_tree(const struct chi_scan *scan)
{
	return scan->range == CHI_SCAN_RANGE_STRENGTH ? CHI_TREE_STRENGTH : CHI_TREE_POSITION;
}

/* Makes entry `i` of the group the last one looked at: now, or if it was not decoded, by
 * chi_scan_range_mark_skipped, which is to be called when a walk stops. -CHI_ECORRUPT. */
void chi_scan_range_mark(struct chi_scan *scan, uint32_t i);
CHI_MUSTUSE int chi_scan_range_mark_skipped(struct chi_scan *scan);

/* ---- match.c ------------------------------------------------------------------------------- */

/* The scan asks for what only the record tells: the sieve (chess/sieve.h) does not answer it all.
 */
bool chi_scan_joins(const struct chi_scan *scan);

/* Fills statistic and counts of the row from a record; *wanted: the scan's filter wants it. A sort
 * wants those that have what it goes by, and has the evaluation, as the eval statistic has it, in
 * row->score. CHI_OK, -CHI_ECORRUPT, or what judging games gives. */
CHI_MUSTUSE int chi_scan_match(const struct chi_scan *scan, const uint8_t *key, size_t key_len,
			       const uint8_t *value, size_t len, struct chi_row *row, bool *wanted);

/* ---- reached.c ----------------------------------------------------------------------------- */

/* As chi_reached_open, of the record of a position. */
CHI_MUSTUSE int chi_reached_of(struct chi_read *read, const uint8_t *key, size_t key_len,
			       const uint8_t *value, size_t len, uint32_t from,
			       struct chi_reached **out);

/* The statistic is in the band of known ones. No statistic but a damaged one is 0, which is not. */
static inline bool chi_in_known_band(const struct chi_scan_spec *spec, uint16_t chi2)
{
	uint32_t least = spec->chi2_min > 0 ? spec->chi2_min : 1;
	return chi2 - least <= spec->chi2_max - least;
}

static inline uint16_t chi_known_min(const struct chi_scan_spec *spec)
{
	return spec->chi2_min > 0 ? spec->chi2_min : 1;
}

/* ---- count.c ------------------------------------------------------------------------------ */

/* The band's entries need not be looked at to be counted. */
bool chi_count_unfiltered(const struct chi_scan *scan);

/* To be called before anything is counted: takes the order that is cheapest. As scan->rc. */
CHI_MUSTUSE int chi_count_ready(struct chi_scan *scan);

/* Goes to a phase that must be walked, and begins it; those whose numbers are known are added to
 * *count. CHI_NONE: no phase is left. */
CHI_MUSTUSE int chi_count_next(struct chi_scan *scan, uint64_t *count);

/* Counts on in a phase that has begun, for up to *steps or a group of them. CHI_OK: the phase may
 * be over, and left. */
CHI_MUSTUSE int chi_count_some(struct chi_scan *scan, uint64_t *steps, uint64_t *count);

/* ---- sort.c ------------------------------------------------------------------------------- */

/* To be called once, when the scan is open but for this. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_sorted_open(struct chi_scan *scan);

/* Looks at up to so many entries. As scan->rc. */
CHI_MUSTUSE int chi_sorted_collect(struct chi_scan *scan, uint64_t steps);

/* As chi_scan_rows; none until all are collected. */
CHI_MUSTUSE int chi_sorted_rows(struct chi_scan *scan, struct chi_row *rows, size_t max, size_t *n);

/* ---- given.c ------------------------------------------------------------------------------ */

/* As chi_walk_some, of a scan of given positions. */
CHI_MUSTUSE int chi_walk_given(struct chi_scan *scan, struct chi_scan_batch *batch);

/* ---- walk.c ------------------------------------------------------------------------------- */

/*
 * Looks at entries of the current phase, while there are steps and room, or until a group
 * of records was looked up. CHI_OK: call again, in any phase; negative: what
 * the batch got before the failure is good.
 */
CHI_MUSTUSE int chi_walk_some(struct chi_scan *scan, struct chi_scan_batch *batch);
