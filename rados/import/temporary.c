/* SPDX-License-Identifier: MIT */
/*
 * Each directory is locked by the process that made it, so that the lock says whether it lives:
 * what can be locked is left over.
 */
#include "rados/import/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"

#define NAME	 "chistore-import-"
#define PATH_MAX 4096
#define TRIES	 16

static const char *parent_dir(void)
{
	const char *dir = getenv("TMPDIR");
	return dir != NULL && dir[0] != '\0' ? dir : "/tmp";
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
	(void)info;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

static void remove_all(const char *path)
{
	(void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A lock on the directory, if it is ours and still has the name; -1: it is not, or lives. */
static int lock_dir(const char *path)
{
	struct stat open_one;
	struct stat named;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &open_one) == 0 &&
	    lstat(path, &named) == 0 && open_one.st_ino == named.st_ino &&
	    open_one.st_dev == named.st_dev && open_one.st_uid == geteuid()) {
		return fd;
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	return -1;
}

static void sweep(const char *parent)
{
	DIR *dir = opendir(parent);
	const struct dirent *entry = NULL;
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char path[PATH_MAX];
		int len = snprintf(path, sizeof(path), "%s/%s", parent, entry->d_name);
		bool ours = strncmp(entry->d_name, NAME, sizeof(NAME) - 1) == 0;
		int lock = ours && len > 0 && (size_t)len < sizeof(path) ? lock_dir(path) : -1;
		if (lock >= 0) {
			remove_all(path);
			(void)close(lock);
		}
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
}

int chi_temporary_make(struct chi_temporary *out, struct chi_fault *fault)
{
	const char *parent = parent_dir();
	char path[PATH_MAX];
	*out = (struct chi_temporary){.lock = -1};
	sweep(parent);
	/* Another one that sweeps may have it before we do: then it is gone. */
	for (unsigned tries = 0; out->lock < 0; tries++) {
		int len = snprintf(path, sizeof(path), "%s/" NAME "XXXXXX", parent);
		if (tries == TRIES || len < 0 || (size_t)len >= sizeof(path) ||
		    mkdtemp(path) == NULL) {
			return chi_fault(fault, -CHI_EIO,
					 "cannot make a directory in '%.150s' (TMPDIR)", parent);
		}
		out->lock = lock_dir(path);
	}
	out->path = strdup(path);
	if (out->path == NULL) {
		remove_all(path);
		(void)close(out->lock);
	}
	return out->path != NULL ? CHI_OK : -CHI_ENOMEM;
}

void chi_temporary_remove(struct chi_temporary *temporary)
{
	if (temporary->path != NULL) {
		remove_all(temporary->path);
		free(temporary->path);
		(void)close(temporary->lock);
		temporary->path = NULL;
	}
}
