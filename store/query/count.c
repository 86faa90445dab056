/* SPDX-License-Identifier: MIT */
/*
 * Counting without building rows. The state knows the trees' sizes, so that the whole store, its
 * known and its unknown part are counted at once. A band without a filter is counted by its blocks,
 * whose heads tell how many entries they have and where they end; only at its two ends keys are
 * looked at. A filter's count looks at keys, and touches a value only if the filter needs it.
 */
#include <string.h>

#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/pages/descent.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"
#include "store/store.h"

/* What counting a block by its head is worth, in steps: it waits for a few lines of memory. */
#define STEPS_A_BLOCK 8

bool chi_count_unfiltered(const struct chi_scan *scan)
{
	return scan->sieve.idle && scan->wanted == NULL && !chi_scan_joins(scan);
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

/* All entries of the block are in the band, if all after the scan's place are not before it. */
static bool is_inside(const struct chi_scan *scan)
{
	const struct chi_block *block = &scan->blocks.block;
	return scan->spec.chi2_max == CHI_CHI2_MAX ||
	       (block->fence_len > 0 && chi_chi2_of(block->fence) <= scan->spec.chi2_max);
}

/* What the heads of the block's groups say: how many entries it has after the scan's place, which
 * then is its end. */
static int count_block(struct chi_scan *scan, uint64_t *count)
{
	const struct chi_block *block = &scan->blocks.block;
	uint64_t n = scan->n - scan->at;
	for (uint32_t i = scan->group + 1; i < block->groups; i++) {
		n += block->counts[i];
	}
	if (CHI_UNLIKELY(n > scan->left)) {
		return -CHI_ECORRUPT;
	}
	*count += n;
	scan->left -= n;
	scan->group = block->groups - 1;
	scan->at = scan->n;
	return CHI_OK;
}

/* Makes the entry before the scan's place the last one looked at, for chi_scan_where: its group was
 * not read. */
static int mark(struct chi_scan *scan)
{
	const struct chi_block *block = &scan->blocks.block;
	if (block->groups == 0) {
		return CHI_OK;
	}
	int rc = chi_group_read(block, scan->group, scan->entries, &scan->n);
	scan->at = scan->n;
	scan->fit = UINT32_MAX;
	if (rc == CHI_OK) {
		chi_scan_range_mark(scan, scan->n - 1);
	}
	return rc;
}

/* Blocks by their heads, as far as they lie in the band, until the steps are used up. CHI_NONE: the
 * tree is over. */
static int count_heads(struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	int rc = CHI_OK;
	while (rc == CHI_OK && is_inside(scan)) {
		rc = count_block(scan, count);
		*steps -= STEPS_A_BLOCK < *steps ? STEPS_A_BLOCK : *steps;
		if (rc == CHI_OK && *steps == 0) {
			return mark(scan);
		}
		if (rc == CHI_OK) {
			rc = chi_block_cursor_next(&scan->blocks, false);
			rc = rc == CHI_NONE ? mark(scan) == CHI_OK ? chi_scan_range_end(scan)
								   : -CHI_ECORRUPT
					    : rc;
			if (rc == CHI_OK) {
				/* Before its first group. */
				scan->group = UINT32_MAX;
				scan->at = 0;
				scan->n = 0;
			}
		}
	}
	return rc;
}

int chi_count_some(struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	if (scan->range == CHI_SCAN_RANGE_STRENGTH && chi_count_unfiltered(scan) &&
	    !scan->spec.descending) {
		int rc = count_heads(scan, steps, count);
		if (rc == CHI_NONE) {
			chi_scan_range_leave(scan);
			return CHI_OK;
		}
		if (rc < 0 || *steps == 0) {
			return rc;
		}
	}
	struct chi_row rows[CHI_DESCENT_LANES];
	struct chi_scan_batch batch = {.rows = rows, .steps = *steps};
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
			rc = scan->begun ? CHI_OK : chi_scan_range_begin(scan);
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
	scan->joins = chi_scan_joins(scan);
	if (scan->rc == CHI_OK && other && scan->wanted == NULL && !scan->begun &&
	    !spec->after.set) {
		spec->order = CHI_ORDER_STRENGTH;
		spec->descending = false;
		scan->range =
			spec->chi2_min == 0 ? CHI_SCAN_RANGE_UNKNOWN : CHI_SCAN_RANGE_STRENGTH;
	}
	return scan->rc;
}

int chi_scan_tally(struct chi_scan *scan, uint64_t steps, uint64_t *count)
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
