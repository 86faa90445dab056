/* SPDX-License-Identifier: MIT */
/*
 * Hot copies: LMDB writes one snapshot's pages to a descriptor, and the other side puts them into
 * a new directory that appears whole. Both meta pages are taken under LMDB's writer mutex, so
 * that the copy is one committed state however many follow meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/env/published.h"
#include "store/env/env.h"
#include "store/env/lock.h"
#include "store/env/path.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/record/meta.h"
#include "store/store.h"

struct chi_copy {
	int fd;
	char *path;
	enum chi_backup_kind kind;
	struct chi_hidden hidden;
};

int chi_dir_copy(struct chi_dir *store, int fd, struct chi_fault *fault)
{
	/* LMDB would wait for the writer, which here would be for ever. */
	if (chi_env_writes(store->env)) {
		return chi_fail(fault, -CHI_EBUSY, "this thread is writing");
	}
	/* Pins the environment against being exchanged meanwhile. */
	struct chi_read *read;
	int rc = chi_read_begin(store, &read);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	int error = mdb_env_copyfd2(store->env->mdb, fd, 0);
	chi_read_end(read);
	/* LMDB's own errors are negative: the others are of the descriptor. */
	return chi_lmdb_fault(fault, error, error > 0 ? "write a copy of" : "copy", store->path);
}

static void free_copy(struct chi_copy *copy)
{
	if (copy == NULL) {
		return;
	}
	if (copy->fd >= 0) {
		(void)close(copy->fd);
	}
	free(copy->path);
	free(copy);
}

static void free_copyp(struct chi_copy **copy)
{
	free_copy(*copy);
}

static int begin_copy(const char *path, enum chi_backup_kind kind, struct chi_copy **out, int *fd,
		      struct chi_fault *fault)
{
	_cleanup_(free_copyp) struct chi_copy *copy = calloc(1, sizeof(*copy));
	if (copy == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	copy->fd = -1;
	copy->kind = kind;
	copy->path = strdup(path);
	if (copy->path == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = chi_path_begin(path, &copy->hidden, fault);
	if (rc < 0) {
		return rc;
	}
	copy->fd = openat(copy->hidden.lock, DATA_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			  FILE_MODE);
	rc = copy->fd < 0 ? chi_lmdb_fault(fault, errno, "write a copy to", path) : CHI_OK;
	if (rc < 0) {
		chi_path_remove(&copy->hidden);
		return rc;
	}
	*fd = copy->fd;
	*out = copy;
	copy = NULL;
	return CHI_OK;
}

/* A published copy may have the name; `path` is told apart by what it is itself. */
static int check_replaced(const char *path, const struct stat *st, struct chi_fault *fault)
{
	int rc = S_ISDIR(st->st_mode) ? chi_published_check(path, fault) : -CHI_EEXIST;
	return rc == -CHI_EEXIST
		       ? chi_fail(fault, rc, "'%s' exists and is not a published copy", path)
		       : rc;
}

int chi_copy_begin(const char *path, enum chi_backup_kind kind, struct chi_copy **out, int *fd,
		   struct chi_fault *fault)
{
	struct stat st;
	int rc = CHI_OK;
	if (lstat(path, &st) == 0) {
		rc = kind == CHI_BACKUP_STORE
			     ? chi_fail(fault, -CHI_EEXIST, "'%s' exists already", path)
			     : check_replaced(path, &st, fault);
	}
	return rc == CHI_OK ? begin_copy(path, kind, out, fd, fault) : rc;
}

/* What was received must be a store that opens. *marked: it was copied from a published copy. */
static int check_copy(const char *hidden, bool *marked, struct chi_fault *fault)
{
	int rc = chi_file_check(hidden, fault);
	uint64_t map_bytes;
	if (rc == CHI_OK) {
		rc = chi_map_bytes(0, &map_bytes, fault);
	}
	if (rc < 0) {
		return rc;
	}
	struct chi_trees trees;
	rc = chi_trees_open(hidden, MDB_RDONLY | MDB_NOLOCK, map_bytes, &trees, fault);
	if (rc == CHI_OK) {
		*marked = (trees.stamp.ro_compatible & CHI_FEATURE_PUBLISHED) != 0;
		mdb_env_close(trees.mdb);
	}
	return rc;
}

/* Makes a store of what was received, and gives it its name. */
static int finish_store(struct chi_copy *copy, bool marked, struct chi_fault *fault)
{
	int rc = marked ? chi_published_unmake(copy->hidden.dir, fault) : CHI_OK;
	if (rc == CHI_OK) {
		int error = chi_lock_make(copy->hidden.dir);
		rc = chi_lmdb_write_fault(fault, error, "write", copy->hidden.dir);
	}
	return rc == CHI_OK ? chi_path_publish(&copy->hidden, copy->path, fault) : rc;
}

static int finish_published(struct chi_copy *copy, struct chi_fault *fault)
{
	bool whole = copy->kind == CHI_BACKUP_VERIFIED;
	int rc = chi_published_make(&copy->hidden, whole, fault);
	return rc == CHI_OK ? chi_path_replace(&copy->hidden, copy->path, fault) : rc;
}

int chi_copy_finish(struct chi_copy *copy, struct chi_fault *fault)
{
	bool marked = false;
	bool publish = copy->kind != CHI_BACKUP_STORE;
	/* A published copy is written once more. */
	int error = !publish && fsync(copy->fd) < 0 ? errno : 0;
	int rc = chi_lmdb_write_fault(fault, error, "write", copy->hidden.dir);
	/* First, as the copy may be of a later version. */
	if (rc == CHI_OK) {
		rc = check_copy(copy->hidden.dir, &marked, fault);
	}
	if (rc == CHI_OK && publish) {
		rc = chi_published_prove(copy->fd, fault);
	}
	if (rc == CHI_OK) {
		rc = publish ? finish_published(copy, fault) : finish_store(copy, marked, fault);
	}
	if (rc < 0) {
		chi_path_remove(&copy->hidden);
	}
	free_copy(copy);
	return rc;
}

void chi_copy_abandon(struct chi_copy *copy)
{
	if (copy != NULL) {
		chi_path_remove(&copy->hidden);
	}
	free_copy(copy);
}
