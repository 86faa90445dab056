/* SPDX-License-Identifier: MIT */
/* What the daemon's threads share: the server and the stores that it serves. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idempotency.h"
#include "chistore/types.h"
#include "daemon/access/guard.h"
#include "daemon/net/tally.h"
#include "daemon/settings/config.h"
#include "daemon/settings/crashes.h"
#include "service/moves.h"
#include "service/net/listener.h"
#include "service/net/main_loop.h"

struct chi_conn;
struct chi_disk_watch;
struct chi_http;
struct chi_server;
struct chi_store_writer;
struct chi_worker;
struct event;

/* What the operations do for a worker and its connections; ops/dispatch.c has them. */
struct chi_worker_ops {
	/* Serves one request, the body of a frame. May end or drop the connection. */
	void (*dispatch)(struct chi_conn *conn, const uint8_t *body, size_t len);
	/* Goes on with runs that can, for a slice of time. */
	void (*run_slice)(struct chi_worker *worker);
	/* Looks at their deadlines; true if there are any to be looked at again. */
	bool (*run_tick)(struct chi_worker *worker, int64_t now_ms);
	/* Ends their snapshots; they go on with new ones. */
	void (*run_release)(struct chi_worker *worker);
};

/*
 * A store as its files were opened. A server that was started to read only moves to another copy at
 * its path (write/follow.h). What outlives a turn of the loop keeps the copy that it began on,
 * which is closed after the last of these has ended.
 */
struct chi_served_copy {
	struct chi_dir *store;
	uint64_t number;    /* moves before it */
	atomic_size_t uses; /* by requests; of one that is served no more it only falls */
	struct chi_served_copy *older; /* was served before, and is still open */
};

/* A store that is served. Does not change while workers run, but for its disk; nor does its copy,
 * other than while all of them stand still. */
struct chi_served {
	struct chi_server *server;
	const char *name;
	size_t index;		      /* in server->stores */
	struct chi_served_copy *copy; /* exchanged under the server's compact_lock */
	bool writable;		      /* as it was started: chi_served_read_only is what holds */
	enum chi_read_only read_only; /* why not, if not */
	struct chi_disk_watch *disk;
	struct chi_moves moves;
	atomic_bool disk_failed; /* it is read-only for that, or the process about to end */
	struct chi_crashes crashes;
	struct chi_store_writer *writer; /* runs only if writable */
};

/* An import that runs, as workers other than its own see it. Under the lock of the list. */
struct chi_import_session {
	struct chi_import_session *next;
	const struct chi_served *served;
	struct chi_idempotency_key idempotency_key; /* sequence 0: none, or not known yet */
};

/* Any thread. */
struct chi_import_sessions {
	pthread_mutex_t lock;
	struct chi_import_session *first;
	atomic_size_t n;
};

struct chi_server {
	const struct chi_config *config;
	const struct chi_worker_ops *ops;
	struct chi_guard guard;
	struct chi_main_loop main;
	struct event *reader_timer;
	bool clean;	       /* ended on request */
	bool stale;	       /* ended because files of a store were replaced */
	struct chi_http *http; /* NULL: not asked for */
	int64_t started_us;
	struct chi_served stores[CHI_STORES_MAX];
	size_t n_stores;
	struct chi_worker **workers;
	size_t n_workers;
	size_t next_worker;	    /* main's round robin for TLS */
	struct chi_sockets sockets; /* closed first, but connections know where they came in */
	struct chi_listener listener;
	bool full;		  /* the limit was logged, until a place is free again */
	uint64_t connections_max; /* the limit, or what the descriptors allow */
	atomic_size_t connections;
	_Atomic uint64_t opened; /* connections so far */
	chi_counter accepted;	 /* connections, by main */
	chi_counter turned_away; /* because there were too many */
	atomic_size_t buffered;	 /* bytes of all clients' buffers */
	atomic_size_t tasks;	 /* running, see CHI_TASKS_MAX */
	struct chi_import_sessions import_sessions;
	pthread_mutex_t compact_lock;
};

/* Why it may not be written now; CHI_READ_ONLY_NOT: it may. Any thread. */
static inline enum chi_read_only chi_served_read_only(const struct chi_served *served)
{
	return served->read_only != CHI_READ_ONLY_NOT ? served->read_only
	       : atomic_load(&served->disk_failed)    ? CHI_READ_ONLY_DISK
						      : CHI_READ_ONLY_NOT;
}

/* For a request that outlives a turn; to be given back on any thread. Worker's thread, of what is
 * served or is kept already. */
static inline struct chi_served_copy *chi_served_copy_keep(struct chi_served_copy *copy)
{
	atomic_fetch_add(&copy->uses, 1);
	return copy;
}

/* NULL is fine. */
static inline void chi_served_copy_leave(struct chi_served_copy *copy)
{
	if (copy != NULL) {
		atomic_fetch_sub(&copy->uses, 1);
	}
}

/* Takes connections for a server. */
extern const struct chi_listener_ops chi_server_door;

/* The store of that name, "default" if the name is empty; NULL if there is none. */
struct chi_served *chi_server_find(struct chi_server *server, const char *name, size_t len);

/* All clients' buffers together have reached their limit. */
bool chi_server_is_full(const struct chi_server *server);

/* Takes one of the places for what has a thread of its own. -CHI_EBUSY: `most` are taken. */
CHI_MUSTUSE int chi_server_task_begin(struct chi_server *server, size_t most,
				      struct chi_fault *fault);
void chi_server_task_end(struct chi_server *server);

/* False if there are `max` already. */
CHI_MUSTUSE bool chi_import_sessions_add(struct chi_import_sessions *all,
					 struct chi_import_session *session, uint64_t max);
void chi_import_sessions_remove(struct chi_import_sessions *all,
				const struct chi_import_session *session);

/* An import has all its data, and that mark. */
void chi_import_sessions_mark(struct chi_import_sessions *all, struct chi_import_session *session,
			      const struct chi_idempotency_key *idempotency_key);

/* True if the import with that mark runs: a client that asks for its outcome has to wait. */
bool chi_import_sessions_await(struct chi_import_sessions *all, const struct chi_served *served,
			       const struct chi_idempotency_key *idempotency_key);
