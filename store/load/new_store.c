/* SPDX-License-Identifier: MIT */
/*
 * A store that is loaded as it is made. Its directory is hidden until it is whole, so that LMDB
 * need not sync its commits: after a crash there is nothing but a hidden directory, which no one
 * opens. One sync of the file at the end makes all certain before the name appears.
 *
 * Commits keep LMDB's list of changed pages short: it is searched at every step down the tree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/file.h"
#include "chess/statistic.h"
#include "store/env/env.h"
#include "store/env/lock.h"
#include "store/env/path.h"
#include "store/lmdb_err.h"
#include "store/load/load_priv.h"
#include "store/record/codec.h"
#include "store/record/meta.h"

/* What LMDB adds to an entry: its head and its place in the page's index. */
#define ENTRY_EXTRA 10

int chi_load_saved(struct chi_load *load, size_t bytes)
{
	load->unsaved += bytes + ENTRY_EXTRA;
	if (load->write != NULL || load->unsaved < load->commit_bytes) {
		return 0;
	}
	load->unsaved = 0;
	int rc = chi_tree_flush(&load->own[CHI_TREE_STRENGTH]);
	if (rc != 0) {
		return rc;
	}
	/* Cursors end with their transaction. */
	load->cursor = NULL;
	load->own[CHI_TREE_STRENGTH].cursor = NULL;
	rc = chi_append_commit(load->mdb, &load->txn);
	load->own[CHI_TREE_STRENGTH].txn = load->txn;
	return rc;
}

int chi_load_lend(struct chi_load *load)
{
	if (load->write != NULL) {
		return 0;
	}
	load->cursor = NULL;
	load->unsaved = 0;
	int rc = mdb_txn_commit(load->txn);
	load->txn = NULL;
	if (rc != 0 || chi_appender_start(load->mdb, &load->appender) == 0) {
		return rc;
	}
	/* It is no faster alone, but it works. */
	rc = mdb_txn_begin(load->mdb, NULL, 0, &load->txn);
	load->own[CHI_TREE_STRENGTH].txn = load->txn;
	return rc;
}

int chi_load_regain(struct chi_load *load)
{
	struct chi_appender *appender = load->appender;
	if (appender == NULL) {
		return 0;
	}
	load->appender = NULL;
	int rc = chi_appender_finish(appender);
	rc = rc == 0 ? mdb_txn_begin(load->mdb, NULL, 0, &load->txn) : rc;
	load->own[CHI_TREE_STRENGTH].txn = load->txn;
	return rc;
}

/* Returns LMDB's code. */
static int make_trees(struct chi_load *load, const struct chi_stamp *stamp)
{
	struct chi_trees trees;
	int rc = mdb_txn_begin(load->mdb, NULL, 0, &load->txn);
	if (rc == 0) {
		rc = chi_trees_make(load->txn, stamp, &trees);
	}
	if (rc != 0) {
		return rc;
	}
	load->meta = trees.meta;
	load->position = trees.position;
	load->strength = trees.strength;
	load->ids = trees.ids;
	load->archive = trees.archive;
	load->ids_chain.chain = CHI_CHAIN_IDS;
	load->postings_chain.chain = CHI_CHAIN_POSTINGS;
	rc = chi_chain_begin(load->txn, load->ids, &load->ids_chain);
	if (rc == 0) {
		rc = chi_chain_begin(load->txn, load->archive.postings, &load->postings_chain);
	}
	if (rc != 0) {
		return rc;
	}
	chi_tree_init(&load->own[CHI_TREE_POSITION], CHI_TREE_POSITION, load->txn, load->position,
		      &load->state.positions, &load->state.position_bytes);
	chi_tree_init(&load->own[CHI_TREE_STRENGTH], CHI_TREE_STRENGTH, load->txn, load->strength,
		      &load->state.known, &load->state.strength_bytes);
	load->position_tree = &load->own[CHI_TREE_POSITION];
	load->strength_tree = &load->own[CHI_TREE_STRENGTH];
	/* The handles of the trees are kept by a commit. */
	load->unsaved = load->commit_bytes;
	return chi_load_saved(load, 0);
}

static int begin_store(struct chi_load *load, struct chi_fault *fault)
{
	const unsigned flags = MDB_NOSYNC | MDB_NOMETASYNC;
	struct chi_stamp stamp;
	uint64_t map_bytes;
	int rc = chi_stamp_new(load->statistic, load->keep, &stamp);
	if (rc < 0) {
		return chi_fail(fault, rc, "no random numbers for the store's identity");
	}
	rc = chi_map_bytes(0, &map_bytes, fault);
	if (rc == CHI_OK) {
		rc = load->file >= 0
			     ? chi_trees_start_file(load->file, flags, map_bytes, &load->mdb, fault)
			     : chi_trees_start(load->dir, flags, map_bytes, &load->mdb, fault);
	}
	return rc < 0 ? rc : chi_load_error(load, make_trees(load, &stamp), fault);
}

static int begin_named(struct chi_load *load, const char *path, struct chi_fault *fault)
{
	load->path = strdup(path);
	int rc = load->path == NULL ? chi_fault_plain(fault, -CHI_ENOMEM)
				    : chi_path_begin(path, &load->hidden, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	load->dir = load->hidden.dir;
	return chi_file_system_check(load->dir, fault);
}

static int begin_unnamed(struct chi_load *load, const char *dir, struct chi_fault *fault)
{
	load->dir = dir;
	load->file = chi_file_nameless(dir);
	return load->file >= 0 ? CHI_OK : chi_lmdb_fault(fault, errno, "make a file in", dir);
}

static int new_load(const char *path, bool named, enum chi_statistic statistic, enum chi_keep keep,
		    struct chi_load **out, struct chi_fault *fault)
{
	struct chi_load *load = calloc(1, sizeof(*load));
	if (load == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	chi_arena_init(&load->arena, CHI_RECORD_ARENA);
	chi_arena_init(&load->lists, SIZE_MAX);
	load->statistic = statistic;
	load->keep = keep;
	load->append = true;
	load->file = -1;
	chi_load_memory(load, CHI_IMPORT_MEMORY_DEFAULT);
	int rc = named ? begin_named(load, path, fault) : begin_unnamed(load, path, fault);
	rc = rc == CHI_OK ? begin_store(load, fault) : rc;
	if (rc < 0) {
		chi_load_abandon(load);
		return rc;
	}
	*out = load;
	return CHI_OK;
}

int chi_load_new(const char *path, enum chi_statistic statistic, enum chi_keep keep,
		 struct chi_load **out, struct chi_fault *fault)
{
	int rc = chi_statistic_allowed(statistic, keep, fault);
	rc = rc == CHI_OK ? chi_place_check(path, fault) : rc;
	return rc == CHI_OK ? new_load(path, true, statistic, keep, out, fault) : rc;
}

int chi_load_unnamed(const char *dir, enum chi_statistic statistic, enum chi_keep keep,
		     struct chi_load **out, struct chi_fault *fault)
{
	return new_load(dir, false, statistic, keep, out, fault);
}

/* The last commit, and the one sync. Returns LMDB's code. */
static int settle_store(struct chi_load *load)
{
	load->state.sequence = 1;
	int rc = chi_load_regain(load);
	rc = rc == 0 ? chi_tree_flush(load->strength_tree) : rc;
	rc = rc == 0 ? chi_load_end_chains(load) : rc;
	rc = rc != 0 ? rc : chi_state_put(load->txn, load->meta, &load->state);
	if (rc != 0) {
		return rc;
	}
	load->cursor = NULL;
	rc = mdb_txn_commit(load->txn);
	load->txn = NULL;
	if (rc == 0 && load->file < 0) {
		rc = mdb_env_sync(load->mdb, 1);
		rc = rc == 0 ? chi_lock_make(load->dir) : rc;
	}
	return rc;
}

static int settle_and_close(struct chi_load *load, struct chi_fault *fault)
{
	int rc = chi_load_error(load, settle_store(load), fault);
	if (rc == CHI_OK) {
		mdb_env_close(load->mdb);
		load->mdb = NULL;
	}
	return rc;
}

int chi_load_publish(struct chi_load *load, struct chi_fault *fault)
{
	int rc = settle_and_close(load, fault);
	rc = rc == CHI_OK ? chi_file_check(load->dir, fault) : rc;
	return rc < 0 ? rc : chi_path_publish(&load->hidden, load->path, fault);
}

int chi_load_open(struct chi_load *load, struct chi_dir **out, struct chi_fault *fault)
{
	int rc = settle_and_close(load, fault);
	if (rc == CHI_OK) {
		rc = chi_dir_open_file(load->file, load->dir, out, fault);
		load->file = -1;
	}
	chi_load_abandon(load);
	return rc;
}
