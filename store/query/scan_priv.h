/* SPDX-License-Identifier: MIT */
/* A walk, as shared by the delivery of rows (scan.c) and by counting (count.c). */
#pragma once

#include "chess/sieve.h"
#include "store/pages/leaf_cursor.h"
#include "store/env/env_priv.h"

/*
 * A scan by strength is two walks: positions whose statistic is not known stand in the position
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
	enum chi_scan_range range;
	bool begun;		 /* the phase's first entry was looked for */
	bool by_pages;		 /* begun: `leaves` walks in `tree`; else `cursor` does */
	struct chi_descent tree; /* the phase's */
	struct chi_leaf_cursor leaf_cursor;
	bool counts;		    /* by pages: where the count ends was looked for, */
	bool has_end;		    /* and it is before the tree's end, */
	struct chi_leaf_cursor end; /* here */
	bool apart; /* a part of a scan, in a thread of its own: LMDB must not be called */
	MDB_cursor *cursor;
	bool at_first;	    /* the cursor stands on an entry that was not delivered yet */
	uint64_t left;	    /* entries that the tree can still have: a damaged one may
			       lead in circles */
	uint64_t positions; /* entries of the trees in this snapshot */
	uint64_t known;
	uint64_t rows; /* delivered */
	bool joins;    /* strength entries need their position record */
	int rc;	       /* how it ended: CHI_NONE or a failure; CHI_OK: not yet */
	/* The last entry looked at, in the map, as its tree's key. */
	MDB_val last;
	enum chi_scan_range last_range;
	uint16_t last_chi2;
	struct chi_sieve sieve; /* what the filter asks of keys */
};

/* An entry of either tree. */
struct chi_entry {
	MDB_val tree_key;
	MDB_val value;
	const uint8_t *key; /* position key */
	size_t key_len;
	uint16_t chi2; /* strength tree: from its key. Position tree: set by the match */
};

/* ---- phase.c ------------------------------------------------------------------------------ */

/* Looks for where the current phase begins. CHI_NONE: nowhere, its tree is empty. */
CHI_MUSTUSE int chi_scan_range_begin(struct chi_scan *scan);

/* The next entry in the scan's direction, of a phase that has begun, but not by pages. CHI_NONE. */
CHI_MUSTUSE int chi_scan_range_step(struct chi_scan *scan, MDB_val *key, MDB_val *value);

/* Goes on to the phase behind the current one. */
void chi_scan_range_leave(struct chi_scan *scan);

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

/* ---- walk.c ------------------------------------------------------------------------------- */

/* The next entry of the current phase, going through the phases. CHI_NONE: no more. */
CHI_MUSTUSE int chi_walk_next(struct chi_scan *scan, struct chi_entry *entry);

/* Whether the entry is wanted. Fills row->chi2, and row->counts if they are read; `record` gets
 * the position record's value where one was read. */
CHI_MUSTUSE int chi_walk_match(struct chi_scan *scan, struct chi_entry *entry, struct chi_row *row,
			       MDB_val *record, bool *matched);

/*
 * Up to `max` wanted entries of the strength tree as rows, with their counts, having looked at up
 * to *steps: for scans in that phase that join. Their records are looked up in groups, of which
 * this is one. CHI_OK: call again, in whatever phase the scan is then; negative: *n rows before
 * the failure are good.
 */
CHI_MUSTUSE int chi_walk_join(struct chi_scan *scan, uint64_t *steps, struct chi_row *rows,
			      size_t max, size_t *n);

/*
 * Up to `max` wanted entries of the strength tree as rows without counts, having looked at up to
 * *steps: for scans in that phase, begun by pages, that do not join. Returns as chi_walk_join.
 */
CHI_MUSTUSE int chi_walk_keys(struct chi_scan *scan, uint64_t *steps, struct chi_row *rows,
			      size_t max, size_t *n);

/* The next wanted entry as a row, having looked at up to *steps. CHI_OK with *got false: steps are
 * used up. */
CHI_MUSTUSE int chi_walk_row(struct chi_scan *scan, uint64_t *steps, struct chi_row *row,
			     MDB_val *record, bool *got);
