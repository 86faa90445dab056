/* SPDX-License-Identifier: MIT */
/*
 * LMDB's own compacting copy leaves out free pages and copies the others as they are: those that
 * were split, as most are where positions come in any order, stay half empty. Here each tree is
 * walked in the order of its keys and appended to a new one, so that every leaf is full. The trees
 * are those that the main tree names: none can be forgotten.
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
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/names.h"
#include "store/record/meta.h"
#include "store/store.h"

#define COMMIT_BYTES ((size_t)1 << 20)

struct repack {
	MDB_txn *from;
	MDB_env *env;
	MDB_txn *txn;
	MDB_cursor *to; /* in the tree that is written; NULL: to be opened */
	size_t unsaved; /* bytes since the last commit */
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

static int append(struct repack *repack, MDB_dbi tree, MDB_val *key, MDB_val *value)
{
	int rc = repack->to == NULL ? mdb_cursor_open(repack->txn, tree, &repack->to) : 0;
	if (rc == 0) {
		rc = mdb_cursor_put(repack->to, key, value, MDB_APPEND);
	}
	/* What ascends no more is damaged. */
	return rc == 0		    ? saved(repack, key->mv_size + value->mv_size)
	       : rc == MDB_KEYEXIST ? MDB_CORRUPTED
				    : rc;
}

static int copy_entries(struct repack *repack, MDB_dbi from, MDB_dbi to)
{
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
		rc = append(repack, to, &key, &value);
		rc = rc == 0 ? mdb_cursor_get(cursor, &key, &value, MDB_NEXT) : rc;
	}
	mdb_cursor_close(cursor);
	if (repack->to != NULL) {
		mdb_cursor_close(repack->to);
		repack->to = NULL;
	}
	return rc == MDB_NOTFOUND && stat.ms_entries == 0 ? 0 : rc == 0 ? MDB_CORRUPTED : rc;
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
	MDB_dbi to;
	_cleanup_(chi_freep) char *text = strndup(name->mv_data, name->mv_size);
	if (text == NULL) {
		return ENOMEM;
	}
	int rc = mdb_dbi_open(repack->from, text, 0, &from);
	if (rc == 0) {
		rc = make_tree(repack, text, from, &to);
	}
	return rc == 0 ? copy_entries(repack, from, to) : rc;
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
	struct chi_state state;
	MDB_dbi from;
	MDB_dbi to;
	int rc = mdb_dbi_open(repack->from, META_TREE, 0, &from);
	if (rc == 0) {
		rc = mdb_dbi_open(repack->txn, META_TREE, 0, &to);
	}
	if (rc == 0 && chi_state_get(repack->from, from, &state) < 0) {
		rc = MDB_CORRUPTED;
	}
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

int chi_repack(struct chi_store *store, const char *path, int fd)
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
