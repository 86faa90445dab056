/* SPDX-License-Identifier: MIT */
/*
 * Directories that appear whole or not at all: built under a hidden name beside their place,
 * synced, renamed. What a killed process leaves behind is hidden and in nobody's way.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/lmdb_err.h"
#include "store/store_priv.h"

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

int chi_path_begin(const char *path, char out[CHI_PATH_SIZE], struct chi_fault *fault)
{
	char parent[CHI_PATH_SIZE];
	char name[CHI_PATH_SIZE];
	int rc = split(path, parent, name);
	if (rc < 0) {
		return chi_fault(fault, rc, "'%s' cannot be a store's directory", path);
	}
	for (int i = 0; i < NAME_TRIES; i++) {
		int n = snprintf(out, CHI_PATH_SIZE, "%s/.%s.new-%ld-%d", parent, name,
				 (long)getpid(), i);
		if (n < 0 || n >= CHI_PATH_SIZE) {
			return chi_fault(fault, -CHI_EINVAL, "the path '%s' is too long", path);
		}
		if (mkdir(out, DIR_MODE) == 0) {
			return CHI_OK;
		}
		if (errno != EEXIST) {
			return chi_lmdb_fault(fault, errno, "make a directory beside", path);
		}
	}
	return chi_fault(fault, -CHI_EEXIST, "too many leftovers beside '%s'", path);
}

/* The order matters: contents, then the name, then the parent that holds the name. */
int chi_path_publish(const char *hidden, const char *path, struct chi_fault *fault)
{
	char parent[CHI_PATH_SIZE];
	char name[CHI_PATH_SIZE];
	int rc = split(path, parent, name);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	int error = chi_path_sync(hidden);
	if (error == 0 && rename(hidden, path) < 0) {
		error = errno;
	}
	if (error == EEXIST || error == ENOTEMPTY || error == ENOTDIR) {
		return chi_fault(fault, -CHI_EEXIST, "'%s' exists and is no empty directory", path);
	}
	if (error == 0) {
		error = chi_path_sync(parent);
	}
	return error == 0 ? CHI_OK : chi_lmdb_fault(fault, error, "create", path);
}

/* Only files of ours: the directory stays if somebody put something else into it. */
void chi_path_remove(const char *hidden)
{
	static const char *const names[] = {DATA_NAME, LMDB_LOCK, CHI_LOCK_NAME};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		char path[CHI_PATH_SIZE];
		if (chi_path_join(path, hidden, names[i]) == CHI_OK) {
			(void)unlink(path);
		}
	}
	(void)rmdir(hidden);
}
