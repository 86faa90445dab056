/* SPDX-License-Identifier: MIT */
/*
 * Whether the disk under a store still answers. Reads through the map are served from the page
 * cache: a machine whose disk was cut off goes on with them, while another one writes. So the head
 * of the data file is read past the cache. The file is opened for each read, since a compaction
 * puts another one in its place; opening and closing it takes no lock of LMDB's away, which are
 * all on lock.mdb.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"

/* One meta page, and what any disk's blocks divide. */
#define HEAD_BYTES 4096

/* These accept O_DIRECT and serve it from memory, since there is no disk. */
static bool is_memory(int fd)
{
	struct statfs fs;
	return fstatfs(fd, &fs) == 0 &&
	       ((unsigned long)fs.f_type == TMPFS_MAGIC || (unsigned long)fs.f_type == RAMFS_MAGIC);
}

/* Of a published copy the file that is open, whose name a newer copy may have by now; its
 * environment is never exchanged. EINVAL: there is no way to it, without /proc or in a sandbox. */
static int open_published(const struct chi_env *env, int *fd)
{
	char path[sizeof("/proc/self/fd/") + 11];
	mdb_filehandle_t file = -1;
	int error = mdb_env_get_fd(env->mdb, &file);
	if (error != 0) {
		return error;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	*fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK);
	error = *fd >= 0 ? 0 : errno;
	return error == ENOENT || error == EACCES ? EINVAL : error;
}

/* Of any other the file that has the name now: a compaction may be about to exchange it. */
static int open_named(const struct chi_env *env, int *fd)
{
	*fd = openat(env->pin, DATA_NAME, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK);
	return *fd >= 0 ? 0 : errno;
}

/* An errno or LMDB's code; EINVAL: the file system knows no reads past the cache. */
static int open_head(const struct chi_env *env, int *fd)
{
	int error;
	do {
		error = env->read_only == CHI_READ_ONLY_PUBLISHED ? open_published(env, fd)
								  : open_named(env, fd);
	} while (error == EINTR);
	return error;
}

/* The same. */
static int read_disk_head(int fd)
{
	_Alignas(HEAD_BYTES) char head[HEAD_BYTES];
	if (is_memory(fd)) {
		return EINVAL;
	}
	ssize_t n;
	do {
		n = pread(fd, head, HEAD_BYTES, 0);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? errno : n < HEAD_BYTES ? MDB_CORRUPTED : 0;
}

static int check_disk(const struct chi_env *env, bool *direct, struct chi_fault *fault)
{
	*direct = false;
	if (chi_env_forked(env)) {
		return chi_fault_plain(fault, -CHI_EFORK);
	}
	if (env->unnamed) {
		return CHI_OK;
	}
	int fd = -1;
	int error = open_head(env, &fd);
	if (error == 0) {
		error = read_disk_head(fd);
		(void)close(fd);
	}
	switch (error) {
	case 0:
		*direct = true;
		return CHI_OK;
	case EINVAL:
	case EOPNOTSUPP:
		return CHI_OK;
	default:
		return chi_lmdb_fault(fault, error, "read", env->path);
	}
}

int chi_dir_check_disk(const struct chi_dir *store, bool *direct, struct chi_fault *fault)
{
	return check_disk(store->env, direct, fault);
}

int chi_read_check_disk(const struct chi_read *read, bool *direct, struct chi_fault *fault)
{
	return check_disk(read->env, direct, fault);
}

void chi_env_note_failure(struct chi_env *env, int status)
{
	if (status == -CHI_EIO || status == -CHI_EREADONLY) {
		atomic_store(&env->disk_failure, status);
	}
}

int chi_dir_disk_failure(const struct chi_dir *store)
{
	return atomic_load(&store->env->disk_failure);
}

void chi_dir_end_writing(struct chi_dir *store)
{
	atomic_store(&store->env->writes_ended, true);
}
