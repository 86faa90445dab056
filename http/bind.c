/* SPDX-License-Identifier: MIT */
/* The first socket of an address may be given any free port; the others share it. */
#include "http/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "service/notify.h"

#define BACKLOG 1024

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	}
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static int check_reach(const struct http_config *config, const struct sockaddr *address,
		       const char *name, struct chi_fault *fault)
{
	if (address->sa_family == AF_UNIX || is_loopback(address) || config->public_read ||
	    config->access_path != NULL) {
		return CHI_OK;
	}
	return chi_fault(
		fault, -CHI_EINVAL,
		"'%s' is no loopback address: --public-read lets any client read, --access "
		"those with a token",
		name);
}

static int fail_bind(const struct chi_listen *listen, int error, struct chi_fault *fault)
{
	int status = error == EADDRINUSE		 ? -CHI_EBUSY
		     : error == EACCES || error == EPERM ? -CHI_EACCES
							 : -CHI_EIO;
	return chi_fault(fault, status, "cannot listen on 'tcp:%s:%s' (%s)", listen->host,
			 listen->port, strerror(error));
}

static int listen_on(const struct sockaddr *address, socklen_t len, int *out)
{
	int one = 1;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		return errno;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	if (bind(fd, address, len) < 0 || listen(fd, BACKLOG) < 0) {
		int error = errno;
		close(fd);
		return error;
	}
	*out = fd;
	return 0;
}

/* Without SO_REUSEPORT: another server must not share the port by chance. */
static int check_free(const struct sockaddr *address, socklen_t len)
{
	int one = 1;
	_cleanup_(chi_closep) int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return errno;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return bind(fd, address, len) < 0 ? errno : 0;
}

static void note(struct http_server *server, const struct sockaddr_storage *address, socklen_t len)
{
	char host[NI_MAXHOST] = "";
	char port[NI_MAXSERV] = "";
	size_t used = strlen(server->addresses);
	if (address->ss_family == AF_UNIX ||
	    getnameinfo((const struct sockaddr *)address, len, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		(void)snprintf(port, sizeof(port), "?");
	}
	bool six = address->ss_family == AF_INET6;
	(void)snprintf(server->addresses + used, sizeof(server->addresses) - used,
		       "%shttp://%s%s%s:%s/", used > 0 ? " " : "", six ? "[" : "", host,
		       six ? "]" : "", port);
}

static int bind_tcp(struct http_server *server, const struct chi_listen *listen, int *sockets,
		    size_t step, struct chi_fault *fault)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *info = NULL;
	struct sockaddr_storage name = {0};
	int rc = getaddrinfo(listen->host, listen->port, &hints, &info);
	if (rc != 0) {
		return chi_fault(fault, -CHI_EINVAL, "cannot listen on '%s' (%s)", listen->host,
				 gai_strerror(rc));
	}
	socklen_t len = info->ai_addrlen;
	memcpy(&name, info->ai_addr, len);
	freeaddrinfo(info);
	struct sockaddr *address = (struct sockaddr *)&name;
	int status = check_reach(server->config, address, listen->host, fault);
	int error = status == CHI_OK ? check_free(address, len) : 0;
	for (size_t i = 0; status == CHI_OK && error == 0 && i < server->config->threads; i++) {
		error = listen_on(address, len, &sockets[i * step]);
		if (error == 0 && getsockname(sockets[i * step], address, &len) < 0) {
			error = errno;
		}
	}
	if (error != 0) {
		return fail_bind(listen, error, fault);
	}
	if (status == CHI_OK) {
		note(server, &name, len);
	}
	return status;
}

/* A socket that the service manager made is shared by all loops. */
static int adopt(struct http_server *server, const struct chi_listen *listen,
		 const struct chi_passed_list *passed, int *sockets, size_t step,
		 struct chi_fault *fault)
{
	struct sockaddr_storage name = {0};
	socklen_t len = sizeof(name);
	size_t at = 0;
	while (at < passed->n && strcmp(passed->sockets[at].name, listen->host) != 0) {
		at++;
	}
	if (at == passed->n) {
		return chi_fault(fault, -CHI_EINVAL, "no socket of the name '%s' was passed",
				 listen->host);
	}
	int fd = passed->sockets[at].fd;
	if (getsockname(fd, (struct sockaddr *)&name, &len) < 0) {
		return chi_fault(fault, -CHI_EINVAL, "what was passed as '%s' is no socket",
				 listen->host);
	}
	int status = check_reach(server->config, (struct sockaddr *)&name, listen->host, fault);
	for (size_t i = 0; status == CHI_OK && i < server->config->threads; i++) {
		sockets[i * step] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		int flags = fcntl(fd, F_GETFL);
		if (sockets[i * step] < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
			status = chi_fault(fault, -CHI_EIO, "cannot use socket '%s' (%s)",
					   listen->host, strerror(errno));
		}
	}
	if (status == CHI_OK) {
		note(server, &name, len);
	}
	return status;
}

int bind_all(struct http_server *server, int *sockets, struct chi_fault *fault)
{
	const struct http_config *config = server->config;
	struct chi_passed_list passed = {.n = 0};
	size_t n = config->n_listens * config->threads;
	for (size_t i = 0; i < n; i++) {
		sockets[i] = -1;
	}
	int status = chi_notify_passed(&passed, fault);
	for (size_t i = 0; status == CHI_OK && i < config->n_listens; i++) {
		const struct chi_listen *listen = &config->listens[i];
		status = listen->kind == CHI_LISTEN_TCP
				 ? bind_tcp(server, listen, sockets + i, config->n_listens, fault)
				 : adopt(server, listen, &passed, sockets + i, config->n_listens,
					 fault);
	}
	for (size_t i = 0; status < 0 && i < n; i++) {
		if (sockets[i] >= 0) {
			close(sockets[i]);
		}
	}
	return status;
}
