/* SPDX-License-Identifier: MIT */
/*
 * A tree written again, instead of changed in place. The positions of games fall everywhere: one
 * new among fifty stored touches two of three pages, and these are full, having been appended, so
 * that each is copied and split: more is written than the tree is large, and half of it is empty.
 * Here the tree is emptied and what was stored, read from a snapshot, is appended again with what
 * comes in between: every page is written once, and full.
 */

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

bool chi_rewrite_pays(struct chi_load *load, MDB_dbi tree, uint64_t expected)
{
	MDB_stat stat;
	if (load->write == NULL || mdb_stat(load->txn, tree, &stat) != 0) {
		return false;
	}
	return stat.ms_entries > 0 && expected > stat.ms_entries / STORED_PER_NEW &&
	       stat.ms_leaf_pages + stat.ms_branch_pages + stat.ms_overflow_pages <= PAGES_MAX;
}

/* Where the old tree is being read; `over` after its last entry. */
static int step(struct chi_rewrite *rewrite, MDB_cursor_op op)
{
	int rc = mdb_cursor_get(rewrite->old, &rewrite->key, &rewrite->value, op);
	rewrite->over = rc == MDB_NOTFOUND;
	/* A damaged tree may go in circles. */
	if (rc == 0 && rewrite->left-- == 0) {
		return MDB_CORRUPTED;
	}
	return rewrite->over ? 0 : rc;
}

/* The snapshot must show what the write transaction began with. No one else can commit, so it does,
 * unless the store was changed in spite of its lock. */
static int open_old(struct chi_load *load, struct chi_rewrite *rewrite, MDB_dbi tree)
{
	MDB_stat stat;
	int rc = chi_read_begin(load->store, &rewrite->read);
	if (rc < 0) {
		return rc;
	}
	if (chi_read_sequence(rewrite->read) != load->write->state.sequence) {
		return -CHI_EINTERNAL;
	}
	int error = mdb_stat(rewrite->read->txn, tree, &stat);
	if (error == 0) {
		error = mdb_cursor_open(rewrite->read->txn, tree, &rewrite->old);
	}
	if (error == 0) {
		rewrite->left = stat.ms_entries;
		error = step(rewrite, MDB_FIRST);
	}
	return chi_lmdb_status(error);
}

int chi_rewrite_begin(struct chi_load *load, struct chi_rewrite *rewrite, MDB_dbi tree,
		      struct chi_fault *fault)
{
	*rewrite = (struct chi_rewrite){.active = true, .tree = tree};
	int rc = open_old(load, rewrite, tree);
	if (rc != CHI_OK) {
		return chi_fault(fault, rc, "cannot read '%s' while it is written (%s)", load->dir,
				 chi_strerror(rc));
	}
	chi_load_put_down(load);
	int error = mdb_drop(load->txn, tree, 0);
	if (error == 0) {
		error = mdb_cursor_open(load->txn, tree, &load->cursor);
	}
	load->write->changed = true;
	return chi_load_error(load, error, fault);
}

int chi_rewrite_append(struct chi_load *load, const MDB_val *key, const MDB_val *value)
{
	MDB_val k = *key;
	MDB_val v = *value;
	int rc = mdb_cursor_put(load->cursor, &k, &v, MDB_APPEND);
	/* What comes ascends, so what was stored does not. */
	return rc == MDB_KEYEXIST ? MDB_CORRUPTED : rc;
}

static int compare(const struct chi_load *load, const struct chi_rewrite *rewrite,
		   const MDB_val *key)
{
	const MDB_val *old = &rewrite->key;
	return rewrite->tree == load->strength ? chi_strength_compare(old->mv_data, old->mv_size,
								      key->mv_data, key->mv_size)
					       : chi_position_compare(old->mv_data, old->mv_size,
								      key->mv_data, key->mv_size);
}

int chi_rewrite_reach(struct chi_load *load, struct chi_rewrite *rewrite, const MDB_val *key,
		      MDB_val *stored)
{
	int order = 1;
	while (!rewrite->over && (order = compare(load, rewrite, key)) < 0) {
		int rc = chi_rewrite_append(load, &rewrite->key, &rewrite->value);
		rc = rc == 0 ? step(rewrite, MDB_NEXT) : rc;
		if (rc != 0) {
			return rc;
		}
	}
	if (rewrite->over || order != 0) {
		return MDB_NOTFOUND;
	}
	*stored = rewrite->value;
	return 0;
}

int chi_rewrite_pass(struct chi_rewrite *rewrite)
{
	return step(rewrite, MDB_NEXT);
}

int chi_rewrite_finish(struct chi_load *load, struct chi_rewrite *rewrite)
{
	int rc = 0;
	while (rc == 0 && rewrite->active && !rewrite->over) {
		rc = chi_rewrite_append(load, &rewrite->key, &rewrite->value);
		rc = rc == 0 ? step(rewrite, MDB_NEXT) : rc;
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
