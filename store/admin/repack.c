/* SPDX-License-Identifier: MIT */
/*
 * LMDB's own compacting copy leaves out free pages and copies the others as they are: those that
 * were split, as most are where positions come in any order, stay half empty. Here each tree is
 * walked in the order of its keys and appended to a new one, so that every leaf is full, and of the
 * position tree and the strength tree every block. The trees are those that the main tree names:
 * none can be forgotten.
 *
 * Commits keep LMDB's list of changed pages short. They need no sync, since the file has no name
 * that is opened before it is whole.
 */
#include "store/admin/repack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "store/block/block.h"
#include "store/chain/chain.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/record/meta.h"
#include "store/store.h"

#define COMMIT_BYTES ((size_t)1 << 20)

struct repack {
	MDB_txn *from;
	MDB_env *env;
	MDB_txn *txn;
	MDB_cursor *to; /* in the tree that is written; NULL: to be opened */
	MDB_dbi tree;	/* the one that is written */
	size_t unsaved; /* bytes since the last commit */
	struct chi_builder builder;
	uint8_t *room;		 /* the builder's */
	uint64_t block_bytes[2]; /* what the blocks take, by kind of tree */
};

static void close_repack(struct repack *repack)
{
	/* A cursor ends with its transaction, and is closed before. */
	if (repack->to != NULL) {
		mdb_cursor_close(repack->to);
	}
	if (repack->txn != NULL) {
		mdb_txn_abort(repack->txn);
	}
	if (repack->env != NULL) {
		mdb_env_close(repack->env);
	}
	free(repack->room);
}

/* LMDB opens by name: what it opened must be the file that was made. */
static int check_file(MDB_env *env, int fd)
{
	mdb_filehandle_t opened;
	struct stat ours;
	struct stat theirs;
	int rc = mdb_env_get_fd(env, &opened);
	if (rc == 0 && (fstat(fd, &ours) < 0 || fstat(opened, &theirs) < 0)) {
		rc = errno;
	}
	return rc != 0							      ? rc
	       : ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino ? 0
									      : ESTALE;
}

/* With the map's size of the old one, which the file keeps. */
static int open_env(struct repack *repack, const char *path, int fd)
{
	MDB_envinfo info;
	int rc = mdb_env_info(mdb_txn_env(repack->from), &info);
	if (rc == 0) {
		rc = chi_trees_start_raw(path,
					 MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC | MDB_NOMETASYNC,
					 info.me_mapsize, &repack->env);
	}
	return rc == 0 ? check_file(repack->env, fd) : rc;
}

/* To be called after every put. */
static int saved(struct repack *repack, size_t bytes)
{
	repack->unsaved += bytes;
	if (repack->unsaved < COMMIT_BYTES) {
		return 0;
	}
	repack->unsaved = 0;
	mdb_cursor_close(repack->to);
	repack->to = NULL;
	int rc = mdb_txn_commit(repack->txn);
	repack->txn = NULL;
	return rc == 0 ? mdb_txn_begin(repack->env, NULL, 0, &repack->txn) : rc;
}

static int append_pair(struct repack *repack, MDB_val *key, MDB_val *value)
{
	int rc = repack->to == NULL ? mdb_cursor_open(repack->txn, repack->tree, &repack->to) : 0;
	if (rc == 0) {
		rc = mdb_cursor_put(repack->to, key, value, MDB_APPEND);
	}
	/* What ascends no more is damaged. */
	return rc == 0		    ? saved(repack, key->mv_size + value->mv_size)
	       : rc == MDB_KEYEXIST ? MDB_CORRUPTED
				    : rc;
}

static int append_block(void *context, const uint8_t *low, size_t low_len, const uint8_t *bytes,
			size_t len)
{
	struct repack *repack = context;
	MDB_val key = chi_val(low, low_len);
	MDB_val value = chi_val(bytes, len);
	repack->block_bytes[repack->builder.kind] += chi_block_taken(low_len, len);
	return append_pair(repack, &key, &value);
}

/* The entries of a block, which begins where the one before it ended: at `border`, which becomes
 * its own end. */
static int add_block(struct repack *repack, const MDB_val *key, const MDB_val *value,
		     MDB_val *border)
{
	enum chi_tree_kind kind = repack->builder.kind;
	struct chi_block_entry entries[CHI_GROUP_MOST];
	struct chi_block block;
	uint32_t n;
	if (key->mv_size != border->mv_size ||
	    memcmp(key->mv_data, border->mv_data, border->mv_size) != 0 ||
	    chi_block_open(kind, key->mv_data, key->mv_size, value->mv_data, value->mv_size,
			   &block) < 0) {
		return MDB_CORRUPTED;
	}
	*border = chi_val(block.fence, block.fence_len);
	for (uint32_t i = 0; i < block.groups; i++) {
		if (chi_group_read(&block, i, entries, &n) < 0) {
			return MDB_CORRUPTED;
		}
		for (uint32_t j = 0; j < n; j++) {
			int rc = chi_builder_add(&repack->builder, chi_entry_key(&entries[j], kind),
						 chi_entry_key_len(&entries[j], kind),
						 entries[j].value, entries[j].len);
			if (rc != 0) {
				return rc == -CHI_EINTERNAL ? MDB_CORRUPTED : rc;
			}
		}
	}
	return 0;
}

/* A tree of blocks, which become full ones. */
static int refill(struct repack *repack, MDB_dbi from, enum chi_tree_kind kind)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	MDB_val border = chi_val(chi_tree_first, chi_tree_first_len(kind));
	repack->room = repack->room != NULL ? repack->room : malloc(CHI_BUILDER_ROOM);
	int rc = repack->room != NULL ? mdb_cursor_open(repack->from, from, &cursor) : ENOMEM;
	if (rc != 0) {
		return rc;
	}
	chi_builder_init(&repack->builder, kind, repack->room, append_block, repack);
	rc = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
	bool empty = rc == MDB_NOTFOUND;
	while (rc == 0) {
		/* Borders ascend, so that this ends. */
		rc = add_block(repack, &key, &value, &border);
		rc = rc == 0 ? mdb_cursor_get(cursor, &key, &value, MDB_NEXT) : rc;
	}
	mdb_cursor_close(cursor);
	if (rc == MDB_NOTFOUND) {
		bool whole = empty || border.mv_size == 0;
		rc = whole ? chi_builder_finish(&repack->builder) : MDB_CORRUPTED;
	}
	return rc == -CHI_EINTERNAL ? MDB_CORRUPTED : rc;
}

/* 0: its entries are not chained. */
static enum chi_chain chain_of(const char *tree)
{
	enum chi_chain chain = CHI_CHAIN_TRAITS;
	while (chain > 0 && strcmp(chi_chain_name(chain), tree) != 0) {
		chain--;
	}
	return chain;
}

/* The links go along; where one does not fit, the old file is all that may still have the rest. */
static int copy_entries(struct repack *repack, MDB_dbi from, enum chi_chain chain)
{
	struct chi_chain_at at = {.chain = chain};
	MDB_stat stat;
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	int rc = mdb_stat(repack->from, from, &stat);
	if (rc == 0) {
		rc = mdb_cursor_open(repack->from, from, &cursor);
	}
	if (rc != 0) {
		return rc;
	}
	rc = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
	/* A damaged tree may go in circles. */
	for (; rc == 0 && stat.ms_entries > 0; stat.ms_entries--) {
		bool fits = chain == 0 || chi_chain_follow(&at, &key, &value);
		rc = fits ? append_pair(repack, &key, &value) : MDB_CORRUPTED;
		rc = rc == 0 ? mdb_cursor_get(cursor, &key, &value, MDB_NEXT) : rc;
	}
	mdb_cursor_close(cursor);
	bool whole = stat.ms_entries == 0 && (chain == 0 || chi_chain_over(&at));
	return rc == MDB_NOTFOUND && whole ? 0 : rc == 0 || rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
}

/* A handle in the new environment, with the flags of the old one. */
static int make_tree(struct repack *repack, const char *name, MDB_dbi from, MDB_dbi *to)
{
	unsigned flags = 0;
	int rc = mdb_dbi_flags(repack->from, from, &flags);
	if (rc == 0) {
		rc = mdb_dbi_open(repack->txn, name, flags | MDB_CREATE, to);
	}
	return rc;
}

static int copy_tree(struct repack *repack, const MDB_val *name)
{
	MDB_dbi from;
	_cleanup_(chi_freep) char *text = strndup(name->mv_data, name->mv_size);
	if (text == NULL) {
		return ENOMEM;
	}
	int rc = mdb_dbi_open(repack->from, text, 0, &from);
	if (rc == 0) {
		rc = make_tree(repack, text, from, &repack->tree);
	}
	if (rc != 0) {
		return rc;
	}
	rc = strcmp(text, POSITION_TREE) == 0	? refill(repack, from, CHI_TREE_POSITION)
	     : strcmp(text, STRENGTH_TREE) == 0 ? refill(repack, from, CHI_TREE_STRENGTH)
						: copy_entries(repack, from, chain_of(text));
	if (repack->to != NULL) {
		mdb_cursor_close(repack->to);
		repack->to = NULL;
	}
	return rc;
}

/* These two have an order of their own, which the handles keep. */
static int order_trees(struct repack *repack)
{
	MDB_dbi position;
	MDB_dbi strength;
	int rc = mdb_dbi_open(repack->txn, POSITION_TREE, MDB_CREATE, &position);
	if (rc == 0) {
		rc = mdb_dbi_open(repack->txn, STRENGTH_TREE, MDB_CREATE, &strength);
	}
	return rc == 0 ? chi_trees_order(repack->txn, position, strength) : rc;
}

static int copy_trees(struct repack *repack)
{
	MDB_dbi names;
	MDB_cursor *cursor;
	MDB_val name;
	MDB_val value;
	int rc = order_trees(repack);
	if (rc == 0) {
		rc = mdb_dbi_open(repack->from, NULL, 0, &names);
	}
	if (rc == 0) {
		rc = mdb_cursor_open(repack->from, names, &cursor);
	}
	if (rc != 0) {
		return rc;
	}
	rc = mdb_cursor_get(cursor, &name, &value, MDB_FIRST);
	while (rc == 0) {
		rc = copy_tree(repack, &name);
		rc = rc == 0 ? mdb_cursor_get(cursor, &name, &value, MDB_NEXT) : rc;
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* The state names the transaction that wrote it, which now is this one. */
static int put_state(struct repack *repack)
{
	struct chi_store_state state;
	MDB_dbi from;
	MDB_dbi to;
	int rc = mdb_dbi_open(repack->from, META_TREE, 0, &from);
	if (rc == 0) {
		rc = mdb_dbi_open(repack->txn, META_TREE, 0, &to);
	}
	if (rc == 0 && chi_state_get(repack->from, from, &state) < 0) {
		rc = MDB_CORRUPTED;
	}
	state.position_bytes = repack->block_bytes[CHI_TREE_POSITION];
	state.strength_bytes = repack->block_bytes[CHI_TREE_STRENGTH];
	return rc == 0 ? chi_state_put(repack->txn, to, &state) : rc;
}

static int write_all(MDB_txn *from, const char *path, int fd)
{
	_cleanup_(close_repack) struct repack repack = {.from = from};
	int rc = open_env(&repack, path, fd);
	if (rc == 0) {
		rc = mdb_txn_begin(repack.env, NULL, 0, &repack.txn);
	}
	if (rc == 0) {
		rc = copy_trees(&repack);
	}
	if (rc == 0) {
		rc = put_state(&repack);
	}
	if (rc == 0) {
		rc = mdb_txn_commit(repack.txn);
		repack.txn = NULL;
	}
	return rc;
}

int chi_repack(struct chi_dir *store, const char *path, int fd)
{
	struct chi_read *read;
	int status = chi_read_begin(store, &read);
	if (status < 0) {
		return status == -CHI_ENOMEM ? ENOMEM : status == -CHI_EBUSY ? EBUSY : EIO;
	}
	int rc = write_all(read->txn, path, fd);
	chi_read_end(read);
	return rc;
}
