/* SPDX-License-Identifier: MIT */
/* The kernel's own way where the file system knows it, else a name that is removed at once. */
#include "base/nameless.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/attr.h"

int chi_nameless_open(const char *dir)
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
