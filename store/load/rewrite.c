/* SPDX-License-Identifier: MIT */
/*
 * A tree written again, instead of changed in place. The positions of games fall everywhere: one
 * new among fifty stored touches two of three pages, and these are full, having been appended, so
 * that each is copied and split: more is written than the tree is large, and half of it is empty.
 * Here the tree is emptied and what was stored, read from a snapshot, is appended again with what
 * comes in between: every page is written once, and full.
 */

#include <string.h>

#include "base/fault.h"
#include "store/lmdb_err.h"
#include "store/load/load_priv.h"
#include "store/record/codec.h"
#include "store/store.h"
#include "store/txn/txn.h"

/* Worth it from so many stored entries to one that comes... */
#define STORED_PER_NEW 50

/* ... and up to so many pages: a tree far larger than memory is left in its place, whatever the
 * splits cost. 4 GiB. */
#define PAGES_MAX (UINT64_C(1) << 20)

static struct chi_tree *tree_of(struct chi_load *load, enum chi_tree_kind kind)
{
	return kind == CHI_TREE_STRENGTH ? load->strength_tree : load->position_tree;
}

bool chi_rewrite_pays(struct chi_load *load, enum chi_tree_kind kind, uint64_t expected)
{
	const struct chi_tree *tree = tree_of(load, kind);
	MDB_stat stat;
	if (load->write == NULL || mdb_stat(load->txn, tree->dbi, &stat) != 0) {
		return false;
	}
	return *tree->entries > 0 && expected > *tree->entries / STORED_PER_NEW &&
	       stat.ms_leaf_pages + stat.ms_branch_pages + stat.ms_overflow_pages <= PAGES_MAX;
}

/* Opens the block that the old cursor is at: it begins where the one before it says. */
static int open_block(struct chi_rewrite *rewrite, const MDB_val *key, const MDB_val *value,
		      const uint8_t *border, size_t border_len)
{
	if (key->mv_size != border_len || memcmp(key->mv_data, border, border_len) != 0 ||
	    chi_block_open(rewrite->block.kind, key->mv_data, key->mv_size, value->mv_data,
			   value->mv_size, &rewrite->block) < 0) {
		return MDB_CORRUPTED;
	}
	rewrite->group = 0;
	return 0;
}

/* Where the old tree is now; `over` after its last entry. */
static int step_block(struct chi_rewrite *rewrite)
{
	struct chi_block *block = &rewrite->block;
	rewrite->at++;
	while (rewrite->at >= rewrite->n) {
		while (rewrite->group == block->groups) {
			MDB_val key;
			MDB_val value;
			int rc = mdb_cursor_get(rewrite->old, &key, &value, MDB_NEXT);
			rewrite->over = rc == MDB_NOTFOUND && block->fence_len == 0;
			if (rewrite->over) {
				return 0;
			}
			rc = rc == 0 ? open_block(rewrite, &key, &value, block->fence,
						  block->fence_len)
				     : rc;
			if (rc != 0) {
				return rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
			}
		}
		rewrite->at = 0;
		if (chi_group_read(block, rewrite->group++, rewrite->entries, &rewrite->n) < 0) {
			return MDB_CORRUPTED;
		}
	}
	return 0;
}

static MDB_val key_at(const struct chi_rewrite *rewrite)
{
	const struct chi_block_entry *entry = &rewrite->entries[rewrite->at];
	return chi_val(chi_entry_key(entry, rewrite->block.kind),
		       chi_entry_key_len(entry, rewrite->block.kind));
}

static MDB_val value_at(const struct chi_rewrite *rewrite)
{
	const struct chi_block_entry *entry = &rewrite->entries[rewrite->at];
	return chi_val(entry->value, entry->len);
}

/* The snapshot must show what the write transaction began with. No one else can commit, so it does,
 * unless the store was changed without its lock. */
static int open_old(struct chi_load *load, struct chi_rewrite *rewrite, enum chi_tree_kind kind)
{
	MDB_val key;
	MDB_val value;
	int rc = chi_read_begin(load->store, &rewrite->read);
	if (rc < 0) {
		return rc;
	}
	if (chi_read_sequence(rewrite->read) != load->write->state.sequence) {
		return -CHI_EINTERNAL;
	}
	int error = mdb_cursor_open(rewrite->read->txn, tree_of(load, kind)->dbi, &rewrite->old);
	if (error == 0) {
		error = mdb_cursor_get(rewrite->old, &key, &value, MDB_FIRST);
	}
	rewrite->block.kind = kind;
	if (error == 0) {
		error = open_block(rewrite, &key, &value, chi_tree_first, chi_tree_first_len(kind));
	}
	return chi_lmdb_status(error == 0 ? step_block(rewrite) : error);
}

int chi_rewrite_begin(struct chi_load *load, enum chi_tree_kind kind, struct chi_fault *fault)
{
	struct chi_rewrite *rewrite = &load->rewrite;
	*rewrite = (struct chi_rewrite){.active = true};
	int rc = open_old(load, rewrite, kind);
	if (rc != CHI_OK) {
		rc = rc == CHI_NONE ? -CHI_ECORRUPT : rc;
		return chi_fail(fault, rc, "cannot read '%s' while it is written (%s)", load->dir,
				chi_strerror(rc));
	}
	int error = chi_tree_drop(tree_of(load, kind));
	error = error == 0 ? chi_load_build(load, kind) : error;
	load->write->changed = true;
	return chi_load_error(load, error, fault);
}

/* Appends the old entry, and goes on. */
static int copy(struct chi_load *load, struct chi_rewrite *rewrite)
{
	const MDB_val key = key_at(rewrite);
	const MDB_val value = value_at(rewrite);
	int rc = chi_load_append(load, &key, &value);
	/* What comes ascends, so what was stored does not. */
	return rc == 0 ? step_block(rewrite) : rc == MDB_KEYEXIST ? MDB_CORRUPTED : rc;
}

int chi_rewrite_reach(struct chi_load *load, struct chi_rewrite *rewrite, const MDB_val *key,
		      MDB_val *stored)
{
	int order = 1;
	while (!rewrite->over) {
		const MDB_val old = key_at(rewrite);
		order = chi_tree_compare(rewrite->block.kind, old.mv_data, old.mv_size,
					 key->mv_data, key->mv_size);
		if (order >= 0) {
			break;
		}
		int rc = copy(load, rewrite);
		if (rc != 0) {
			return rc;
		}
	}
	if (rewrite->over || order != 0) {
		return MDB_NOTFOUND;
	}
	*stored = value_at(rewrite);
	return 0;
}

int chi_rewrite_pass(struct chi_rewrite *rewrite)
{
	return step_block(rewrite);
}

int chi_rewrite_finish(struct chi_load *load, struct chi_rewrite *rewrite)
{
	int rc = 0;
	while (rc == 0 && rewrite->active && !rewrite->over) {
		rc = copy(load, rewrite);
	}
	chi_rewrite_forget(rewrite);
	return rc;
}

void chi_rewrite_forget(struct chi_rewrite *rewrite)
{
	if (rewrite->old != NULL) {
		mdb_cursor_close(rewrite->old);
	}
	if (rewrite->read != NULL) {
		chi_read_end(rewrite->read);
	}
	*rewrite = (struct chi_rewrite){.active = false};
}
