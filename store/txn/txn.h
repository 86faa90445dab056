/* SPDX-License-Identifier: MIT */
/* The write transaction, as shared by the files that change trees in it. */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "chistore/games.h"
#include "chistore/types.h"
#include "store/record/codec.h"
#include "store/record/merge.h"
#include "store/record/meta.h"
#include "store/txn/tree.h"

struct chi_env;

struct chi_savepoint;

struct chi_idempotency_book;

struct chi_write {
	struct chi_env *env;
	MDB_txn *txn;
	struct chi_store_state state; /* as it will be committed, but for the sequence number */
	struct chi_tree position;
	struct chi_tree strength;
	int rc;		      /* the first failure; sticky */
	int broken;	      /* the failure that left the trees half changed, or CHI_OK */
	struct chi_fault why; /* of the put that was refused, or empty */
	bool changed;
	struct chi_arena arena; /* reset for each put */
	bool has_savepoint;	/* changes are copied to `undo` first, from the last mark on */
	bool changed_at_savepoint;
	bool is_final; /* since the mark it was changed in a way that is not taken back */
	struct chi_store_state state_at_savepoint;
	struct chi_savepoint *savepoint; /* newest first */
	struct chi_arena savepoint_arena;
	struct chi_idempotency_book *book; /* NULL: no write is marked */
	uint8_t buffer[CHI_RECORD_BYTES_MAX];
};

/* Keeps the first failure, and returns `rc`. LMDB's codes come through chi_lmdb_status before. */
int chi_write_stick(struct chi_write *write, int rc);

/* The failure that stuck, or that this is a child. */
CHI_MUSTUSE int chi_write_ready(const struct chi_write *write);

/* Puts the strength entry of a record with a known statistic. */
CHI_MUSTUSE int chi_write_strength(struct chi_write *write, const struct chi_key *key,
				   const struct chi_record *record);

/* Looks up in, puts into and deletes from a tree: in the blocks of the position tree and of the
 * strength tree, or the entries of another. Returns LMDB's code. */
CHI_MUSTUSE int chi_write_find(struct chi_write *write, MDB_dbi tree, MDB_val *key, MDB_val *value);

/* Puts into and deletes from a tree, so that chi_write_rollback can take it back. CHI_NONE if there
 * was nothing to delete; from blocks only what is there may be deleted, else the commit fails. */
CHI_MUSTUSE int chi_write_set(struct chi_write *write, MDB_dbi tree, MDB_val *key, MDB_val *value);

CHI_MUSTUSE int chi_write_unset(struct chi_write *write, MDB_dbi tree, MDB_val *key);

/* Takes a record that does not decode out of both trees. */
CHI_MUSTUSE int chi_write_purge(struct chi_write *write, const struct chi_key *key);

/* The same in memory of the transaction. */
CHI_MUSTUSE int chi_write_merge(struct chi_write *write, const struct chi_put_entry *put,
				struct chi_merge *m, struct chi_fault *fault);

/* The game of that id, or CHI_NONE. */
CHI_MUSTUSE int chi_game_ids_find(MDB_txn *txn, MDB_dbi games, const uint8_t id[CHI_GAME_ID_SIZE],
				  struct chi_game_id *out);

void chi_idempotency_free(struct chi_write *write);

/* What was noted so far stays, or what was noted since the last time is forgotten. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_idempotency_settle(struct chi_write *write);

void chi_idempotency_rollback(struct chi_write *write);

/* Puts it into the tree, before the commit. Returns LMDB's code. */
CHI_MUSTUSE int chi_idempotency_store(struct chi_write *write);
