/* SPDX-License-Identifier: MIT */
/*
 * Listening sockets, made here or passed by a service manager: unix ones with their mode and their
 * file's care, TCP ones on loopback addresses only unless they speak TLS or the server allows more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "chistore/types.h"
#include "service/listen.h"
#include "service/notify.h"
#include "service/user.h"

struct chi_listener;
struct event;

struct chi_socket {
	int fd; /* -1: none */
	/* Where; of one that was passed its kind is what it has turned out to be. Stays when the
	 * socket is closed. */
	struct chi_listen listen;
	bool adopted;		       /* passed, and listening already */
	unsigned unacknowledged_ms;    /* over TCP a client that has not read what was sent to it
					  for so long is cut off by the kernel */
	int lock;		       /* beside a unix socket's path; -1: none */
	dev_t device;		       /* of the path when it was made */
	ino_t inode;		       /* 0: it was not */
	char text[320];		       /* its address as a client would write it */
	struct chi_listener *listener; /* these two are the listener's */
	struct event *event;
};

/* All of a server, or of one of its threads. */
struct chi_sockets {
	struct chi_socket list[CHI_LISTENS_MAX];
	size_t n;
};

/* How a server listens. */
struct chi_binding {
	const struct chi_listen *listens;
	size_t n;
	const struct chi_user *user; /* whose the files of unix sockets become, if it is given */
	unsigned mode;		     /* of those files, if they have none of their own */
	uint64_t output_ms;	     /* how long the server itself waits for a client to read */
	bool http;		     /* addresses are written as http://HOST:PORT/ */
	bool shared;		     /* chi_sockets_share is to follow */
	const char *local; /* after "'HOST' is not a loopback address", why plain TCP is refused
			      there; NULL: it is not */
};

/* Binds and listens at all of them, clients that connect now wait; for those that were passed takes
 * them out of `passed`, which may be NULL without such, and closes the rest. Not to be called while
 * threads run: sets the umask for a moment. On failure nothing is left open. -CHI_EBUSY: another
 * server answers there; -CHI_EEXIST: something that is no socket; -CHI_EACCES, -CHI_EINVAL,
 * -CHI_EIO. */
CHI_MUSTUSE int chi_sockets_open(struct chi_sockets *sockets, const struct chi_binding *how,
				 struct chi_passed_list *passed, struct chi_fault *fault);

/* Sockets at the same addresses, among which the kernel distributes those who connect. Like
 * chi_sockets_open. */
CHI_MUSTUSE int chi_sockets_share(const struct chi_sockets *first, struct chi_sockets *out,
				  struct chi_fault *fault);

/* Closes them, and removes the files unless someone has put another there. */
void chi_sockets_close(struct chi_sockets *sockets);

/* Listens again: from now on clients see the caller as the peer. */
CHI_MUSTUSE int chi_socket_listen(const struct chi_socket *socket, struct chi_fault *fault);

/* The addresses as they turned out, with a blank between. */
#define CHI_ADDRESSES_SIZE (CHI_LISTENS_MAX * sizeof(((struct chi_socket *)NULL)->text))
void chi_sockets_print(const struct chi_sockets *sockets, char out[CHI_ADDRESSES_SIZE]);
