/* SPDX-License-Identifier: MIT */
/* Files without a name, reading small ones, and knowing those of a store. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"

/* The kernel's own way where the file system knows it, else a name that is removed at once. */
int chi_file_nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0) {
		return fd;
	}
	_cleanup_(chi_freep) char *path = NULL;
	if (asprintf(&path, "%s/.chistore-XXXXXX", dir) < 0) {
		path = NULL;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0) {
		(void)unlink(path);
	}
	return fd;
}

ssize_t chi_file_read(int fd, void *out, size_t room)
{
	size_t len = 0;
	while (len < room) {
		ssize_t n = read(fd, (char *)out + len, room - len);
		if (n == 0) {
			break;
		}
		if (n < 0 && errno != EINTR) {
			return -1;
		}
		len += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)len;
}

int chi_file_pread(int fd, void *bytes, size_t len, uint64_t offset)
{
	uint8_t *at = bytes;
	while (len > 0) {
		ssize_t n = pread(fd, at, len, (off_t)offset);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return -CHI_EIO;
		}
		at += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return CHI_OK;
}

int chi_file_pwrite(int fd, const void *bytes, size_t len, uint64_t offset)
{
	const uint8_t *at = bytes;
	while (len > 0) {
		ssize_t n = pwrite(fd, at, len, (off_t)offset);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n == 0 ? -CHI_EFULL : chi_fault_errno(errno);
		}
		at += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return CHI_OK;
}

/* ---- The files of a store ------------------------------------------------------------------ */

/*
 * A directory is known as a store's by what it holds, whatever path leads to it. A file that has
 * more names is known by its first bytes, which LMDB has put there. Only such a file is opened, as
 * no store is that has hard links: closing the lock file of an open one would take our readers'
 * locks.
 */
#define LMDB_MAGIC 0xBEEFC0DE
#define HEAD_WORDS 5 /* in a lock file the magic is the first word, in a data file the fifth */

static const char *const names[] = {DATA_NAME, COMPACT_NAME, LMDB_LOCK, CHI_LOCK_NAME};

static bool has(int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, 0) == 0 && S_ISREG(st.st_mode);
}

/* Not of what only looks like a file: a pipe would make us wait. */
static bool is_lmdb(int dir, const char *name)
{
	uint32_t head[HEAD_WORDS] = {0};
	_cleanup_(chi_closep) int fd =
		has(dir, name) ? openat(dir, name, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd >= 0 ? chi_file_read(fd, head, sizeof(head)) : -1;
	return n == (ssize_t)sizeof(head) &&
	       (head[0] == LMDB_MAGIC || head[HEAD_WORDS - 1] == LMDB_MAGIC);
}

/* Also where its data cannot be read, or no longer begins as it did. */
static bool is_store(int dir)
{
	return has(dir, DATA_NAME) &&
	       (has(dir, CHI_LOCK_NAME) || has(dir, LMDB_LOCK) || is_lmdb(dir, DATA_NAME));
}

/* The file that the links of `path` lead to; one that is not there yet is in the directory that
 * its path names. */
static bool resolve(const char *path, char dir[PATH_MAX], const char **name)
{
	const char *slash = strrchr(path, '/');
	if (realpath(path, dir) != NULL) {
		char *last = strrchr(dir, '/');
		*last = '\0';
		*name = last + 1;
		return true;
	}
	_cleanup_(chi_freep) char *parent =
		slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	*name = slash != NULL ? slash + 1 : path;
	return parent != NULL && realpath(parent, dir) != NULL;
}

int chi_dir_files_spare(const char *path, struct chi_fault *fault)
{
	char parent[PATH_MAX];
	const char *name;
	if (!resolve(path, parent, &name)) {
		return CHI_OK; /* the one who opens it says what is wrong */
	}
	_cleanup_(chi_closep) int dir =
		open(parent[0] != '\0' ? parent : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	bool ours = fstatat(dir, name, &st, 0) == 0 && st.st_nlink > 1 && is_lmdb(dir, name);
	for (size_t i = 0; !ours && i < CHI_COUNT(names); i++) {
		ours = strcmp(name, names[i]) == 0 && is_store(dir);
	}
	return ours ? chi_fail(fault, -CHI_EINVAL, "'%s' is a file of the store in '%s'", path,
			       parent)
		    : CHI_OK;
}

static bool is_same_file(int a, int b)
{
	struct stat st_a;
	struct stat st_b;
	return fstat(a, &st_a) == 0 && fstat(b, &st_b) == 0 && st_a.st_dev == st_b.st_dev &&
	       st_a.st_ino == st_b.st_ino;
}

int chi_dir_files_outside(int dir, const char *path, struct chi_fault *fault)
{
	_cleanup_(chi_closep) int here = openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (here >= 0) {
		if (is_store(here)) {
			return chi_fail(fault, -CHI_EINVAL,
					"'%s' is inside the directory of a store", path);
		}
		int above = openat(here, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		bool top = above < 0 || is_same_file(here, above);
		(void)close(here);
		here = above;
		if (top) {
			break;
		}
	}
	return CHI_OK;
}
