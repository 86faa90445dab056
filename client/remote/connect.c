/* SPDX-License-Identifier: MIT */
/*
 * Connecting with a time limit. The socket is non-blocking from the start and stays so: every
 * later wait goes through poll() with a deadline, too.
 */
#include "client/remote/connect.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"

/* A full backlog of a Unix socket cannot be polled for: look again after this many ms. */
#define BACKLOG_PAUSE_MS 5

/* Less would be broken by one lost packet. */
#define LIMIT_LEAST_MS 1000u

short chi_wait(int fd, short events, int64_t deadline)
{
	for (;;) {
		int64_t left = deadline - chi_now_ms();
		struct pollfd one = {.fd = fd, .events = events};
		int n = poll(&one, 1, left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left);
		if (n > 0) {
			return one.revents;
		}
		if (left <= 0) {
			return 0;
		}
	}
}

/* Says why connecting failed; `error` is an errno. */
static int refuse_connection(const char *text, int error, struct chi_fault *fault)
{
	char buffer[96];
	const char *reason = strerror_r(error, buffer, sizeof(buffer));
	if (error == ETIMEDOUT) {
		return chi_fail(fault, -CHI_ETIMEOUT, "cannot connect to '%s' in the time given",
				text);
	}
	int status = error == EACCES || error == EPERM ? -CHI_EACCES
		     : error == ENOMEM		       ? -CHI_ENOMEM
						       : -CHI_ECONNECT;
	bool absent = error == ECONNREFUSED || error == ENOENT;
	return chi_fail(fault, status, "cannot connect to '%s' (%s)%s", text, reason,
			absent ? "; is chistored running there?" : "");
}

/* Connects one socket; 0 or an errno, ETIMEDOUT at the deadline. */
static int connect_to(int fd, const struct sockaddr *to, socklen_t len, int64_t deadline)
{
	for (;;) {
		if (connect(fd, to, len) == 0 || errno == EISCONN) {
			return 0;
		}
		if (errno == EAGAIN) {
			if (chi_now_ms() >= deadline) {
				return ETIMEDOUT;
			}
			(void)chi_wait(-1, 0, chi_now_ms() + BACKLOG_PAUSE_MS);
			continue;
		}
		if (errno == EINTR || errno == EALREADY || errno == EINPROGRESS) {
			break;
		}
		return errno;
	}
	if (chi_wait(fd, POLLOUT, deadline) == 0) {
		return ETIMEDOUT;
	}
	int error = 0;
	socklen_t size = sizeof(error);
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
		return errno;
	}
	return error;
}

/* A new connected socket; 0 or an errno. */
static int make_socket(int family, const struct sockaddr *to, socklen_t len, int64_t deadline,
		       int *out)
{
	_cleanup_(chi_closep) int fd =
		socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return errno;
	}
	int error = connect_to(fd, to, len, deadline);
	if (error != 0) {
		return error;
	}
	*out = fd;
	fd = -1;
	return 0;
}

/* The socket's file may be there without a server: that is "connection refused", too. */
static int connect_unix(const struct chi_address *address, int64_t deadline, int *fd)
{
	/* chi_address_parse made sure that the path fits with its NUL. */
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	strncpy(to.sun_path, address->path, sizeof(to.sun_path) - 1);
	return make_socket(AF_UNIX, (const struct sockaddr *)&to, sizeof(to), deadline, fd);
}

static void free_list(struct addrinfo **list)
{
	if (*list != NULL) {
		freeaddrinfo(*list);
	}
}

/* Every address of a host is tried; the last one's error is reported. They share the deadline, so a
 * dead first address can leave little time for the second. */
static int connect_tcp(const struct chi_address *address, const char *text, int64_t deadline,
		       int *fd, struct chi_fault *fault)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV,
	};
	_cleanup_(free_list) struct addrinfo *list = NULL;
	const char *host = address->host;
	if (address->number[0] != '\0') {
		host = address->number;
		hints.ai_flags |= AI_NUMERICHOST;
	}
	int found = getaddrinfo(host, address->port, &hints, &list);
	if (found != 0) {
		return chi_fail(fault, found == EAI_MEMORY ? -CHI_ENOMEM : -CHI_ECONNECT,
				"cannot find the host of '%s' (%s)", text, gai_strerror(found));
	}
	int error = EADDRNOTAVAIL;
	for (const struct addrinfo *at = list; at != NULL; at = at->ai_next) {
		error = make_socket(at->ai_family, at->ai_addr, at->ai_addrlen, deadline, fd);
		if (error == 0) {
			/* Requests are written whole: waiting for more to send only delays. */
			int on = 1;
			(void)setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			return CHI_OK;
		}
	}
	return refuse_connection(text, error, fault);
}

void chi_connect_limit(int fd, const struct chi_address *address, uint32_t call_ms)
{
	unsigned ms = call_ms > LIMIT_LEAST_MS ? call_ms : LIMIT_LEAST_MS;
	if (address->kind != CHI_ADDRESS_UNIX) {
		(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	}
}

void chi_connect_keep(int fd, struct chi_address *address)
{
	struct sockaddr_storage to;
	socklen_t len = sizeof(to);
	if (address->kind == CHI_ADDRESS_UNIX ||
	    getpeername(fd, (struct sockaddr *)&to, &len) != 0 ||
	    getnameinfo((const struct sockaddr *)&to, len, address->number, sizeof(address->number),
			NULL, 0, NI_NUMERICHOST) != 0) {
		address->number[0] = '\0';
	}
}

int chi_connect(const struct chi_address *address, const char *text, uint32_t ms, int *fd,
		struct chi_fault *fault)
{
	int64_t deadline = chi_now_ms() + ms;
	if (address->kind != CHI_ADDRESS_UNIX) {
		return connect_tcp(address, text, deadline, fd, fault);
	}
	int error = connect_unix(address, deadline, fd);
	return error == 0 ? CHI_OK : refuse_connection(text, error, fault);
}
