/* SPDX-License-Identifier: MIT */
/*
 * One thread asks every worker to do something between two of its callbacks, waits until all
 * have done it, and may keep them waiting until it is through with something of its own.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct chi_server;
struct chi_worker;

struct chi_worker_barrier {
	void (*action)(struct chi_worker *worker);
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t expected;
	size_t arrived;
	size_t gone;
	bool open;
};

/* Runs `action` on each worker's thread and returns when all have run it. With `hold` the
 * workers pause until chi_worker_barrier_open. One at a time: under the server's
 * compact_lock. */
void chi_worker_barrier_close(struct chi_worker_barrier *barrier, struct chi_server *server,
			      void (*action)(struct chi_worker *worker), bool hold);

/* Lets the workers go on. Always to be called. */
void chi_worker_barrier_open(struct chi_worker_barrier *barrier);
