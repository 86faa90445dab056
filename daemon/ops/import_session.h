/* SPDX-License-Identifier: MIT */
/*
 * An import: a client sends games for minutes, a thread of its own reads them beside everything
 * else and commits them in one go at the end, when it is its turn to write to the store. Until then
 * nothing has happened to the store, and an import that is given up leaves it as it was.
 *
 *    worker                            the import's thread
 *    ------                            -------------------
 *    Import: starts the thread  -----> feeds what comes
 *    ImportData: into the queue -----> ...
 *    <------- mail: room, notes ------ ...
 *    ImportEnd: the queue's end -----> waits for its turn among the store's writes, commits
 *    <------- mail: progress --------- ...
 *    <------- mail: the result ------- ends
 *    joins the thread, answers
 *
 * The thread and those it starts run with a lower priority than all others, so that probes are
 * answered first. The store's writer waits while it commits, and its queue fills.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "daemon/net/conn.h"
#include "daemon/net/mailbox.h"
#include "proto/msg.h"

struct chi_import_session_chunk;
struct chi_import_session_note;
struct chi_served;
struct event;

struct chi_import_session {
	/* The worker's. */
	struct chi_call call; /* conn is NULL once the client has gone or given up */
	struct chi_worker *worker;
	struct event *idle; /* the client has sent nothing for too long */
	pthread_t thread;
	/* For the log. */
	char client[CHI_CLIENT_NAME_MAX + 1];
	struct chi_conn_name connection;
	int64_t began;			    /* ms */
	uint64_t granted;		    /* what the client may still send */
	bool ended;			    /* ImportEnd has come */
	char file[CHI_IMPORT_FILE_MAX + 1]; /* of an input whose first data has not come; "" */

	/* Do not change while the thread runs. */
	struct chi_served *served;
	struct chi_import_options options;

	/* Under the lock of the server's list. */
	struct chi_import_session *next;
	struct chi_idempotency_key
		idempotency_key; /* its mark, which came with ImportEnd; sequence 0: none */

	/* Under the lock, but for `cancel`, which is atomic. */
	pthread_mutex_t lock; /* taken before a mailbox's */
	pthread_cond_t changed;
	struct chi_mail mail; /* from the thread */
	bool mailed;	      /* it is on its way */
	volatile int cancel;
	bool no_more; /* nothing follows what is queued */
	struct chi_import_session_chunk *first;
	struct chi_import_session_chunk **last;
	uint64_t consumed; /* what was read since the client was last granted more */
	struct chi_import_session_note *notes;
	struct chi_import_session_note **last_note;
	size_t n_notes;			    /* so far, those sent included */
	char phase[CHI_SCAN_RANGE_MAX + 1]; /* what it is at; "" if the worker has been told */
	uint64_t done;			    /* of `total`; 0: not known */
	uint64_t total;
	int64_t progressed; /* ms: when that was noted last; the thread's */
	bool over;	    /* the thread is ending, and what follows is set */
	int status;
	struct chi_fault fault;
	struct chi_import_result result;
};

/* The imports of a server. */
struct chi_import_sessions {
	pthread_mutex_t lock;
	struct chi_import_session *first;
	atomic_size_t n;
};

/* False if there are `max` already. Removed before it is freed. */
CHI_MUSTUSE bool chi_import_sessions_add(struct chi_import_sessions *all,
					 struct chi_import_session *import, uint64_t max);
void chi_import_sessions_remove(struct chi_import_sessions *all,
				const struct chi_import_session *import);

/* An import has all its data, and that mark. */
void chi_import_sessions_mark(struct chi_import_sessions *all, struct chi_import_session *import,
			      const struct chi_idempotency_key *idempotency_key);

/* True if the import with that mark is among them, so that a client that asks for its outcome has
 * to wait. Any thread. */
bool chi_import_sessions_await(struct chi_import_sessions *all, const struct chi_served *served,
			       const struct chi_idempotency_key *idempotency_key);

/* A note on its way to the client. */
struct chi_import_session_note {
	struct chi_import_session_note *next;
	struct chi_import_note note; /* its texts stand behind it */
	char texts[];
};

/* Makes the thread; `mail.deliver`, `served` and `options` are set. -CHI_EBUSY. */
CHI_MUSTUSE int chi_import_session_start(struct chi_import_session *import,
					 struct chi_fault *fault);

/* The thread has been joined, or was never started. */
void chi_import_session_free(struct chi_import_session *import);

/* Copies data into the queue; `file` not empty: of a new input of that name. A name waits for its
 * first data, and holds no place in the queue. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_import_session_push(struct chi_import_session *import,
					const struct chi_text *file, const void *bytes, size_t len);

/* Nothing more will be pushed. */
void chi_import_session_close(struct chi_import_session *import);

/* The thread gives up as soon as it can, whatever it is at. */
void chi_import_session_cancel(struct chi_import_session *import);

/* What the thread has to tell since the last time; the notes are the caller's. */
struct chi_import_session_news {
	bool over;
	uint64_t consumed;
	struct chi_import_session_note *notes;
	size_t n_notes;
	char phase[CHI_SCAN_RANGE_MAX + 1]; /* "": nothing new */
	uint64_t done;
	uint64_t total;
};

/* The thread waits for data, and there is none. */
bool chi_import_session_is_starved(struct chi_import_session *import);

struct chi_import_session_news chi_import_session_take_news(struct chi_import_session *import);
void chi_import_session_free_notes(struct chi_import_session_note *notes);
