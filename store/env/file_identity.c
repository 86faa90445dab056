/* SPDX-License-Identifier: MIT */
/*
 * Whether the files that are open are still those that the directory names. rsync and editors
 * replace a file by rename: a program that has the old one mapped goes on with it, while others
 * work on the new one under the same locks. A file with two names belongs to two directories, each
 * with a lock file of its own. On overlayfs the first writer makes a copy of the file, and one that
 * opened it before for reading has the original mapped. What is left of a lock.mdb that was cut
 * short (lock_map.c) is no table of readers.
 *
 * Two looks find these out. The names are compared with the open descriptors, at opening and now
 * and then. And LMDB's number of the last commit, kept in lock.mdb, is compared with that in the
 * mapped data at each transaction (chi_txn_settle): they part at the first commit of others.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "store/env/env.h"
#include "store/env/lock.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/store.h"

/* Attempts of a reader that two commits have overtaken each time: far more than there can be. */
#define SETTLE_TRIES 1000

int chi_txn_renew_settled(MDB_env *mdb, MDB_txn *txn)
{
	for (unsigned i = 0; i < SETTLE_TRIES; i++) {
		mdb_txn_reset(txn);
		int rc = mdb_txn_renew(txn);
		if (rc != 0 || chi_txn_fits(mdb, mdb_txn_id(txn))) {
			return rc;
		}
	}
	return ESTALE;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

void chi_files_note(struct chi_env *env)
{
	struct stat st;
	bool there = fstatat(env->pin, LMDB_LOCK, &st, 0) == 0;
	env->readers_dev = there ? st.st_dev : 0;
	env->readers_ino = there ? st.st_ino : 0;
	env->readers_bytes = there ? st.st_size : 0;
}

static int tell_stale(const struct chi_env *env, const char *name, int error,
		      struct chi_fault *fault)
{
	return error != 0 && error != ENOENT
		       ? chi_lmdb_fault(fault, error, "look at", env->path)
		       : chi_fail(fault, -CHI_ESTALE,
				  "'%s/%s' was %s while the store was open: close it and open it "
				  "again",
				  env->path, name, error == 0 ? "replaced" : "removed");
}

int chi_files_check(const struct chi_env *env, struct chi_fault *fault)
{
	struct stat ours;
	struct stat named;
	mdb_filehandle_t fd;
	if (env->read_only == CHI_READ_ONLY_PUBLISHED) {
		/* Never written: a newer copy has its name by now, and the old one is as it was. */
		return CHI_OK;
	}
	int error = mdb_env_get_fd(env->mdb, &fd);
	if (error != 0 || fstat(fd, &ours) < 0) {
		return chi_lmdb_fault(fault, error != 0 ? error : errno, "look at", env->path);
	}
	error = fstatat(env->pin, DATA_NAME, &named, 0) < 0 ? errno : 0;
	if (error != 0 || !is_same(&ours, &named)) {
		return tell_stale(env, DATA_NAME, error, fault);
	}
	error = fstatat(env->pin, LMDB_LOCK, &named, 0) < 0 ? errno : 0;
	ours.st_dev = env->readers_dev;
	ours.st_ino = env->readers_ino;
	if (ours.st_ino != 0 && (error != 0 || !is_same(&ours, &named))) {
		return tell_stale(env, LMDB_LOCK, error, fault);
	}
	if (ours.st_ino != 0 && named.st_size < env->readers_bytes) {
		return chi_fail(fault, -CHI_ESTALE,
				"'%s/%s' was cut to %lld bytes while the store was open: close it "
				"and open it again",
				env->path, LMDB_LOCK, (long long)named.st_size);
	}
	if (env->lock.fd < 0) {
		return CHI_OK;
	}
	error = fstatat(env->pin, CHI_LOCK_NAME, &named, 0) < 0 ? errno : 0;
	if (error != 0 || fstat(env->lock.fd, &ours) < 0 || !is_same(&ours, &named)) {
		return tell_stale(env, CHI_LOCK_NAME, error, fault);
	}
	return CHI_OK;
}

int chi_links_check(const struct chi_env *env, struct chi_fault *fault)
{
	static const char *const names[] = {DATA_NAME, LMDB_LOCK, CHI_LOCK_NAME};
	struct stat st;
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		if (fstatat(env->pin, names[i], &st, 0) == 0 && st.st_nlink > 1) {
			return chi_fail(fault, -CHI_ESTALE,
					"'%s/%s' has %lu hard links: two directories with one "
					"file damage each other; copy it and remove the others",
					env->path, names[i], (unsigned long)st.st_nlink);
		}
	}
	return CHI_OK;
}

/* Whether that is the open data file; with the environment locked. */
static int is_open(const struct chi_env *env, const struct stat *named, bool *same)
{
	struct stat ours;
	mdb_filehandle_t fd;
	int error = env->mdb != NULL ? mdb_env_get_fd(env->mdb, &fd) : EIO;
	if (error != 0 || fstat(fd, &ours) < 0) {
		return error != 0 ? error : errno;
	}
	*same = is_same(&ours, named) && chi_files_check(env, NULL) == CHI_OK;
	return 0;
}

int chi_dir_changed(struct chi_dir *store, bool *changed, struct chi_fault *fault)
{
	char path[PATH_MAX];
	struct stat named;
	bool same = false;
	if (chi_env_forked(store->env)) {
		return -CHI_EFORK;
	}
	int len = snprintf(path, sizeof(path), "%s/%s", store->path, DATA_NAME);
	if (len < 0 || (size_t)len >= sizeof(path)) {
		return chi_lmdb_fault(fault, ENAMETOOLONG, "look at", store->path);
	}
	if (stat(path, &named) < 0) {
		return errno == ENOENT || errno == ENOTDIR
			       ? chi_fail(fault, -CHI_ENOSTORE, "'%s' is not there any more", path)
			       : chi_lmdb_fault(fault, errno, "look at", path);
	}
	(void)pthread_mutex_lock(&store->env->mutex);
	int error = is_open(store->env, &named, &same);
	(void)pthread_mutex_unlock(&store->env->mutex);
	*changed = !same;
	return error == 0 ? CHI_OK : chi_lmdb_fault(fault, error, "look at", path);
}
