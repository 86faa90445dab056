/* SPDX-License-Identifier: MIT */
/*
 * Compaction: LMDB never gives pages back to the file system, so what they hold is written, packed
 * (repack.c), to a second file that takes the first one's name. A crash at any moment leaves one
 * whole file under that name; a half-written second file is removed by the next attempt, or the
 * next daemon.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/admin/repack.h"
#include "store/env/env.h"
#include "store/env/lock.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/store.h"

struct chi_compaction {
	struct chi_dir *store;
	struct chi_env *env;
};

int chi_compact_refuse(const char *why, struct chi_fault *fault)
{
	return chi_fail(fault, -CHI_ECORRUPT,
			"%s: it was not compacted; 'chistore verify --repair' saves what is intact",
			why);
}

int chi_compact_alone(struct chi_dir *store, struct chi_fault *fault)
{
	return chi_lock_company(&store->env->lock, fault);
}

int chi_check_compact(struct chi_dir *store, struct chi_fault *fault)
{
	struct chi_verify_result result;
	int rc = chi_compact_alone(store, fault);
	if (rc < 0) {
		return rc;
	}
	rc = chi_verify_readable(store, CHI_VERIFY_WHOLE, 1, &result);
	if (rc == -CHI_ECORRUPT) {
		char why[64];
		(void)snprintf(why, sizeof(why), "the store is damaged in %" PRIu64 " places",
			       result.errors);
		return chi_compact_refuse(why, fault);
	}
	return rc < 0 ? chi_fault_plain(fault, rc) : rc;
}

/* Gives the second file the first one's owner, group and mode, or else those who may read the store
 * might no longer: a group that may not need not be kept. Returns an errno. */
static int take_over_owner(int fd, const struct stat *first)
{
	struct stat st;
	if (fstat(fd, &st) < 0) {
		return errno;
	}
	bool same = st.st_uid == first->st_uid && st.st_gid == first->st_gid;
	bool needed = st.st_uid != first->st_uid || (first->st_mode & S_IRWXG) != 0;
	/* Only root can give a file away; any other user who compacts owns the store already, and
	 * is of its group if that matters. The owner first: a new one takes mode bits away. */
	if (!same && fchown(fd, first->st_uid, first->st_gid) < 0 && needed) {
		return errno;
	}
	return fchmod(fd, first->st_mode & 07777) < 0 ? errno : 0;
}

/* Writes and syncs the second file, with the first one's rights. Returns an errno or LMDB's code.
 */
static int write_fresh(const struct chi_compaction *c)
{
	struct stat st;
	int dir = c->env->pin;
	char path[CHI_PATH_SIZE];
	if (chi_path_join(path, c->env->path, COMPACT_NAME) < 0) {
		return ENAMETOOLONG;
	}
	if (fstatat(dir, DATA_NAME, &st, 0) < 0 ||
	    (unlinkat(dir, COMPACT_NAME, 0) < 0 && errno != ENOENT)) {
		return errno;
	}
	int fd = openat(dir, COMPACT_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
	if (fd < 0) {
		return errno;
	}
	/* The writer is claimed: what is read is the last state. */
	int rc = chi_repack(c->store, path, fd);
	if (rc == 0) {
		rc = take_over_owner(fd, &st);
	}
	if (rc == 0 && fsync(fd) < 0) {
		rc = errno;
	}
	(void)close(fd);
	return rc;
}

/* On failure nothing of the second file is left. */
static int prepare(struct chi_compaction *c, struct chi_fault *fault)
{
	if (c->env->mdb == NULL) {
		return chi_fault_plain(fault, -CHI_EIO);
	}
	/* A process that has it open now will most likely have it open then: all would wait for
	 * nothing. */
	int rc = chi_lock_company(&c->env->lock, fault);
	if (rc < 0) {
		return rc;
	}
	int error = write_fresh(c);
	if (error != 0) {
		rc = chi_lmdb_write_fault(fault, error, "compact", c->env->path);
		chi_compact_sweep(c->env);
	}
	return rc;
}

int chi_compact_prepare(struct chi_dir *store, struct chi_compaction **out, struct chi_fault *fault)
{
	_cleanup_(chi_freep) struct chi_compaction *c = calloc(1, sizeof(*c));
	if (c == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = chi_env_claim(store, fault);
	if (rc < 0) {
		return rc;
	}
	c->store = store;
	c->env = store->env;
	rc = prepare(c, fault);
	if (rc < 0) {
		chi_env_release(store->env);
		return rc;
	}
	*out = c;
	c = NULL;
	return CHI_OK;
}

static uint64_t size_of(const struct chi_env *env)
{
	struct stat st;
	return fstatat(env->pin, DATA_NAME, &st, 0) == 0 ? (uint64_t)st.st_size : 0;
}

/* With env->mutex held, the pool drained and no one else there. */
static int exchange(struct chi_compaction *c, struct chi_fault *fault)
{
	struct chi_env *env = c->env;
	mdb_env_close(env->mdb);
	env->mdb = NULL;
	int error = renameat(env->pin, COMPACT_NAME, env->pin, DATA_NAME) < 0 ? errno : 0;
	/* Syncs the directory first: until then a crash may bring back the old file, which is whole
	 * too, but lacks what is written from now on. */
	int rc = chi_env_restart(env, fault);
	return error != 0 ? chi_lmdb_fault(fault, error, "compact", env->path) : rc;
}

int chi_compact_swap(struct chi_compaction *c, uint64_t *bytes_before, uint64_t *bytes_after,
		     struct chi_fault *fault)
{
	struct chi_env *env = c->env;
	if (chi_env_forked(env)) {
		free(c);
		return chi_fault_plain(fault, -CHI_EFORK);
	}
	*bytes_before = size_of(env);
	(void)pthread_mutex_lock(&env->mutex);
	int rc = chi_env_drain(env);
	if (rc < 0) {
		rc = chi_fail(fault, rc, "the store is being read in this process");
	} else {
		rc = chi_lock_alone(&env->lock, fault);
	}
	if (rc == CHI_OK) {
		rc = exchange(c, fault);
		chi_lock_share(&env->lock);
	}
	(void)pthread_mutex_unlock(&env->mutex);
	*bytes_after = size_of(env);
	chi_compact_sweep(env);
	chi_env_release(env);
	free(c);
	return rc;
}

void chi_compact_drop(struct chi_compaction *c)
{
	if (c == NULL) {
		return;
	}
	if (!chi_env_forked(c->env)) {
		chi_compact_sweep(c->env);
		chi_env_release(c->env);
	}
	free(c);
}
