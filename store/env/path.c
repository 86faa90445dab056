/* SPDX-License-Identifier: MIT */
/*
 * Directories that appear whole or not at all: built under a hidden name beside their place,
 * synced, renamed. Anyone who builds one holds a lock on it; what a killed process has left is
 * not locked, and the next that builds at the same place removes it.
 *
 * Anyone who may write the parent directory can exchange names in it at any moment. So the hidden
 * directory is held open, and all that is made, changed or removed in it is reached through its
 * descriptor, never by its name: as "/proc/self/fd/N", which LMDB can be given, too. Of the parent
 * nothing but names is changed, through its descriptor.
 */
#include "store/env/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/env/lock.h"
#include "store/env/published.h"
#include "store/lmdb_err.h"
#include "store/names.h"

/* A killed process may have had our number: so many names are tried. */
#define NAME_TRIES 100

/* Splits off the last name, without trailing slashes. `parent` is "." for a bare name. */
static int split_path(const char *path, char parent[CHI_PATH_SIZE], char name[CHI_PATH_SIZE])
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

/* `name` in the open directory `at`, itself and not what a link leads to. */
static int open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void close_fd(int *fd)
{
	if (*fd >= 0) {
		(void)close(*fd);
	}
	*fd = -1;
}

static void close_dir(DIR **dir)
{
	if (*dir != NULL) {
		(void)closedir(*dir);
	}
}

/* Its entries from the first on, with a place of its own in them. */
static DIR *list_dir(int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = again >= 0 ? fdopendir(again) : NULL;
	if (dir == NULL && again >= 0) {
		(void)close(again);
	}
	return dir;
}

/* Only files of ours: the directory stays if someone put something else into it. */
static void remove_files(int fd, int parent, const char *name)
{
	static const char *const names[] = {DATA_NAME, COMPACT_NAME, LMDB_LOCK, CHI_LOCK_NAME};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		(void)unlinkat(fd, names[i], 0);
	}
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static bool has_name(int fd, int parent, const char *name)
{
	struct stat by_name;
	struct stat open;
	return fstatat(parent, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &open) == 0 &&
	       is_same(&by_name, &open);
}

/* A lock on the directory that has the name now; -1: someone has it, or it is gone. */
static int lock_dir(int parent, const char *name)
{
	int fd = open_dir(parent, name);
	if (fd < 0) {
		return -1;
	}
	/* It may have been removed, and made again, before it was locked. */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && has_name(fd, parent, name)) {
		return fd;
	}
	(void)close(fd);
	return -1;
}

/* No one but us and root can give our names in it to other directories: theirs alone to write, or
 * sticky as /tmp. */
static bool is_ours_to_name(int parent)
{
	struct stat st;
	return fstat(parent, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0) &&
	       ((st.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (st.st_mode & S_ISVTX) != 0);
}

/* Removes what killed processes have left of that name. What cannot be looked at stays; so does
 * all where another user could have given the name to a store of ours. */
static void sweep(int parent, const char *name)
{
	char prefix[CHI_PATH_SIZE];
	int len = snprintf(prefix, sizeof(prefix), ".%s.new-", name);
	_cleanup_(close_dir) DIR *dir = is_ours_to_name(parent) ? list_dir(parent) : NULL;
	const struct dirent *entry;
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		int fd = strncmp(entry->d_name, prefix, (size_t)len) == 0
				 ? lock_dir(parent, entry->d_name)
				 : -1;
		if (fd >= 0) {
			remove_files(fd, parent, entry->d_name);
			(void)close(fd);
		}
	}
}

/* True if it is the one that we have made: ours, written by no one else, and empty. Another user
 * may have put a directory in its place. */
static bool is_fresh(int fd)
{
	struct stat st;
	size_t n = 0;
	_cleanup_(close_dir) DIR *dir = list_dir(fd);
	while (dir != NULL && readdir(dir) != NULL) {
		n++;
	}
	/* "." and "..". */
	return dir != NULL && n == 2 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Makes the directory and locks it. CHI_NONE: the name is taken. */
static int make_hidden(struct chi_hidden *out, const char *path, struct chi_fault *fault)
{
	if (mkdirat(out->parent, out->name, DIR_MODE) < 0) {
		return errno == EEXIST
			       ? CHI_NONE
			       : chi_lmdb_fault(fault, errno, "make a directory beside", path);
	}
	errno = 0;
	out->lock = lock_dir(out->parent, out->name);
	bool fresh = out->lock >= 0 && is_fresh(out->lock);
	int error = errno;
	if (fresh) {
		(void)snprintf(out->dir, sizeof(out->dir), "/proc/self/fd/%d", out->lock);
		return access(out->dir, F_OK) == 0
			       ? CHI_OK
			       : chi_fail(fault, -CHI_EIO, "/proc is needed, and is not mounted");
	}
	close_fd(&out->lock);
	(void)unlinkat(out->parent, out->name, AT_REMOVEDIR);
	/* Else taken for a leftover in the moment before it was locked. */
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOLCK
		       ? chi_lmdb_fault(fault, error, "make a directory beside", path)
		       : CHI_NONE;
}

int chi_path_begin(const char *path, struct chi_hidden *out, struct chi_fault *fault)
{
	char parent[CHI_PATH_SIZE];
	char name[CHI_PATH_SIZE];
	*out = (struct chi_hidden){.lock = -1, .parent = -1};
	int rc = split_path(path, parent, name);
	if (rc < 0) {
		return chi_fail(fault, rc, "'%s' cannot be a store's directory", path);
	}
	int n = snprintf(out->target, sizeof(out->target), "%s", name);
	if (n < 0 || n >= (int)sizeof(out->target)) {
		return chi_fail(fault, -CHI_EINVAL, "the path '%s' is too long", path);
	}
	out->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out->parent < 0) {
		return chi_lmdb_fault(fault, errno, "make a directory beside", path);
	}
	rc = chi_dir_files_outside(out->parent, path, fault);
	if (rc < 0) {
		chi_path_remove(out);
		return rc;
	}
	sweep(out->parent, out->target);
	rc = CHI_NONE;
	for (int i = 0; rc == CHI_NONE && i < NAME_TRIES; i++) {
		n = snprintf(out->name, sizeof(out->name), ".%s.new-%ld-%d", out->target,
			     (long)getpid(), i);
		rc = n < 0 || n >= (int)sizeof(out->name)
			     ? chi_fail(fault, -CHI_EINVAL, "the path '%s' is too long", path)
			     : make_hidden(out, path, fault);
	}
	if (rc != CHI_OK) {
		chi_path_remove(out);
	}
	return rc == CHI_NONE ? chi_fail(fault, -CHI_EEXIST, "too many leftovers beside '%s'", path)
			      : rc;
}

static void release(struct chi_hidden *hidden)
{
	close_fd(&hidden->lock);
	close_fd(&hidden->parent);
}

static int sync_fd(int fd)
{
	return fsync(fd) < 0 ? errno : 0;
}

/* Whether the open directory is a published copy. */
static int check_published(int fd, struct chi_fault *fault)
{
	char dir[CHI_PROC_SIZE];
	(void)snprintf(dir, sizeof(dir), "/proc/self/fd/%d", fd);
	return chi_published_check(dir, fault);
}

/* Not what another user has put in its place meanwhile; it may be a later publisher's. */
static int check_hidden_name(const struct chi_hidden *hidden, const char *path,
			     struct chi_fault *fault)
{
	if (has_name(hidden->lock, hidden->parent, hidden->target)) {
		return CHI_OK;
	}
	_cleanup_(close_fd) int fd = open_dir(hidden->parent, hidden->target);
	return fd >= 0 && check_published(fd, NULL) == CHI_OK
		       ? CHI_OK
		       : chi_fail(fault, -CHI_EACCES, "another user has put something else at '%s'",
				  path);
}

/* The order matters: contents, then the name, then the parent that holds the name. */
int chi_path_publish(struct chi_hidden *hidden, const char *path, struct chi_fault *fault)
{
	int error = sync_fd(hidden->lock);
	if (error == 0 &&
	    renameat(hidden->parent, hidden->name, hidden->parent, hidden->target) < 0) {
		error = errno;
	}
	if (error == EEXIST || error == ENOTEMPTY || error == ENOTDIR) {
		/* The place was free when the building began. */
		int rc = chi_place_check(path, fault);
		return rc < 0 ? rc
			      : chi_fail(fault, -CHI_EEXIST,
					 "'%s' exists and is not an empty directory", path);
	}
	if (error == 0) {
		int rc = check_hidden_name(hidden, path, fault);
		if (rc < 0) {
			return rc;
		}
		close_fd(&hidden->lock);
		error = sync_fd(hidden->parent);
		release(hidden);
	}
	return error == 0 ? CHI_OK : chi_lmdb_fault(fault, error, "create", path);
}

/* Returns an errno. */
static int exchange(const struct chi_hidden *hidden, unsigned flags)
{
	return renameat2(hidden->parent, hidden->name, hidden->parent, hidden->target, flags) < 0
		       ? errno
		       : 0;
}

/* What came away by the exchange is not ours: it gets its name back. Should that have been freed
 * meanwhile there is nothing to exchange it with. */
static int put_back(const struct chi_hidden *hidden)
{
	int error = exchange(hidden, RENAME_EXCHANGE);
	return error == ENOENT ? exchange(hidden, RENAME_NOREPLACE) : error;
}

/* After the exchange: removes what had the name, `older` if it has not been replaced since it was
 * looked at. */
static int remove_older(struct chi_hidden *hidden, const char *path, int older,
			struct chi_fault *fault)
{
	_cleanup_(close_fd) int other = -1;
	int gone = older;
	if (!has_name(older, hidden->parent, hidden->name)) {
		gone = other = open_dir(hidden->parent, hidden->name);
		int rc = gone < 0 ? chi_fail(fault, -CHI_EEXIST, "'%s' is not a published copy",
					     path)
				  : check_published(gone, fault);
		int error = rc < 0 ? put_back(hidden) : 0;
		if (error != 0) {
			rc = chi_fail(fault, -CHI_EIO, "'%s' was renamed to '%s': %s", path,
				      hidden->name, strerror(error));
			release(hidden);
		}
		if (rc < 0) {
			return rc;
		}
	}
	int rc = check_hidden_name(hidden, path, fault);
	if (rc == CHI_OK) {
		remove_files(gone, hidden->parent, hidden->name);
		release(hidden);
	}
	return rc;
}

/* The directory that has the name; none: -1 and CHI_OK. It is locked, or else someone who adds a
 * copy at the same time would take it for a leftover once it has a hidden name. Another that has it
 * locked instead of us, even a stranger, keeps it from that as well. */
static int hold_older(const struct chi_hidden *hidden, const char *path, int *out,
		      struct chi_fault *fault)
{
	*out = open_dir(hidden->parent, hidden->target);
	if (*out < 0) {
		return errno == ENOENT ? CHI_OK : chi_lmdb_fault(fault, errno, "look at", path);
	}
	(void)flock(*out, LOCK_EX | LOCK_NB);
	int rc = check_published(*out, fault);
	return rc == -CHI_EEXIST ? chi_fail(fault, rc, "'%s' is not a published copy", path) : rc;
}

int chi_path_replace(struct chi_hidden *hidden, const char *path, struct chi_fault *fault)
{
	_cleanup_(close_fd) int older = -1;
	int rc = hold_older(hidden, path, &older, fault);
	if (rc < 0) {
		return rc;
	}
	int error = older < 0 ? ENOENT : sync_fd(hidden->lock);
	if (error == 0) {
		error = exchange(hidden, RENAME_EXCHANGE);
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
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"the file system of '%s' cannot exchange two directories at one "
				"moment; remove the older copy first",
				path);
	}
	if (error == 0) {
		error = sync_fd(hidden->parent);
		if (error != 0) {
			/* It has the name, and is not to be removed with what failed. */
			release(hidden);
		}
	}
	return error == 0 ? remove_older(hidden, path, older, fault)
			  : chi_lmdb_fault(fault, error, "replace", path);
}

void chi_path_remove(struct chi_hidden *hidden)
{
	if (hidden->lock >= 0) {
		remove_files(hidden->lock, hidden->parent, hidden->name);
	}
	release(hidden);
}

int chi_place_check(const char *path, struct chi_fault *fault)
{
	struct stat st;
	if (lstat(path, &st) < 0) {
		return errno == ENOENT ? CHI_OK : chi_lmdb_fault(fault, errno, "look at", path);
	}
	/* rename() replaces an empty directory and refuses one that holds anything. */
	if (!S_ISDIR(st.st_mode)) {
		return chi_fail(fault, -CHI_EEXIST, "'%s' exists and is not a directory", path);
	}
	char data[CHI_PATH_SIZE];
	if (chi_path_join(data, path, DATA_NAME) == CHI_OK && access(data, F_OK) == 0) {
		return chi_fail(fault, -CHI_EEXIST, "'%s' holds a store already", path);
	}
	return CHI_OK;
}
