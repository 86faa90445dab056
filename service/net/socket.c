/* SPDX-License-Identifier: MIT */
/*
 * Unix sockets outlive their process as files. A file that no one answers on is a dead server's
 * and removed; at the end only the very file that was made here is (device and inode tell). Of two
 * servers that start at once both would find the file dead, and one remove the other's: so a server
 * holds a lock beside its socket, from before it looks until after it has removed it.
 */
#include "service/net/socket.h"

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
#include "service/log.h"
#include "service/net/peer.h"

#define BACKLOG 1024

/* Over TCP a client that says nothing for so many seconds is asked whether it is there, and closed
 * when it has not answered so often. */
#define KEEPALIVE_IDLE_S  60
#define KEEPALIVE_PAUSE_S 10
#define KEEPALIVE_PROBES  6

/* The least for which what was sent may wait for a peer: as long as an idle one may be silent.
 * Keepalive asks only where nothing is under way, and an answer to a machine that is gone is sent
 * again for a quarter of an hour. The kernel counts a peer that is there but reads nothing, too. */
#define UNACKNOWLEDGED_MS ((KEEPALIVE_IDLE_S + KEEPALIVE_PROBES * KEEPALIVE_PAUSE_S) * 1000)

union any_address {
	struct sockaddr any;
	struct sockaddr_un path;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_storage room;
};

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
			return chi_fail(fault, status_of(errno), "cannot listen on '%s' (%s)", path,
					strerror(errno));
		}
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			return chi_fail(fault, status_of(errno),
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
		return chi_fail(fault, -CHI_EIO, "cannot make a socket (%s)", strerror(errno));
	}
	if (connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0 || errno == EAGAIN) {
		return chi_fail(fault, -CHI_EBUSY, "another server listens on '%s'", path);
	}
	if (errno != ECONNREFUSED) {
		return chi_fail(fault, status_of(errno), "cannot tell who owns socket '%s' (%s)",
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
			       : chi_fail(fault, status_of(errno), "cannot listen on '%s' (%s)",
					  path, strerror(errno));
	}
	if (!S_ISSOCK(file.st_mode)) {
		return chi_fail(fault, -CHI_EEXIST, "'%s' exists and is not a socket", path);
	}
	int status = check_stale(path, fault);
	if (status < 0) {
		return status;
	}
	if (unlink(path) < 0 && errno != ENOENT) {
		return chi_fail(fault, status_of(errno), "cannot remove stale socket '%s' (%s)",
				path, strerror(errno));
	}
	return CHI_OK;
}

/* No one can connect yet: listen() comes later. */
static int give_away(const struct chi_binding *how, const struct chi_socket *socket,
		     struct chi_fault *fault)
{
	const struct chi_listen *listen = &socket->listen;
	const struct chi_user *owner = how->user;
	uid_t uid = owner->given ? owner->uid : (uid_t)-1;
	gid_t gid = listen->has_group ? listen->group : owner->given ? owner->gid : (gid_t)-1;
	if (owner->given && fchown(socket->lock, uid, owner->gid) < 0) {
		return chi_fail(fault, status_of(errno), "cannot give '%s.lock' to user %u (%s)",
				listen->path, (unsigned)uid, strerror(errno));
	}
	if ((owner->given || listen->has_group) && lchown(listen->path, uid, gid) < 0) {
		return chi_fail(fault, status_of(errno), "cannot give '%s' to %s %u (%s)",
				listen->path, owner->given ? "user" : "group",
				(unsigned)(owner->given ? uid : gid), strerror(errno));
	}
	return CHI_OK;
}

static int bind_unix(const struct chi_binding *how, struct chi_socket *out, struct chi_fault *fault)
{
	unsigned mode = out->listen.has_mode ? out->listen.mode : how->mode;
	const char *path = out->listen.path;
	struct sockaddr_un name = unix_name(path);
	struct stat file;
	int status = take_lock(path, &out->lock, fault);
	if (status == CHI_OK) {
		status = clear_path(path, fault);
	}
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
		return chi_fail(fault, status_of(error), "cannot listen on '%s' (%s)", path,
				strerror(error));
	}
	if (lstat(path, &file) == 0) {
		out->device = file.st_dev;
		out->inode = file.st_ino;
	}
	(void)snprintf(out->text, sizeof(out->text), "unix:%s", path);
	return give_away(how, out, fault);
}

/* Inherited by what is accepted. Answers are sent whole, none waits for more; a peer that is gone
 * without a word would keep its place for ever. */
static void set_tcp(int fd, unsigned unacknowledged_ms)
{
	const struct {
		int level;
		int name;
		int value;
	} options[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_PAUSE_S},
		{IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, (int)unacknowledged_ms},
	};
	for (size_t i = 0; i < CHI_COUNT(options); i++) {
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			   sizeof(options[i].value));
	}
}

/* Of a TCP socket, with the port that the kernel chose; of a unix one that was passed the path, or
 * the name of one without a file, as far as it can be written down. */
static void print_socket(const struct chi_binding *how, struct chi_socket *out)
{
	union any_address name = {.room = {.ss_family = AF_UNSPEC}};
	socklen_t len = sizeof(name);
	char host[64] = "?";
	char port[8] = "0";
	if (getsockname(out->fd, &name.any, &len) == 0 && name.any.sa_family == AF_UNIX) {
		size_t n = len - offsetof(struct sockaddr_un, sun_path);
		bool is_abstract = n > 0 && name.path.sun_path[0] == '\0';
		(void)snprintf(out->text, sizeof(out->text), "unix:%s%.*s", is_abstract ? "@" : "",
			       (int)(is_abstract ? n - 1 : n),
			       name.path.sun_path + (is_abstract ? 1 : 0));
		return;
	}
	(void)getnameinfo(&name.any, len, host, sizeof(host), port, sizeof(port),
			  NI_NUMERICHOST | NI_NUMERICSERV);
	bool v6 = strchr(host, ':') != NULL;
	(void)snprintf(out->text, sizeof(out->text), "%s%s%s%s:%s%s",
		       how->http			    ? "http://"
		       : out->listen.kind == CHI_LISTEN_TLS ? "tls:"
							    : "tcp:",
		       v6 ? "[" : "", host, v6 ? "]" : "", port, how->http ? "/" : "");
}

static bool is_loopback(const struct sockaddr *address, socklen_t len)
{
	struct chi_peer_address peer;
	chi_peer_from(address, len, &peer);
	return chi_peer_is_loopback(&peer);
}

/* Without SO_REUSEPORT: another server must not share the port by chance. */
static int check_free(const struct sockaddr *address, socklen_t len)
{
	const int one = 1;
	_cleanup_(chi_closep) int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return errno;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return bind(fd, address, len) < 0 ? errno : 0;
}

/* 0, or an errno. */
static int bind_to(const struct sockaddr *address, socklen_t len, bool shared,
		   struct chi_socket *out)
{
	const int one = 1;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	out->fd = fd;
	if (fd < 0) {
		return errno;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (shared) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	}
	set_tcp(fd, out->unacknowledged_ms);
	return bind(fd, address, len) < 0 ? errno : 0;
}

static int bind_address(const struct chi_binding *how, const struct addrinfo *info,
			struct chi_socket *out, struct chi_fault *fault)
{
	const struct chi_listen *listen = &out->listen;
	bool plain = listen->kind == CHI_LISTEN_TCP;
	if (plain && how->local != NULL && !is_loopback(info->ai_addr, info->ai_addrlen)) {
		return chi_fail(fault, -CHI_EINVAL, "'%s' is not a loopback address%s",
				listen->host, how->local);
	}
	int error = how->shared ? check_free(info->ai_addr, info->ai_addrlen) : 0;
	if (error == 0) {
		error = bind_to(info->ai_addr, info->ai_addrlen, how->shared, out);
	}
	if (error != 0) {
		return chi_fail(fault, status_of(error), "cannot listen on '%s%s:%s' (%s)",
				plain ? "tcp:" : "tls:", listen->host, listen->port,
				strerror(error));
	}
	print_socket(how, out);
	return CHI_OK;
}

/* A name may stand for several addresses; the first one is taken. */
static int bind_tcp(const struct chi_binding *how, struct chi_socket *out, struct chi_fault *fault)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *info = NULL;
	int error = getaddrinfo(out->listen.host, out->listen.port, &hints, &info);
	if (error != 0) {
		return chi_fail(fault, -CHI_EINVAL, "cannot resolve host '%s' (%s)",
				out->listen.host, gai_strerror(error));
	}
	int status = bind_address(how, info, out, fault);
	freeaddrinfo(info);
	return status;
}

int chi_socket_listen(const struct chi_socket *socket, struct chi_fault *fault)
{
	return socket->adopted || listen(socket->fd, BACKLOG) == 0
		       ? CHI_OK
		       : chi_fail(fault, status_of(errno), "cannot listen on '%s' (%s)",
				  socket->text, strerror(errno));
}

static int option_of(int fd, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 ? value : -1;
}

static int adopt(const struct chi_binding *how, int fd, struct chi_socket *out,
		 struct chi_fault *fault)
{
	union any_address name;
	socklen_t len = sizeof(name);
	int flags = fcntl(fd, F_GETFL);
	if (option_of(fd, SO_TYPE) != SOCK_STREAM || option_of(fd, SO_ACCEPTCONN) != 1 ||
	    getsockname(fd, &name.any, &len) < 0) {
		return chi_fail(fault, -CHI_EINVAL,
				"descriptor %d, passed as '%s', is not a listening stream socket",
				fd, out->listen.host);
	}
	bool is_unix = name.any.sa_family == AF_UNIX;
	if (!is_unix && how->local != NULL && !is_loopback(&name.any, len)) {
		return chi_fail(fault, -CHI_EINVAL,
				"descriptor %d, passed as '%s', is neither a unix socket nor on a "
				"loopback address",
				fd, out->listen.host);
	}
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		return chi_fail(fault, -CHI_EIO, "cannot use descriptor %d (%s)", fd,
				strerror(errno));
	}
	out->fd = fd;
	out->adopted = true;
	out->listen.kind = is_unix ? CHI_LISTEN_UNIX : CHI_LISTEN_TCP;
	if (!is_unix) {
		set_tcp(fd, out->unacknowledged_ms);
	}
	print_socket(how, out);
	return CHI_OK;
}

/* ---- All of a server ----------------------------------------------------------------------- */

static struct chi_socket *new_socket(struct chi_sockets *sockets, const struct chi_binding *how,
				     const struct chi_listen *listen, struct chi_fault *fault)
{
	if (sockets->n == CHI_LISTENS_MAX) {
		(void)chi_fail(fault, -CHI_EINVAL, "more than %d sockets to listen on",
			       CHI_LISTENS_MAX);
		return NULL;
	}
	struct chi_socket *socket = &sockets->list[sockets->n++];
	*socket = (struct chi_socket){.fd = -1, .lock = -1, .listen = *listen};
	socket->unacknowledged_ms =
		how->output_ms > UNACKNOWLEDGED_MS ? (unsigned)how->output_ms : UNACKNOWLEDGED_MS;
	return socket;
}

static int open_one(struct chi_sockets *sockets, const struct chi_binding *how,
		    const struct chi_listen *listen, struct chi_fault *fault)
{
	struct chi_socket *socket = new_socket(sockets, how, listen, fault);
	if (socket == NULL) {
		return -CHI_EINVAL;
	}
	int status = listen->kind == CHI_LISTEN_UNIX ? bind_unix(how, socket, fault)
						     : bind_tcp(how, socket, fault);
	return status == CHI_OK ? chi_socket_listen(socket, fault) : status;
}

/* All sockets of that name: a unit may have several. */
static int take_passed(struct chi_sockets *sockets, const struct chi_binding *how,
		       const struct chi_listen *listen, struct chi_passed_list *passed,
		       struct chi_fault *fault)
{
	bool found = false;
	for (size_t i = 0; i < passed->n; i++) {
		struct chi_passed *one = &passed->sockets[i];
		if (one->fd < 0 || strcmp(one->name, listen->host) != 0) {
			continue;
		}
		struct chi_socket *socket = new_socket(sockets, how, listen, fault);
		int status = socket != NULL ? adopt(how, one->fd, socket, fault) : -CHI_EINVAL;
		if (status < 0) {
			return status;
		}
		one->fd = -1;
		found = true;
	}
	return found ? CHI_OK
		     : chi_fail(fault, -CHI_EINVAL,
				"--listen: no socket named '%s' was passed (LISTEN_FDNAMES)",
				listen->host);
}

/* Left open they would take connections that no one answers. */
static void close_rest(struct chi_passed_list *passed)
{
	for (size_t i = 0; i < passed->n; i++) {
		struct chi_passed *one = &passed->sockets[i];
		if (one->fd >= 0) {
			log_warning("listen.unused",
				    "nothing listens on the socket passed as '{name}': --listen "
				    "fd:{name} is missing",
				    log_text("name", one->name));
			chi_closep(&one->fd);
		}
	}
}

int chi_sockets_open(struct chi_sockets *sockets, const struct chi_binding *how,
		     struct chi_passed_list *passed, struct chi_fault *fault)
{
	int status = CHI_OK;
	sockets->n = 0;
	for (size_t i = 0; status == CHI_OK && i < how->n; i++) {
		const struct chi_listen *listen = &how->listens[i];
		status = listen->kind == CHI_LISTEN_PASSED
				 ? take_passed(sockets, how, listen, passed, fault)
				 : open_one(sockets, how, listen, fault);
	}
	if (passed != NULL) {
		close_rest(passed);
	}
	if (status < 0) {
		chi_sockets_close(sockets);
	}
	return status;
}

int chi_sockets_share(const struct chi_sockets *first, struct chi_sockets *out,
		      struct chi_fault *fault)
{
	int error = 0;
	out->n = 0;
	for (size_t i = 0; error == 0 && i < first->n; i++) {
		union any_address name;
		socklen_t len = sizeof(name);
		struct chi_socket *socket = &out->list[out->n++];
		*socket = first->list[i];
		socket->lock = -1;
		socket->inode = 0;
		/* One that the service manager made is the same for all. */
		socket->fd = socket->adopted ? fcntl(first->list[i].fd, F_DUPFD_CLOEXEC, 0) : -1;
		if (socket->adopted) {
			error = socket->fd < 0 ? errno : 0;
		} else if (getsockname(first->list[i].fd, &name.any, &len) < 0) {
			error = errno;
		} else {
			error = bind_to(&name.any, len, true, socket);
		}
		if (error == 0 && chi_socket_listen(socket, NULL) < 0) {
			error = errno;
		}
	}
	if (error != 0) {
		(void)chi_fail(fault, status_of(error), "cannot listen on '%s' (%s)",
			       out->list[out->n - 1].text, strerror(error));
		chi_sockets_close(out);
	}
	return error == 0 ? CHI_OK : status_of(error);
}

static void close_socket(struct chi_socket *socket)
{
	struct stat file;
	const char *path = socket->listen.path;
	/* Where its user may not write the directory it stays, dead; a next server removes it. */
	if (socket->inode != 0 && lstat(path, &file) == 0 && file.st_dev == socket->device &&
	    file.st_ino == socket->inode && unlink(path) < 0) {
		log_info("socket.stay", "failed to remove socket '{path}' ({cause})",
			 log_text("path", path), log_text("cause", strerror(errno)));
	}
	chi_closep(&socket->fd);
	if (socket->lock >= 0) {
		drop_lock(path, socket->lock);
	}
}

void chi_sockets_close(struct chi_sockets *sockets)
{
	while (sockets->n > 0) {
		close_socket(&sockets->list[--sockets->n]);
	}
}

void chi_sockets_print(const struct chi_sockets *sockets, char out[CHI_ADDRESSES_SIZE])
{
	char *at = out;
	*at = '\0';
	for (size_t i = 0; i < sockets->n; i++) {
		at = stpcpy(i > 0 ? stpcpy(at, " ") : at, sockets->list[i].text);
	}
}
