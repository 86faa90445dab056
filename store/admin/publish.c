/* SPDX-License-Identifier: MIT */
/*
 * Published copies: one committed state in a directory that everyone may read and no one may write.
 * Anyone who may write lock.mdb can make an acknowledged record vanish, so strangers cannot be let
 * at a store that lives. A copy that never changes needs no lock: it is opened without any, by as
 * many as like, from where they may write nothing.
 *
 * LMDB without locks beside a writer reads nonsense. So a directory counts as a published copy only
 * if all say so: its stamp, whose mark keeps every program from writing, the mode of its data, and
 * that there is no lock file, which anyone who writes makes first. Everything else is opened with
 * locks, where those can be written.
 */
#include "store/env/published.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/thread.h"
#include "store/env/env.h"
#include "store/env/lock.h"
#include "store/env/path.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/record/meta.h"
#include "store/store.h"

#define PUBLISHED_DIR_MODE  0755
#define PUBLISHED_FILE_MODE 0444

#define WRITE_BITS 0222

/* ---- Telling --------------------------------------------------------------------------------- */

static bool is_absent(const char *dir, const char *name)
{
	char path[CHI_PATH_SIZE];
	struct stat st;
	return chi_path_join(path, dir, name) == CHI_OK && lstat(path, &st) < 0 && errno == ENOENT;
}

bool chi_published_looks(const char *dir)
{
	char path[CHI_PATH_SIZE];
	struct stat st;
	return chi_path_join(path, dir, DATA_NAME) == CHI_OK && lstat(path, &st) == 0 &&
	       S_ISREG(st.st_mode) && (st.st_mode & WRITE_BITS) == 0 && is_absent(dir, LMDB_LOCK) &&
	       is_absent(dir, CHI_LOCK_NAME);
}

static bool is_marked(const struct chi_stamp *stamp)
{
	return (stamp->ro_compatible & CHI_FEATURE_PUBLISHED) != 0;
}

int chi_published_refuse(const char *path, struct chi_fault *fault)
{
	return chi_fail(
		fault, -CHI_EREADONLY,
		"'%s' is a published copy, which is never written; a backup of it is a store",
		path);
}

/* Opens the directory's LMDB alone, without locks. */
static int open_alone(const char *dir, unsigned flags, struct chi_trees *out,
		      struct chi_fault *fault)
{
	uint64_t map_bytes;
	int rc = chi_file_check(dir, fault);
	if (rc == CHI_OK) {
		rc = chi_map_bytes(0, &map_bytes, fault);
	}
	return rc == CHI_OK ? chi_trees_open(dir, flags | MDB_NOLOCK, map_bytes, out, fault) : rc;
}

int chi_published_check(const char *dir, struct chi_fault *fault)
{
	struct chi_trees trees;
	struct chi_fault why = {.text = ""};
	int rc = chi_published_looks(dir) ? open_alone(dir, MDB_RDONLY, &trees, &why) : -CHI_EEXIST;
	if (rc == -CHI_EIO || rc == -CHI_EFULL || rc == -CHI_ENOMEM) {
		/* It cannot be determined, which is no objection. */
		return chi_fail(fault, rc, "%s", why.text);
	}
	bool marked = false;
	if (rc == CHI_OK) {
		marked = is_marked(&trees.stamp);
		mdb_env_close(trees.mdb);
	}
	return marked ? CHI_OK : chi_fail(fault, -CHI_EEXIST, "'%s' is not a published copy", dir);
}

int chi_published_open(struct chi_env *env, struct chi_fault *fault)
{
	if (!chi_published_looks(env->path)) {
		return CHI_NONE;
	}
	env->read_only = CHI_READ_ONLY_PUBLISHED;
	int rc = chi_env_restart(env, fault);
	if (rc < 0) {
		return rc;
	}
	/* Looked at again: what lies there by now may have the name since a moment ago. */
	if (!is_marked(&env->stamp) || !chi_published_looks(env->path)) {
		mdb_env_close(env->mdb);
		env->mdb = NULL;
		env->read_only = CHI_READ_ONLY_NOT;
		return CHI_NONE;
	}
	return env->mode == CHI_STORE_READ ? CHI_OK : chi_published_refuse(env->path, fault);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void close_mdb(MDB_env **mdb)
{
	if (*mdb != NULL) {
		mdb_env_close(*mdb);
	}
}

/* Sets or takes away the stamp's mark. Nothing else changes: the copy keeps the sequence number of
 * the state that was copied. */
static int put_mark(MDB_txn *txn, bool marked, struct chi_fault *fault)
{
	MDB_dbi meta;
	struct chi_stamp stamp;
	int rc = mdb_dbi_open(txn, META_TREE, 0, &meta);
	if (rc != 0) {
		return chi_lmdb_fault(fault, rc, "open the tree", META_TREE);
	}
	/* As for reading: one that has the mark is not refused. */
	rc = chi_stamp_get(txn, meta, true, &stamp, fault);
	if (rc < 0) {
		return rc;
	}
	stamp.ro_compatible &= ~CHI_FEATURE_PUBLISHED;
	stamp.ro_compatible |= marked ? CHI_FEATURE_PUBLISHED : 0;
	struct chi_store_state state;
	rc = chi_state_get(txn, meta, &state);
	if (rc < 0) {
		return chi_fail(fault, rc, "the store's state record is damaged");
	}
	int error = chi_stamp_put(txn, meta, &stamp);
	if (error == 0) {
		error = chi_state_put(txn, meta, &state);
	}
	return chi_lmdb_write_fault(fault, error, "write", "the stamp");
}

static int mark_published(MDB_env *mdb, bool marked, struct chi_fault *fault)
{
	MDB_txn *txn;
	int error = mdb_txn_begin(mdb, NULL, 0, &txn);
	if (error != 0) {
		return chi_lmdb_write_fault(fault, error, "write", "the stamp");
	}
	int rc = put_mark(txn, marked, fault);
	if (rc < 0) {
		mdb_txn_abort(txn);
		return rc;
	}
	return chi_lmdb_write_fault(fault, mdb_txn_commit(txn), "write", "the stamp");
}

/* Opens the copy for writing and marks it: no one else knows it. */
static int open_marked(const char *dir, unsigned flags, bool marked, MDB_env **out,
		       struct chi_fault *fault)
{
	_cleanup_(close_mdb) MDB_env *mdb = NULL;
	uint64_t map_bytes;
	int rc = chi_map_bytes(0, &map_bytes, fault);
	if (rc == CHI_OK) {
		rc = chi_trees_start(dir, flags | MDB_NOLOCK, map_bytes, &mdb, fault);
	}
	if (rc == CHI_OK) {
		rc = mark_published(mdb, marked, fault);
	}
	if (rc == CHI_OK) {
		*out = mdb;
		mdb = NULL;
	}
	return rc;
}

int chi_published_unmake(const char *dir, struct chi_fault *fault)
{
	MDB_env *mdb;
	int rc = open_marked(dir, 0, false, &mdb, fault);
	if (rc == CHI_OK) {
		mdb_env_close(mdb);
	}
	return rc;
}

/* Opens the compacted file, beside the copy; returns an errno or LMDB's code. */
static int write_compact(MDB_env *mdb, int dir, int *out)
{
	int fd = openat(dir, COMPACT_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
	if (fd < 0) {
		return errno;
	}
	int rc = mdb_env_copyfd2(mdb, fd, MDB_CP_COMPACT);
	if (rc == 0 && fchmod(fd, PUBLISHED_FILE_MODE) < 0) {
		rc = errno;
	}
	if (rc != 0) {
		(void)close(fd);
		return rc;
	}
	*out = fd;
	return 0;
}

static int refuse_damaged(uint64_t errors, struct chi_fault *fault)
{
	return chi_fail(fault, -CHI_ECORRUPT,
			"the store is damaged in %" PRIu64 " places: nothing was published",
			errors);
}

/* Opened as its readers will open it. */
static int verify(const char *dir, enum chi_verify_depth depth, struct chi_fault *fault)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ, .force_netfs = true};
	struct chi_verify_result result;
	struct chi_dir *store;
	int rc = chi_dir_open(dir, &options, &store, fault);
	if (rc < 0) {
		return rc;
	}
	rc = chi_verify_readable(store, depth, chi_threads_useful(), &result);
	chi_dir_close(store);
	if (rc == -CHI_ECORRUPT) {
		return refuse_damaged(result.errors, fault);
	}
	return rc < 0 ? chi_fault_plain(fault, rc) : rc;
}

/* LMDB believes the pages that it opens and compacts, and a damaged one makes it write past the end
 * of its memory: they are looked at first. */
int chi_published_prove(int file, struct chi_fault *fault)
{
	uint64_t errors;
	int rc = chi_verify_pages(file, &errors, fault);
	return rc == -CHI_ECORRUPT ? refuse_damaged(errors, fault) : rc;
}

/* Replaces the copy by a file without free pages, which is open as *fd then. */
static int compact(const struct chi_hidden *hidden, int *fd, struct chi_fault *fault)
{
	MDB_env *mdb = NULL;
	/* Only what replaces it has to outlive a crash. */
	int rc = open_marked(hidden->dir, MDB_NOSYNC, true, &mdb, fault);
	if (rc < 0) {
		return rc;
	}
	int error = write_compact(mdb, hidden->lock, fd);
	mdb_env_close(mdb);
	if (error == 0 && renameat(hidden->lock, COMPACT_NAME, hidden->lock, DATA_NAME) < 0) {
		error = errno;
	}
	return chi_lmdb_write_fault(fault, error, "compact", hidden->dir);
}

/* A file that is synced by a thread. */
struct synced_file {
	int fd;
	int error; /* an errno */
};

static void *sync_file(void *context)
{
	struct synced_file *file = context;
	file->error = fsync(file->fd) < 0 ? errno : 0;
	return NULL;
}

/* Verifies the copy while its file is written to the disk. */
static int verify_synced(const char *dir, int fd, enum chi_verify_depth depth,
			 struct chi_fault *fault)
{
	struct synced_file file = {.fd = fd};
	pthread_t thread;
	unsigned n = chi_threads_start(&thread, 1, sync_file, &file);
	int rc = verify(dir, depth, fault);
	if (n > 0) {
		(void)pthread_join(thread, NULL);
	} else if (rc == CHI_OK) {
		(void)sync_file(&file);
	}
	return rc < 0 ? rc : chi_lmdb_write_fault(fault, file.error, "write", dir);
}

int chi_published_make(const struct chi_hidden *hidden, bool whole, struct chi_fault *fault)
{
	int fd = -1;
	int rc = compact(hidden, &fd, fault);
	if (rc == CHI_OK) {
		rc = verify_synced(hidden->dir, fd, whole ? CHI_VERIFY_WHOLE : CHI_VERIFY_ENTRIES,
				   fault);
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	if (rc == CHI_OK && fchmod(hidden->lock, PUBLISHED_DIR_MODE) < 0) {
		rc = chi_lmdb_fault(fault, errno, "open to everyone", hidden->dir);
	}
	return rc;
}
