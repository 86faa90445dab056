/* SPDX-License-Identifier: MIT */
/*
 * The changes a write transaction makes to its trees, and taking back those of the last batch.
 * Those of the position tree and of the strength tree wait until the batch is done, and are
 * forgotten. In other trees the entry that is about to change is copied first after a mark; going
 * through the copies from the newest to the oldest puts all back byte by byte. LMDB's own nested
 * transactions are not used for it: those of 0.9.24 lose track of pages that a large transaction
 * has spilled.
 */
#include <string.h>

#include "base/arena.h"
#include "store/chain/chain.h"
#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/store.h"
#include "store/txn/txn.h"

/* An entry as it was before it changed. */
struct chi_savepoint {
	struct chi_savepoint *older;
	MDB_dbi tree;
	bool was_stored;
	size_t key_len;
	size_t value_len;
	uint8_t bytes[]; /* key, then value */
};

/* A failed change may have been half made, which no copy knows: the transaction is lost. */
static int changed(struct chi_write *write, int error)
{
	int rc = chi_lmdb_status(error);
	if (rc < 0 && write->broken == CHI_OK) {
		write->broken = rc;
	}
	return rc;
}

/* The tree's blocks; NULL: it has none. */
static struct chi_tree *blocks_of(struct chi_write *write, MDB_dbi tree)
{
	if (tree == write->env->position) {
		return &write->position;
	}
	return tree == write->env->strength ? &write->strength : NULL;
}

/* The others are chained. */
static enum chi_chain chain_of(const struct chi_write *write, MDB_dbi tree)
{
	const struct chi_env *env = write->env;
	return tree == env->ids		       ? CHI_CHAIN_IDS
	       : tree == env->queue	       ? CHI_CHAIN_QUEUE
	       : tree == env->archive.postings ? CHI_CHAIN_POSTINGS
					       : CHI_CHAIN_GAMESETS;
}

int chi_write_find(struct chi_write *write, MDB_dbi tree, MDB_val *key, MDB_val *value)
{
	struct chi_tree *blocks = blocks_of(write, tree);
	return blocks != NULL ? chi_tree_find(blocks, key, value)
			      : chi_chain_get(write->txn, tree, chain_of(write, tree), key, value);
}

/* What fails before anything was changed leaves the trees as they are. */
static int set(struct chi_write *write, MDB_dbi tree, MDB_val *key, MDB_val *value)
{
	struct chi_tree *blocks = blocks_of(write, tree);
	int error = blocks != NULL
			    ? chi_tree_set(blocks, key, value)
			    : chi_chain_put(write->txn, tree, chain_of(write, tree), key, value, 0);
	return blocks == NULL || blocks->broken ? changed(write, error) : chi_lmdb_status(error);
}

static int unset(struct chi_write *write, MDB_dbi tree, MDB_val *key)
{
	struct chi_tree *blocks = blocks_of(write, tree);
	int error = blocks != NULL ? chi_tree_unset(blocks, key)
				   : chi_chain_del(write->txn, tree, chain_of(write, tree), key);
	return blocks == NULL || blocks->broken ? changed(write, error) : chi_lmdb_status(error);
}

/* Copies the entry as it is now. A failure leaves the trees as they are. */
static int keep_block(struct chi_write *write, MDB_dbi tree, MDB_val *key)
{
	if (!write->has_savepoint || blocks_of(write, tree) != NULL) {
		return CHI_OK;
	}
	MDB_val value = {0};
	int rc = chi_lmdb_status(chi_write_find(write, tree, key, &value));
	if (rc < 0) {
		return rc;
	}
	struct chi_savepoint *savepoint = chi_arena_alloc(
		&write->savepoint_arena, sizeof(*savepoint) + key->mv_size + value.mv_size);
	if (savepoint == NULL) {
		return -CHI_ENOMEM;
	}
	*savepoint = (struct chi_savepoint){.older = write->savepoint,
					    .tree = tree,
					    .was_stored = rc == CHI_OK,
					    .key_len = key->mv_size,
					    .value_len = value.mv_size};
	memcpy(savepoint->bytes, key->mv_data, key->mv_size);
	if (value.mv_size > 0) {
		memcpy(savepoint->bytes + key->mv_size, value.mv_data, value.mv_size);
	}
	write->savepoint = savepoint;
	return CHI_OK;
}

int chi_write_set(struct chi_write *write, MDB_dbi tree, MDB_val *key, MDB_val *value)
{
	int rc = keep_block(write, tree, key);
	return rc < 0 ? rc : set(write, tree, key, value);
}

int chi_write_unset(struct chi_write *write, MDB_dbi tree, MDB_val *key)
{
	int rc = keep_block(write, tree, key);
	return rc < 0 ? rc : unset(write, tree, key);
}

static void forget_savepoint(struct chi_write *write)
{
	write->savepoint = NULL;
	chi_arena_reset(&write->savepoint_arena);
}

int chi_write_savepoint(struct chi_write *write)
{
	if (chi_env_forked(write->env)) {
		return -CHI_EFORK;
	}
	/* What failed before the mark could not be taken back to it. */
	if (write->rc < 0) {
		return write->rc;
	}
	forget_savepoint(write);
	int rc = chi_write_stick(write, chi_idempotency_settle(write));
	write->has_savepoint = rc == CHI_OK;
	if (rc < 0) {
		return rc;
	}
	write->is_final = false;
	chi_tree_mark(&write->position);
	chi_tree_mark(&write->strength);
	write->changed_at_savepoint = write->changed;
	write->state_at_savepoint = write->state;
	return CHI_OK;
}

static int take_back(struct chi_write *write, struct chi_savepoint *savepoint)
{
	MDB_val key = {savepoint->key_len, savepoint->bytes};
	MDB_val value = {savepoint->value_len, savepoint->bytes + savepoint->key_len};
	int rc = savepoint->was_stored ? set(write, savepoint->tree, &key, &value)
				       : unset(write, savepoint->tree, &key);
	/* The change that was to follow the copy may not have been made. */
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* LMDB refuses all further work in a transaction that met a damaged page or found no room. */
static int still_good(struct chi_write *write)
{
	MDB_stat stat;
	return changed(write, mdb_stat(write->txn, write->env->position, &stat));
}

int chi_write_rollback(struct chi_write *write)
{
	if (chi_env_forked(write->env)) {
		return -CHI_EFORK;
	}
	if (!write->has_savepoint) {
		return -CHI_EINVAL;
	}
	if (write->is_final && write->broken == CHI_OK) {
		write->broken = write->rc < 0 ? write->rc : -CHI_EINVAL;
	}
	int rc = write->broken < 0 ? write->broken : still_good(write);
	if (write->position.broken || write->strength.broken) {
		/* What was pending at the mark could not be given to LMDB. */
		rc = write->rc < 0 ? write->rc : rc;
	}
	for (struct chi_savepoint *savepoint = write->savepoint; rc == CHI_OK && savepoint != NULL;
	     savepoint = savepoint->older) {
		rc = take_back(write, savepoint);
	}
	if (rc < 0) {
		write->rc = write->rc < 0 ? write->rc : rc;
		return rc;
	}
	forget_savepoint(write);
	chi_tree_rollback(&write->position);
	chi_tree_rollback(&write->strength);
	chi_idempotency_rollback(write);
	write->changed = write->changed_at_savepoint;
	/* What was pending at the mark may have been given to LMDB since, and is counted then. */
	write->state_at_savepoint.positions = write->state.positions;
	write->state_at_savepoint.known = write->state.known;
	write->state_at_savepoint.position_bytes = write->state.position_bytes;
	write->state_at_savepoint.strength_bytes = write->state.strength_bytes;
	write->state = write->state_at_savepoint;
	write->rc = CHI_OK;
	write->why.text[0] = '\0';
	return CHI_OK;
}
