/* SPDX-License-Identifier: MIT */
/*
 * Unix sockets outlive their process as files. A file that no one answers on is a dead server's
 * and removed; at the end only the very file that was made here is (device and inode tell). Of two
 * servers that start at once both would find the file dead, and one remove the other's: so a server
 * holds a lock beside its socket, from before it looks until after it has removed it.
 */
#include "daemon/net/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "daemon/settings/limits.h"
#include "service/log.h"

#define BACKLOG 1024

/* A socket's path and ".lock". */
#define LOCK_NAME_SIZE (sizeof(((struct sockaddr_un *)NULL)->sun_path) + 8)

/* The class of an errno, for the exit status and the text. */
static int status_of(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return -CHI_EACCES;
	case EADDRINUSE:
	case EWOULDBLOCK:
		return -CHI_EBUSY;
	case EROFS:
		return -CHI_EREADONLY;
	default:
		return -CHI_EIO;
	}
}

static struct sockaddr_un unix_name(const char *path)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	/* The length was checked with the command line. */
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	return name;
}

static void lock_name(const char *path, char name[LOCK_NAME_SIZE])
{
	snprintf(name, LOCK_NAME_SIZE, "%s.lock", path);
}

/* Its holder may remove the file between our open and our lock: then it is no longer a lock. */
static bool is_current(int fd, const char *name)
{
	struct stat held;
	struct stat named;
	return fstat(fd, &held) == 0 && lstat(name, &named) == 0 && held.st_dev == named.st_dev &&
	       held.st_ino == named.st_ino;
}

/* Takes the lock, or learns at once that another server has it. */
static int take_lock(const char *path, int *out, struct chi_fault *fault)
{
	char name[LOCK_NAME_SIZE];
	lock_name(path, name);
	for (;;) {
		_cleanup_(chi_closep) int fd =
			open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0) {
			return chi_fault(fault, status_of(errno), "cannot listen on '%s' (%s)",
					 path, strerror(errno));
		}
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			return chi_fault(fault, status_of(errno),
					 "another server holds the lock of '%s'", path);
		}
		if (is_current(fd, name)) {
			*out = fd;
			fd = -1;
			return CHI_OK;
		}
	}
}

static void drop_lock(const char *path, int fd)
{
	char name[LOCK_NAME_SIZE];
	lock_name(path, name);
	unlink(name);
	close(fd);
}

/* Does a server listen at the socket `path`? Refused means that there was one. */
static int check_stale(const char *path, struct chi_fault *fault)
{
	_cleanup_(chi_closep) int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un name = unix_name(path);
	if (fd < 0) {
		return chi_fault(fault, -CHI_EIO, "cannot make a socket (%s)", strerror(errno));
	}
	if (connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0 || errno == EAGAIN) {
		return chi_fault(fault, -CHI_EBUSY, "another server listens on '%s'", path);
	}
	if (errno != ECONNREFUSED) {
		return chi_fault(fault, status_of(errno), "cannot tell who owns socket '%s' (%s)",
				 path, strerror(errno));
	}
	return CHI_OK;
}

/* Makes way: removes a socket that a server has left, refuses anything else. */
static int clear_path(const char *path, struct chi_fault *fault)
{
	struct stat file;
	if (lstat(path, &file) < 0) {
		return errno == ENOENT
			       ? CHI_OK
			       : chi_fault(fault, status_of(errno), "cannot listen on '%s' (%s)",
					   path, strerror(errno));
	}
	if (!S_ISSOCK(file.st_mode)) {
		return chi_fault(fault, -CHI_EEXIST, "'%s' exists and is not a socket", path);
	}
	int status = check_stale(path, fault);
	if (status < 0) {
		return status;
	}
	if (unlink(path) < 0 && errno != ENOENT) {
		return chi_fault(fault, status_of(errno), "cannot remove stale socket '%s' (%s)",
				 path, strerror(errno));
	}
	return CHI_OK;
}

/* No one can connect yet: listen() comes later. */
static int give_away(const struct chi_listen *address, const struct chi_config *config,
		     const struct chi_socket *socket, struct chi_fault *fault)
{
	const struct chi_user *owner = &config->server.user;
	uid_t uid = owner->given ? owner->uid : (uid_t)-1;
	gid_t gid = address->has_group ? address->group : owner->given ? owner->gid : (gid_t)-1;
	if (owner->given && fchown(socket->lock, uid, owner->gid) < 0) {
		return chi_fault(fault, status_of(errno), "cannot give '%s.lock' to user %u (%s)",
				 socket->path, (unsigned)uid, strerror(errno));
	}
	if ((owner->given || address->has_group) && lchown(socket->path, uid, gid) < 0) {
		return chi_fault(fault, status_of(errno), "cannot give '%s' to %s %u (%s)",
				 socket->path, owner->given ? "user" : "group",
				 (unsigned)(owner->given ? uid : gid), strerror(errno));
	}
	return CHI_OK;
}

static int bind_unix(const struct chi_listen *address, const struct chi_config *config,
		     struct chi_socket *out, struct chi_fault *fault)
{
	unsigned mode = address->has_mode ? address->mode : config->socket_mode;
	const char *path = address->path;
	struct sockaddr_un name = unix_name(path);
	struct stat file;
	int status = take_lock(path, &out->lock, fault);
	if (status < 0) {
		return status;
	}
	out->path = path;
	status = clear_path(path, fault);
	if (status < 0) {
		return status;
	}
	out->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* By the umask the mode is right from the first moment; chmod would come too late. */
	mode_t before = umask((mode_t)(~mode & 0777));
	bool bound = out->fd >= 0 && bind(out->fd, (struct sockaddr *)&name, sizeof(name)) == 0;
	int error = errno;
	umask(before);
	if (!bound) {
		return chi_fault(fault, status_of(error), "cannot listen on '%s' (%s)", path,
				 strerror(error));
	}
	if (lstat(path, &file) == 0) {
		out->device = file.st_dev;
		out->inode = file.st_ino;
	}
	snprintf(out->text, sizeof(out->text), "unix:%s", path);
	return give_away(address, config, out, fault);
}

/* Inherited by what is accepted. Answers are sent whole, none waits for more; a peer that is gone
 * without a word would keep its place for ever. */
static void set_tcp(int fd)
{
	static const struct {
		int level;
		int name;
		int value;
	} options[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, CHI_KEEPALIVE_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, CHI_KEEPALIVE_PAUSE_S},
		{IPPROTO_TCP, TCP_KEEPCNT, CHI_KEEPALIVE_PROBES},
	};
	for (size_t i = 0; i < CHI_COUNT(options); i++) {
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			   sizeof(options[i].value));
	}
}

/* 127.0.0.0/8 and ::1. */
static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	}
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* The address with the port that the kernel chose. */
static void print_tcp(const char *scheme, struct chi_socket *out)
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	char host[64] = "?";
	char port[8] = "0";
	if (getsockname(out->fd, (struct sockaddr *)&name, &len) == 0) {
		getnameinfo((struct sockaddr *)&name, len, host, sizeof(host), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	}
	bool v6 = strchr(host, ':') != NULL;
	snprintf(out->text, sizeof(out->text), "%s%s%s%s:%s", scheme, v6 ? "[" : "", host,
		 v6 ? "]" : "", port);
}

static int bind_to(const struct chi_listen *address, const struct addrinfo *info,
		   struct chi_socket *out, struct chi_fault *fault)
{
	const int one = 1;
	const char *scheme = address->kind == CHI_LISTEN_TLS ? "tls:" : "tcp:";
	if (address->kind == CHI_LISTEN_TCP && !is_loopback(info->ai_addr)) {
		return chi_fault(
			fault, -CHI_EINVAL,
			"'%s' is not a loopback address, and tcp: is not encrypted: use tls:, "
			"127.0.0.1, [::1] or a unix socket",
			address->host);
	}
	out->fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (out->fd >= 0) {
		setsockopt(out->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		set_tcp(out->fd);
	}
	if (out->fd < 0 || bind(out->fd, info->ai_addr, info->ai_addrlen) < 0) {
		return chi_fault(fault, status_of(errno), "cannot listen on '%s%s:%s' (%s)", scheme,
				 address->host, address->port, strerror(errno));
	}
	print_tcp(scheme, out);
	return CHI_OK;
}

/* A name may stand for several addresses; the first one is taken. */
static int bind_tcp(const struct chi_listen *address, struct chi_socket *out,
		    struct chi_fault *fault)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *info = NULL;
	int error = getaddrinfo(address->host, address->port, &hints, &info);
	if (error != 0) {
		return chi_fault(fault, -CHI_EINVAL, "cannot resolve host '%s' (%s)", address->host,
				 gai_strerror(error));
	}
	int status = bind_to(address, info, out, fault);
	freeaddrinfo(info);
	return status;
}

int chi_socket_bind(const struct chi_listen *address, const struct chi_config *config,
		    struct chi_socket *out, struct chi_fault *fault)
{
	*out = (struct chi_socket){.fd = -1, .lock = -1};
	int status = address->kind == CHI_LISTEN_UNIX ? bind_unix(address, config, out, fault)
						      : bind_tcp(address, out, fault);
	if (status == CHI_OK) {
		status = chi_socket_listen(out, fault);
	}
	if (status < 0) {
		chi_socket_close(out);
	}
	return status;
}

int chi_socket_listen(const struct chi_socket *socket, struct chi_fault *fault)
{
	return socket->adopted || listen(socket->fd, BACKLOG) == 0
		       ? CHI_OK
		       : chi_fault(fault, status_of(errno), "cannot listen on '%s' (%s)",
				   socket->text, strerror(errno));
}

static int option_of(int fd, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 ? value : -1;
}

/* The path, or the name of one without a file, as far as it can be written down. */
static void print_unix(const struct sockaddr_un *name, socklen_t len, struct chi_socket *out)
{
	size_t n = len - offsetof(struct sockaddr_un, sun_path);
	bool is_abstract = n > 0 && name->sun_path[0] == '\0';
	snprintf(out->text, sizeof(out->text), "unix:%s%.*s", is_abstract ? "@" : "",
		 (int)(is_abstract ? n - 1 : n), name->sun_path + (is_abstract ? 1 : 0));
}

int chi_socket_adopt(int fd, struct chi_listen *address, struct chi_socket *out,
		     struct chi_fault *fault)
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	int flags = fcntl(fd, F_GETFL);
	*out = (struct chi_socket){.fd = -1, .lock = -1};
	if (option_of(fd, SO_TYPE) != SOCK_STREAM || option_of(fd, SO_ACCEPTCONN) != 1 ||
	    getsockname(fd, (struct sockaddr *)&name, &len) < 0) {
		return chi_fault(fault, -CHI_EINVAL,
				 "descriptor %d, passed as '%s', is not a listening stream socket",
				 fd, address->host);
	}
	if (name.ss_family != AF_UNIX && !is_loopback((struct sockaddr *)&name)) {
		return chi_fault(fault, -CHI_EINVAL,
				 "descriptor %d, passed as '%s', is neither a unix socket nor on a "
				 "loopback address",
				 fd, address->host);
	}
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		return chi_fault(fault, -CHI_EIO, "cannot use descriptor %d (%s)", fd,
				 strerror(errno));
	}
	out->fd = fd;
	out->adopted = true;
	if (name.ss_family == AF_UNIX) {
		address->kind = CHI_LISTEN_UNIX;
		print_unix((const struct sockaddr_un *)(const void *)&name, len, out);
	} else {
		address->kind = CHI_LISTEN_TCP;
		set_tcp(fd);
		print_tcp("tcp:", out);
	}
	return CHI_OK;
}

void chi_socket_close(struct chi_socket *socket)
{
	struct stat file;
	/* Where its user may not write the directory it stays, dead; a next server removes it. */
	if (socket->inode != 0 && lstat(socket->path, &file) == 0 &&
	    file.st_dev == socket->device && file.st_ino == socket->inode &&
	    unlink(socket->path) < 0) {
		log_info("socket.stay", "failed to remove socket '{path}' ({cause})",
			 log_text("path", socket->path), log_text("cause", strerror(errno)));
	}
	chi_closep(&socket->fd);
	if (socket->lock >= 0) {
		drop_lock(socket->path, socket->lock);
	}
	*socket = (struct chi_socket){.fd = -1, .lock = -1};
}
