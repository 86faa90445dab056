/* SPDX-License-Identifier: MIT */
/* Files without a name, and reading small ones. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/attr.h"

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
