/* SPDX-License-Identifier: MIT */
/*
 * The whole daemon: stores, workers, listeners, and the order in which they start and stop.
 *
 * THREADS
 *  - main: listeners, signals, the reader check. Owns struct chi_server.
 *  - workers (--threads): each an event loop with its own connections, requests, and
 *    scans. Nothing of a worker is touched by another thread, except its mailbox.
 *  - a writer for each writable store: applies batches, rescores, compacts.
 *  - a thread for each running backup, which copies the store into a pipe.
 *  - one for each running verification, which writes what it finds into a pipe, and for each store
 *    whose compaction waits for one.
 *  - a thread for each import (--imports), and those it starts, with a lower priority; at the end
 *    it commits what it has read, in its turn: the store lets one thread write at a time.
 * Threads meet only in: the guard, mailboxes (to a worker), writers' queues (to a writer), the
 * counters of struct chi_server (atomic), a gate (one thread waits for the workers), intakes (a
 * worker gives data).
 *
 * LOCKS, in the order in which they may be taken; a thread holding one takes only later ones:
 *  1. server.compact_lock  one compaction at a time, by writers and the reader check
 *  2. gate.lock            never held while waiting for anything but its own condition
 *  3. writer.lock          the queue
 *  4. intake.lock          its queue, its notes, its result
 *  5. mailbox.lock
 *  6. guard.lock           while a client is judged
 *  7. the log's own        while lines of an event are counted
 * No lock is held during a store call or a system call on a client, except compact_lock.
 *
 * STOPPING: listeners close; every worker answers the requests it has received, ends its streams
 * and says so; the writers commit what is queued and end; the workers send the last answers and
 * end; the stores close.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "chistore/types.h"
#include "daemon/config.h"
#include "daemon/status/crashes.h"
#include "daemon/access/guard.h"
#include "daemon/ops/import_session.h"
#include "daemon/status/tally.h"
#include "daemon/write/writer.h"

struct chi_http;
struct chi_listener;
struct chi_server;
struct chi_worker;
struct event;
struct event_base;

/* A store that is served. Does not change while workers run. */
struct chi_served {
	struct chi_server *server;
	const char *name;
	size_t index; /* in server->stores */
	struct chi_store *store;
	enum chi_statistic statistic;
	bool writable;
	enum chi_read_only read_only; /* why not, if not */
	struct chi_crashes crashes;
	struct chi_store_writer writer; /* runs only if writable */
};

struct chi_server {
	const struct chi_config *config;
	struct chi_guard guard;
	struct event_base *base; /* main's */
	struct event *reader_timer;
	bool clean;		/* came to its end by being told so */
	bool stale;		/* ended because files of a store were replaced */
	struct event *watchdog; /* NULL: not asked for */
	struct chi_http *http;	/* NULL: not asked for */
	int64_t started_us;
	struct chi_served stores[CHI_STORES_MAX];
	size_t n_stores;
	struct chi_worker **workers;
	size_t n_workers;
	size_t next_worker; /* main's round robin */
	struct chi_listener *listener;
	/* What sockets that were passed have turned out to be: connections outlive the listener. */
	struct chi_listen adopted[CHI_LISTENS_MAX];
	uint64_t connections_max; /* the limit, or what the descriptors allow */
	atomic_size_t connections;
	chi_counter accepted;	 /* connections, by main */
	chi_counter turned_away; /* because there were too many */
	atomic_size_t buffered;	 /* bytes of all clients' buffers */
	atomic_size_t tasks;	 /* backups and verifications running */
	struct chi_import_sessions import_sessions;
	pthread_mutex_t compact_lock;
};

/* Binds, becomes who it is to be, opens the stores, starts the threads, listens. On failure all is
 * undone by deinit. */
CHI_MUSTUSE int chi_server_init(struct chi_server *server, const struct chi_config *config,
				struct chi_fault *fault);

/* Serves until chi_server_stop, then stops in the order above. Fails only if it cannot begin. */
CHI_MUSTUSE int chi_server_run(struct chi_server *server, struct chi_fault *fault);

/* Makes chi_server_run come to its end; main thread. */
void chi_server_stop(struct chi_server *server);

/* Opens the log anew and reads anew who gets in; main thread. */
void chi_server_reload(struct chi_server *server);

/* Harmless on a server whose init failed half-way. */
void chi_server_deinit(struct chi_server *server);

/* The store of that name, "default" if the name is empty; NULL if there is none. */
struct chi_served *chi_server_find(struct chi_server *server, const char *name, size_t len);

/* Hands a socket accepted at `listen` to the next worker; takes the descriptor in every case. */
void chi_server_accept(struct chi_server *server, int fd, const struct chi_listen *listen);

/* All clients' buffers together have reached their limit. */
bool chi_server_is_full(const struct chi_server *server);

/* Takes one of the places for backups and verifications. -CHI_EBUSY: all are taken. */
CHI_MUSTUSE int chi_server_task_begin(struct chi_server *server, struct chi_fault *fault);
void chi_server_task_end(struct chi_server *server);
