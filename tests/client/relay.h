/* SPDX-License-Identifier: MIT */
/*
 * A relay between clients and the daemon of a world, that cuts connections after any number of
 * bytes of either direction. One at a time; connections are served one after the other.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tests/client/world.h"

/* Which bytes count towards a cut. */
enum relay_way {
	TO_SERVER,
	TO_CLIENT,
};

extern struct relay {
	char path[96];
	char address[100];
	const char *server;
	int fd;
	pthread_t thread;
	atomic_uint connections;
	atomic_bool stop;
	/* Set before the call that is to be cut, under no lock: nothing is on the way then. */
	atomic_int way;
	atomic_long left; /* bytes until the cut; negative: none */
	atomic_int cuts;  /* how many more are to come, each after as many */
	atomic_long each;
	long passed;  /* bytes that counted, from relay_cut to relay_was_cut, if none was cut */
	int grace_ms; /* for the server to do what it has got, before the client comes again */
	/* On the relay's thread, when a connection is cut and before the client sees it; NULL:
	 * none.
	 */
	void (*on_cut)(void *context);
	void *context;
} relay;

/* cmocka's setup and teardown: a world with a daemon and a control store, and the relay. */
int relay_make(void **state);
int relay_drop(void **state);

/* A client behind the relay. */
struct chi_client *relay_open(uint32_t repeat_ms);

/* From now on `cuts` connections are cut, each after so many bytes. */
void relay_cut(enum relay_way way, long bytes, int cuts);

/* True if the cut has come. */
bool relay_was_cut(void);

/*
 * Lets `add` add games to position 0 again and again, and cuts its connection after `first` bytes,
 * `step` more, and so on, until nothing is left to cut; fails if a game is missing or there twice.
 * `add` says how many it added. Returns how many bytes were let through before the last.
 */
long relay_cut_all(const struct world *world, struct chi_client *client, enum relay_way way,
		   long first, long step, uint64_t (*add)(struct chi_client *client));

/* How far cuts are apart where they go through all bytes: 1 in a long run (CHISTORE_EFFORT=high), 4
 * in an ordinary one, 12 under a sanitizer. */
long relay_step(void);
