/* SPDX-License-Identifier: MIT */
/* Making listening sockets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "chistore/types.h"
#include "daemon/settings/config.h"

/* A listening socket; `text` is its address as a client would write it. */
struct chi_socket {
	int fd;		  /* -1: none */
	bool adopted;	  /* passed to the daemon, listening already */
	int lock;	  /* beside a unix socket's path; -1: none */
	const char *path; /* of a unix socket, else NULL */
	dev_t device;	  /* of the path when it was made */
	ino_t inode;	  /* 0: it was not */
	char text[320];
};

/* Binds and listens: clients that connect now wait. Whose the file of a unix socket is, and its
 * mode if it has none of its own, is in `config`. `address` must live as long as the socket. Not to
 * be called while threads run: sets the umask for a moment. */
CHI_MUSTUSE int chi_socket_bind(const struct chi_listen *address, const struct chi_config *config,
				struct chi_socket *out, struct chi_fault *fault);

/* Listens again: from now on clients see the caller as the peer. */
CHI_MUSTUSE int chi_socket_listen(const struct chi_socket *socket, struct chi_fault *fault);

/* Takes a listening socket that someone else has made: sets *address's kind to what it is, UNIX or
 * TCP, on loopback only. Closing it leaves its file. On failure the descriptor is the caller's.
 * -CHI_EINVAL: it is something else. */
CHI_MUSTUSE int chi_socket_adopt(int fd, struct chi_listen *address, struct chi_socket *out,
				 struct chi_fault *fault);

/* Closes it, and removes its file unless someone has put another there. */
void chi_socket_close(struct chi_socket *socket);
