/* SPDX-License-Identifier: MIT */
#include "formats/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"

/* What is read at first of a file that has no size. */
#define READ_FIRST ((size_t)1 << 16)

static void close_fd(int *fd)
{
	if (*fd > STDIN_FILENO) {
		(void)close(*fd);
	}
}

static int system_fault(struct chi_fault *fault)
{
	int status = errno == ENOENT ? -CHI_ENOSTORE : errno == EACCES ? -CHI_EACCES : -CHI_EIO;
	return chi_fault(fault, status, "%s", strerror(errno));
}

/* One byte more than the size is asked for, so that the end is seen at once; what has no size, or
 * grows, doubles. */
static int read_all(struct chi_buffer *content, int fd, const char *what, struct chi_fault *fault)
{
	struct stat status;
	if (fstat(fd, &status) != 0) {
		return system_fault(fault);
	}
	bool sized = S_ISREG(status.st_mode) && (uint64_t)status.st_size <= CHI_WHOLE_MAX;
	size_t wanted = sized ? (size_t)status.st_size + 1 : READ_FIRST;
	while (content->len <= CHI_WHOLE_MAX) {
		size_t left = content->limit - content->len;
		uint8_t *room = chi_buffer_reserve(content, wanted < left ? wanted : left);
		if (room == NULL) {
			return chi_fault_plain(fault, -CHI_ENOMEM);
		}
		ssize_t n = read(fd, room, content->capacity - content->len);
		if (n < 0 && errno != EINTR) {
			return system_fault(fault);
		}
		if (n == 0) {
			return CHI_OK;
		}
		chi_buffer_added(content, n > 0 ? (size_t)n : 0);
		wanted = 1;
	}
	return chi_fault(fault, -CHI_ETOOBIG, "%s is at most %" PRIu64 " bytes", what,
			 CHI_WHOLE_MAX);
}

int chi_whole_read(const char *path, const char *what, uint8_t **bytes, size_t *len,
		   struct chi_fault *fault)
{
	bool standard = strcmp(path, "-") == 0;
	struct chi_buffer content;
	_cleanup_(close_fd) int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return system_fault(fault);
	}
	chi_buffer_init(&content, (size_t)CHI_WHOLE_MAX + 1);
	int rc = read_all(&content, fd, what, fault);
	if (rc < 0) {
		chi_buffer_deinit(&content);
		return rc;
	}
	*bytes = content.data;
	*len = content.len;
	return CHI_OK;
}
