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
struct range_place {
	size_t len;
	bool past; /* the key itself is skipped; only upwards, as downwards it always is */
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
};

static struct range_place position_place(const struct chi_scan *scan)
{
	const struct chi_cursor *after = &scan->spec.after;
	struct range_place place = {.len = 0};
	/* By strength, a cursor with a known statistic is outside this phase. */
	if (after->set &&
	    (scan->range == CHI_SCAN_RANGE_POSITION || after->chi2 == CHI_CHI2_UNKNOWN)) {
		place.len = after->key.len;
		place.past = !scan->spec.descending;
		memcpy(place.bytes, after->key.bytes, place.len);
	}
	return place;
}

static struct range_place strength_place(const struct chi_scan *scan)
{
	const struct chi_scan_spec *spec = &scan->spec;
	const struct chi_cursor *after = &spec->after;
	struct range_place place = {.len = 2 + sizeof(uint64_t)};
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

/* Stands in the block at the place: reads the group that it is in. */
static int settle_place(struct chi_scan *scan, const struct range_place *place)
{
	const struct chi_block *block = &scan->blocks.block;
	scan->group = 0;
	scan->n = 0;
	scan->at = 0;
	if (block->groups == 0) {
		return CHI_OK;
	}
	scan->fit = UINT32_MAX;
	int rc = chi_block_seek(block, place->bytes, place->len, &scan->group);
	rc = rc == CHI_OK ? chi_group_read(block, scan->group, scan->entries, &scan->n) : rc;
	for (; rc == CHI_OK && scan->at < scan->n; scan->at++) {
		const struct chi_block_entry *entry = &scan->entries[scan->at];
		int order = chi_tree_compare(block->kind, chi_entry_key(entry, block->kind),
					     chi_entry_key_len(entry, block->kind), place->bytes,
					     place->len);
		if (order > 0 || (order == 0 && !place->past)) {
			break;
		}
	}
	return rc;
}

/* Stands before the first entry, or after the last. */
static int begin_whole(struct chi_scan *scan, bool down)
{
	int rc = chi_block_cursor_start(&scan->blocks, &scan->tree, chi_scan_tree(scan), down);
	scan->n = 0;
	scan->at = 0;
	/* The group before the first, or after the last: the next one is read. */
	scan->group = down ? scan->blocks.block.groups : UINT32_MAX;
	return rc;
}

int chi_scan_range_begin(struct chi_scan *scan)
{
	const struct chi_env *env = scan->read->env;
	bool strength = scan->range == CHI_SCAN_RANGE_STRENGTH;
	bool down = scan->spec.descending;
	struct range_place place = strength ? strength_place(scan) : position_place(scan);
	if (scan->range == CHI_SCAN_RANGE_UNKNOWN && scan->positions == scan->known) {
		return CHI_NONE;
	}
	scan->begun = true;
	scan->left = strength ? scan->known : scan->positions;
	scan->whole = place.len == 0;
	chi_descent_start(env->mdb, scan->read->txn, &env->pages,
			  strength ? STRENGTH_TREE : POSITION_TREE, &scan->tree);
	if (!scan->tree.usable || (scan->tree.depth == 0) != (scan->left == 0)) {
		return -CHI_ECORRUPT;
	}
	if (scan->whole) {
		return begin_whole(scan, down);
	}
	int rc = chi_block_cursor_seek(&scan->blocks, &scan->tree, chi_scan_tree(scan), down,
				       place.bytes, place.len);
	return rc == CHI_OK ? settle_place(scan, &place) : rc;
}

/* Both ends of a group are in the band, so that all of it is. */
static bool is_in_band(const struct chi_scan *scan, enum chi_tree_kind kind, const uint16_t ends[2])
{
	return kind == CHI_TREE_POSITION ||
	       (chi_in_known_band(&scan->spec, ends[0]) && chi_in_known_band(&scan->spec, ends[1]));
}

/* All entries of the group; or, of one in the band, those whose masks fit. */
static int read_group(struct chi_scan *scan)
{
	const struct chi_block *block = &scan->blocks.block;
	int rc = chi_group_at(block, scan->group, &scan->place);
	scan->fit = UINT32_MAX;
	scan->n = 0;
	if (rc == CHI_OK && scan->picks) {
		uint16_t ends[2];
		rc = chi_group_pick(block->kind, &scan->place, &scan->masks, scan->entries,
				    &scan->fit, ends);
		if (rc == CHI_OK && is_in_band(scan, block->kind, ends)) {
			scan->n = scan->place.n;
			return CHI_OK;
		}
		scan->fit = UINT32_MAX;
	}
	return rc == CHI_OK ? chi_group_decode(block->kind, &scan->place, scan->entries, &scan->n)
			    : rc;
}

int chi_scan_range_read(struct chi_scan *scan)
{
	bool down = scan->spec.descending;
	const struct chi_block *block = &scan->blocks.block;
	if (down) {
		scan->group--;
	} else {
		scan->group++;
	}
	/* Before the first group is a number greater than all. */
	while (scan->group >= block->groups) {
		int rc = chi_block_cursor_next(&scan->blocks, down);
		if (rc != CHI_OK) {
			/* It stays where it is, and may be asked again. */
			scan->group = down ? 0 : block->groups - 1;
			scan->n = 0;
			scan->at = 0;
			return rc;
		}
		scan->group = down ? block->groups - 1 : 0;
	}
	chi_block_cursor_ask(&scan->blocks, scan->group);
	int rc = read_group(scan);
	scan->at = down ? scan->n : 0;
	return rc;
}

static void mark_entry(struct chi_scan *scan, const struct chi_block_entry *entry)
{
	enum chi_tree_kind tree = chi_scan_tree(scan);
	scan->last_len = chi_entry_key_len(entry, tree);
	/* Copies of fixed sizes. */
	if (tree == CHI_TREE_STRENGTH) {
		memcpy(scan->last, entry->bytes, CHI_TREE_KEY_MAX);
	} else {
		memcpy(scan->last, entry->bytes + 2, CHI_KEY_MAX);
	}
	scan->last_range = scan->range;
	scan->skipped.n = 0;
}

void chi_scan_range_mark(struct chi_scan *scan, uint32_t i)
{
	if ((scan->fit >> i & 1) != 0) {
		mark_entry(scan, &scan->entries[i]);
	} else {
		scan->skipped = scan->place;
		scan->skipped_at = i;
	}
}

int chi_scan_range_mark_skipped(struct chi_scan *scan)
{
	struct chi_block_entry entries[CHI_GROUP_MOST];
	uint32_t n = 0;
	if (scan->skipped.n == 0) {
		return CHI_OK;
	}
	int rc = chi_group_decode(chi_scan_tree(scan), &scan->skipped, entries, &n);
	scan->skipped.n = 0;
	if (rc == CHI_OK) {
		mark_entry(scan, &entries[scan->skipped_at]);
	}
	return rc;
}

int chi_scan_range_end(const struct chi_scan *scan)
{
	return scan->whole && scan->left > 0 ? -CHI_ECORRUPT : CHI_NONE;
}

void chi_scan_range_leave(struct chi_scan *scan)
{
	const struct chi_scan_spec *spec = &scan->spec;
	scan->begun = false;
	if (scan->range == CHI_SCAN_RANGE_UNKNOWN && !spec->descending && spec->chi2_max > 0) {
		scan->range = CHI_SCAN_RANGE_STRENGTH;
	} else if (scan->range == CHI_SCAN_RANGE_STRENGTH && spec->descending &&
		   spec->chi2_min == 0) {
		scan->range = CHI_SCAN_RANGE_UNKNOWN;
	} else {
		scan->range = CHI_SCAN_RANGE_OVER;
	}
}
