/* SPDX-License-Identifier: MIT */
/* Making a new, empty store: the trees, a stamp and a state. */
#include "store/env/env.h"

#include <stddef.h>

#include "base/fault.h"
#include "chess/statistic.h"
#include "store/chain/chain.h"
#include "store/env/lock.h"
#include "store/env/path.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/record/meta.h"
#include "store/store.h"

int chi_trees_make(MDB_txn *txn, const struct chi_stamp *stamp, struct chi_trees *out)
{
	const struct {
		const char *name;
		MDB_dbi *dbi;
		enum chi_chain chain;
	} trees[] = {
		{META_TREE, &out->meta, 0},
		{POSITION_TREE, &out->position, 0},
		{STRENGTH_TREE, &out->strength, 0},
		{GAME_IDS_TREE, &out->ids, CHI_CHAIN_IDS},
		{CLIENTS_TREE, &out->clients, CHI_CHAIN_CLIENTS},
		{GAMES_TREE, &out->archive.games, CHI_CHAIN_GAMES},
		{COLUMNS_TREE, &out->archive.columns, CHI_CHAIN_COLUMNS},
		{NAMES_TREE, &out->archive.names, CHI_CHAIN_NAMES},
		{POSTINGS_TREE, &out->archive.postings, CHI_CHAIN_POSTINGS},
		{TRAITS_TREE, &out->archive.traits, CHI_CHAIN_TRAITS},
		{GAMESETS_TREE, &out->archive.gamesets, CHI_CHAIN_GAMESETS},
		{QUEUE_TREE, &out->queue, CHI_CHAIN_QUEUE},
	};
	out->archive = (struct chi_archive_trees){0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < CHI_COUNT(trees); i++) {
		rc = mdb_dbi_open(txn, trees[i].name, MDB_CREATE, trees[i].dbi);
		if (rc == 0 && trees[i].chain != 0) {
			rc = chi_chain_make(txn, *trees[i].dbi, trees[i].chain);
		}
	}
	if (rc == 0) {
		rc = chi_trees_order(txn, out->position, out->strength);
	}
	if (rc == 0) {
		rc = chi_stamp_put(txn, out->meta, stamp);
	}
	const struct chi_store_state state = {0};
	return rc == 0 ? chi_state_put(txn, out->meta, &state) : rc;
}

/* Returns LMDB's code. */
static int fill_env(MDB_env *mdb, const struct chi_stamp *stamp)
{
	MDB_txn *txn;
	int rc = mdb_txn_begin(mdb, NULL, 0, &txn);
	if (rc != 0) {
		return rc;
	}
	struct chi_trees trees;
	rc = chi_trees_make(txn, stamp, &trees);
	if (rc != 0) {
		mdb_txn_abort(txn);
		return rc;
	}
	return mdb_txn_commit(txn);
}

/* LMDB runs in the hidden directory with all its syncs: a crash before the rename costs nothing,
 * one after it must find everything on the disk. */
int chi_dir_make(const char *dir, enum chi_statistic statistic, enum chi_keep keep,
		 struct chi_fault *fault)
{
	struct chi_stamp stamp;
	int rc = chi_stamp_new(statistic, keep, &stamp);
	if (rc < 0) {
		return chi_fail(fault, rc, "no random numbers for the store's identity");
	}
	uint64_t map_bytes;
	rc = chi_map_bytes(0, &map_bytes, fault);
	MDB_env *mdb = NULL;
	if (rc == CHI_OK) {
		rc = chi_trees_start(dir, 0, map_bytes, &mdb, fault);
	}
	if (rc < 0) {
		return rc;
	}
	int error = fill_env(mdb, &stamp);
	mdb_env_close(mdb);
	if (error == 0) {
		error = chi_lock_make(dir);
	}
	return chi_lmdb_write_fault(fault, error, "create a store in", dir);
}

int chi_dir_create(const char *path, enum chi_statistic statistic, enum chi_keep keep,
		   struct chi_fault *fault)
{
	int rc = chi_statistic_allowed(statistic, keep, fault);
	rc = rc == CHI_OK ? chi_place_check(path, fault) : rc;
	if (rc < 0) {
		return rc;
	}
	struct chi_hidden hidden;
	rc = chi_path_begin(path, &hidden, fault);
	if (rc < 0) {
		return rc;
	}
	rc = chi_file_system_check(hidden.dir, fault);
	if (rc == CHI_OK) {
		rc = chi_dir_make(hidden.dir, statistic, keep, fault);
	}
	if (rc == CHI_OK) {
		rc = chi_path_publish(&hidden, path, fault);
	}
	if (rc < 0) {
		chi_path_remove(&hidden);
	}
	return rc;
}
