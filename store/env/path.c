/* SPDX-License-Identifier: MIT */
/*
 * Directories that appear whole or not at all: built under a hidden name beside their place,
 * synced, renamed. Whoever builds one holds a lock on it; what a killed process left behind is
 * locked by nobody, and the next that builds at the same place removes it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/env/lmdb_err.h"
#include "store/env/env_priv.h"

/* A killed process may have had our number: so many names are tried. */
#define NAME_TRIES 100

int chi_path_join(char out[CHI_PATH_SIZE], const char *dir, const char *name)
{
	int n = snprintf(out, CHI_PATH_SIZE, "%s/%s", dir, name);
	return n < 0 || n >= CHI_PATH_SIZE ? -CHI_EINVAL : CHI_OK;
}

/* Splits off the last name, without slashes behind it. `parent` is "." for a bare name. */
static int split(const char *path, char parent[CHI_PATH_SIZE], char name[CHI_PATH_SIZE])
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/') {
		len--;
	}
	if (len == 0 || len >= CHI_PATH_SIZE) {
		return -CHI_EINVAL;
	}
	size_t start = len;
	while (start > 0 && path[start - 1] != '/') {
		start--;
	}
	memcpy(name, path + start, len - start);
	name[len - start] = '\0';
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		return -CHI_EINVAL;
	}
	size_t parent_len = start > 1 ? start - 1 : start;
	memcpy(parent, parent_len > 0 ? path : ".", parent_len > 0 ? parent_len : 1);
	parent[parent_len > 0 ? parent_len : 1] = '\0';
	return CHI_OK;
}

int chi_path_sync(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return errno;
	}
	int rc = fsync(fd) < 0 ? errno : 0;
	(void)close(fd);
	return rc;
}

static int open_dir(const char *dir)
{
	return open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void close_dir(const int *fd)
{
	if (*fd >= 0) {
		(void)close(*fd);
	}
}

/* Only files of ours: the directory stays if somebody put something else into it. They are reached
 * by way of the open directory, as its name may lead elsewhere by now: others may be allowed to
 * make and rename things beside it. */
static void remove_files(int fd, const char *dir)
{
	static const char *const names[] = {DATA_NAME, COMPACT_NAME, LMDB_LOCK, CHI_LOCK_NAME};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		(void)unlinkat(fd, names[i], 0);
	}
	(void)rmdir(dir);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* A lock on the directory that has the name now; -1: somebody has it, or it is gone. */
static int lock_dir(const char *dir)
{
	struct stat by_name;
	struct stat locked;
	int fd = open_dir(dir);
	if (fd < 0) {
		return -1;
	}
	/* It may have been removed, and made anew, before it was locked. */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && lstat(dir, &by_name) == 0 &&
	    fstat(fd, &locked) == 0 && is_same(&by_name, &locked)) {
		return fd;
	}
	(void)close(fd);
	return -1;
}

/* Removes what killed processes left behind of that name. What cannot be looked at stays. */
static void sweep(const char *parent, const char *name)
{
	char prefix[CHI_PATH_SIZE];
	int len = snprintf(prefix, sizeof(prefix), ".%s.new-", name);
	DIR *dir = len > 0 && len < (int)sizeof(prefix) ? opendir(parent) : NULL;
	if (dir == NULL) {
		return;
	}
	const struct dirent *entry;
	while ((entry = readdir(dir)) != NULL) {
		char path[CHI_PATH_SIZE];
		if (strncmp(entry->d_name, prefix, (size_t)len) != 0 ||
		    chi_path_join(path, parent, entry->d_name) < 0) {
			continue;
		}
		int fd = lock_dir(path);
		if (fd >= 0) {
			remove_files(fd, path);
			(void)close(fd);
		}
	}
	(void)closedir(dir);
}

int chi_path_begin(const char *path, struct chi_hidden *out, struct chi_fault *fault)
{
	char parent[CHI_PATH_SIZE];
	char name[CHI_PATH_SIZE];
	int rc = split(path, parent, name);
	if (rc < 0) {
		return chi_fault(fault, rc, "'%s' cannot be a store's directory", path);
	}
	sweep(parent, name);
	for (int i = 0; i < NAME_TRIES; i++) {
		int n = snprintf(out->dir, sizeof(out->dir), "%s/.%s.new-%ld-%d", parent, name,
				 (long)getpid(), i);
		if (n < 0 || n >= CHI_PATH_SIZE) {
			return chi_fault(fault, -CHI_EINVAL, "the path '%s' is too long", path);
		}
		if (mkdir(out->dir, DIR_MODE) < 0) {
			if (errno != EEXIST) {
				return chi_lmdb_fault(fault, errno, "make a directory beside",
						      path);
			}
			continue;
		}
		errno = 0;
		out->lock = lock_dir(out->dir);
		if (out->lock >= 0) {
			return CHI_OK;
		}
		int error = errno;
		(void)rmdir(out->dir);
		/* Else taken for a leftover in the moment before it was locked. */
		if (error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOLCK) {
			return chi_lmdb_fault(fault, error, "make a directory beside", path);
		}
	}
	return chi_fault(fault, -CHI_EEXIST, "too many leftovers beside '%s'", path);
}

static void unlock(struct chi_hidden *hidden)
{
	if (hidden->lock >= 0) {
		(void)close(hidden->lock);
	}
	hidden->lock = -1;
}

/* The order matters: contents, then the name, then the parent that holds the name. */
int chi_path_publish(struct chi_hidden *hidden, const char *path, struct chi_fault *fault)
{
	char parent[CHI_PATH_SIZE];
	char name[CHI_PATH_SIZE];
	int rc = split(path, parent, name);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	int error = chi_path_sync(hidden->dir);
	if (error == 0 && rename(hidden->dir, path) < 0) {
		error = errno;
	}
	if (error == EEXIST || error == ENOTEMPTY || error == ENOTDIR) {
		/* The place was free when the building began. */
		rc = chi_place_check(path, fault);
		return rc < 0 ? rc
			      : chi_fault(fault, -CHI_EEXIST,
					  "'%s' exists and is no empty directory", path);
	}
	if (error == 0) {
		unlock(hidden);
		error = chi_path_sync(parent);
	}
	return error == 0 ? CHI_OK : chi_lmdb_fault(fault, error, "create", path);
}

/* Returns an errno. */
static int exchange(const char *a, const char *b)
{
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) < 0 ? errno : 0;
}

/* What came away by the exchange is none of ours: it gets its name back. Should that have been
 * freed meanwhile there is nothing to exchange it with. */
static int put_back(const struct chi_hidden *hidden, const char *path)
{
	int error = exchange(hidden->dir, path);
	if (error == ENOENT &&
	    renameat2(AT_FDCWD, hidden->dir, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
		error = 0;
	}
	return error;
}

/* Behind the exchange: removes what had the name, `older` if it has not been replaced since it was
 * looked at. */
static int remove_older(struct chi_hidden *hidden, const char *path, int older,
			struct chi_fault *fault)
{
	_cleanup_(close_dir) int gone = open_dir(hidden->dir);
	struct stat before;
	struct stat now;
	if (gone < 0 || fstat(gone, &now) < 0 || fstat(older, &before) < 0 ||
	    !is_same(&before, &now)) {
		int rc = chi_published_check(hidden->dir, fault);
		int error = rc < 0 ? put_back(hidden, path) : 0;
		if (error != 0) {
			unlock(hidden);
			return chi_fault(fault, -CHI_EIO,
					 "what had the name '%s' is now in '%s': %s", path,
					 hidden->dir, strerror(error));
		}
		if (rc < 0) {
			return rc;
		}
	}
	if (gone >= 0) {
		remove_files(gone, hidden->dir);
	}
	unlock(hidden);
	return CHI_OK;
}

/* The directory that has the name; none: -1 and CHI_OK. It is locked, or else somebody who adds a
 * copy at the same time would take it for a leftover once it has a hidden name. Who has it locked
 * instead of us, and be it a stranger, keeps it from that as well. */
static int hold_older(const char *path, int *out, struct chi_fault *fault)
{
	*out = open_dir(path);
	if (*out < 0) {
		return errno == ENOENT ? CHI_OK : chi_lmdb_fault(fault, errno, "look at", path);
	}
	(void)flock(*out, LOCK_EX | LOCK_NB);
	return chi_published_check(path, fault);
}

int chi_path_replace(struct chi_hidden *hidden, const char *path, struct chi_fault *fault)
{
	char parent[CHI_PATH_SIZE];
	char name[CHI_PATH_SIZE];
	_cleanup_(close_dir) int older = -1;
	int rc = split(path, parent, name);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	rc = hold_older(path, &older, fault);
	if (rc < 0) {
		return rc;
	}
	int error = older < 0 ? ENOENT : chi_path_sync(hidden->dir);
	if (error == 0) {
		error = exchange(hidden->dir, path);
	}
	if (error == ENOENT) {
		rc = chi_path_publish(hidden, path, fault);
		/* Two first ones at the same time: it is replaced as one that was there before. */
		return rc == -CHI_EEXIST && chi_published_check(path, NULL) == CHI_OK
			       ? chi_path_replace(hidden, path, fault)
			       : rc;
	}
	/* EXDEV: directories of overlays that are not of one layer. */
	if (error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EXDEV) {
		return chi_fault(fault, -CHI_EUNSUPPORTED,
				 "the file system of '%s' cannot exchange two directories at one "
				 "moment; remove the older copy first",
				 path);
	}
	if (error != 0) {
		return chi_lmdb_fault(fault, error, "replace", path);
	}
	error = chi_path_sync(parent);
	if (error != 0) {
		/* It has the name, and is not to be removed with what failed. */
		unlock(hidden);
		return chi_lmdb_fault(fault, error, "replace", path);
	}
	return remove_older(hidden, path, older, fault);
}

void chi_path_remove(struct chi_hidden *hidden)
{
	if (hidden->lock >= 0) {
		remove_files(hidden->lock, hidden->dir);
	}
	unlock(hidden);
}
