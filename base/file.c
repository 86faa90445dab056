/* SPDX-License-Identifier: MIT */
/* Files without a name, and reading small ones. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
