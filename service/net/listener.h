/* SPDX-License-Identifier: MIT */
/*
 * Accepting, in the loop of the thread that the listener belongs to. Sockets are watched
 * level-triggered, so what is not taken now wakes the loop again: that is what makes running out of
 * descriptors dangerous. Then listening rests for half a second instead of spinning.
 */
#pragma once

#include <stdbool.h>

#include "chistore/types.h"
#include "service/net/socket.h"

struct event;
struct event_base;

struct chi_listener_ops {
	/* Takes the descriptor of a connection, non-blocking, in every case; `listen` stays as long
	 * as the sockets' memory. */
	void (*take)(void *owner, int fd, const struct chi_listen *listen);
	/* Closes a connection that waits for nothing, as no descriptor is left; false: there is
	 * none. NULL: no one makes room, and the client that has waited longest is closed. */
	bool (*make_room)(void *owner);
};

struct chi_listener {
	const struct chi_listener_ops *ops; /* NULL: not started */
	void *owner;
	struct chi_sockets *sockets;
	struct event *rested; /* the end of a pause */
	int spare;	      /* given up for a moment when descriptors have run out; or -1 */
};

/* Listens and accepts, as the user that the server is now, until stopped. -CHI_ENOMEM, -CHI_EIO;
 * to be stopped also then. */
CHI_MUSTUSE int chi_listener_start(struct chi_listener *listener, struct event_base *base,
				   struct chi_sockets *sockets, const struct chi_listener_ops *ops,
				   void *owner, struct chi_fault *fault);

/* Harmless if it is not started. The sockets stay open. */
void chi_listener_stop(struct chi_listener *listener);
