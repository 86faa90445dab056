/* SPDX-License-Identifier: MIT */
/* Read for every connection again, so that a token may be exchanged under a running program. */
#include "client/remote/token.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/file.h"

/* The line alone; what ends it may be missing. */
static size_t line_length(const char *text, size_t len)
{
	while (len > 0 && strchr("\r\n", text[len - 1]) != NULL && text[len - 1] != '\0') {
		len--;
	}
	return len;
}

static bool is_printable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] <= ' ' || text[i] > '~') {
			return false;
		}
	}
	return len > 0;
}

int chi_token_read(const char *path, char out[CHI_ACCESS_TOKEN_MAX + 1], struct chi_fault *fault)
{
	char text[CHI_ACCESS_TOKEN_MAX + 3];
	struct stat file;
	_cleanup_(chi_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &file) < 0) {
		char buffer[96];
		return chi_fail(fault, -CHI_EIO, "cannot read the access token in '%s' (%s)", path,
				strerror_r(errno, buffer, sizeof(buffer)));
	}
	/* It is read for every connection again, and must not make the caller wait. */
	if (!S_ISREG(file.st_mode)) {
		return chi_fail(fault, -CHI_EINVAL, "the access token's '%s' is not a regular file",
				path);
	}
	if ((file.st_mode & (S_IROTH | S_IWOTH)) != 0) {
		return chi_fail(fault, -CHI_EACCES,
				"the access token in '%s' is open to everyone; chmod o= it", path);
	}
	ssize_t n = chi_file_read(fd, text, sizeof(text));
	size_t len = n > 0 ? line_length(text, (size_t)n) : 0;
	/* If the room is full, something may follow the line ends. */
	bool good =
		n < (ssize_t)sizeof(text) && len <= CHI_ACCESS_TOKEN_MAX && is_printable(text, len);
	if (good) {
		memcpy(out, text, len);
		out[len] = '\0';
	}
	explicit_bzero(text, sizeof(text));
	if (n < 0) {
		return chi_fail(fault, -CHI_EIO, "cannot read the access token in '%s'", path);
	}
	return good ? CHI_OK
		    : chi_fail(fault, -CHI_ESYNTAX,
			       "'%s' is not one line with an access token, 1 to %d printable "
			       "characters",
			       path, CHI_ACCESS_TOKEN_MAX);
}

bool chi_token_is_safe(int fd)
{
	struct sockaddr_storage peer = {0};
	socklen_t len = sizeof(peer);
	if (getpeername(fd, (struct sockaddr *)&peer, &len) != 0) {
		return false;
	}
	if (peer.ss_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)&peer;
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	}
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)&peer;
	return peer.ss_family == AF_UNIX ||
	       (peer.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr));
}
