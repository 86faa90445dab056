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
#include "daemon/conn.h"
#include "daemon/mailbox.h"
#include "proto/msg.h"

struct chi_intake_chunk;
struct chi_intake_note;
struct chi_served;
struct event;

struct chi_intake {
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
	struct chi_games_options options;

	/* Under the lock of the server's list. */
	struct chi_intake *next;
	struct chi_once once; /* its mark, which came with ImportEnd; sequence 0: none */

	/* Under the lock, but for `cancel`, which is atomic. */
	pthread_mutex_t lock; /* taken before a mailbox's */
	pthread_cond_t changed;
	struct chi_mail mail; /* from the thread */
	bool mailed;	      /* it is on its way */
	volatile int cancel;
	bool no_more; /* nothing follows what is queued */
	struct chi_intake_chunk *first;
	struct chi_intake_chunk **last;
	uint64_t consumed; /* what was read since the client was last granted more */
	struct chi_intake_note *notes;
	struct chi_intake_note **last_note;
	size_t n_notes;		       /* so far, those sent included */
	char phase[CHI_PHASE_MAX + 1]; /* what it is at; "" if the worker has been told */
	uint64_t done;		       /* of `total`; 0: not known */
	uint64_t total;
	int64_t progressed; /* ms: when that was noted last; the thread's */
	bool over;	    /* the thread is ending, and what follows is set */
	int status;
	struct chi_fault fault;
	struct chi_games_result result;
};

/* The imports of a server. */
struct chi_intakes {
	pthread_mutex_t lock;
	struct chi_intake *first;
	atomic_size_t n;
};

/* False if there are `max` already. Removed before it is freed. */
CHI_MUSTUSE bool chi_intakes_add(struct chi_intakes *all, struct chi_intake *import, uint64_t max);
void chi_intakes_remove(struct chi_intakes *all, const struct chi_intake *import);

/* An import has all its data, and that mark. */
void chi_intakes_mark(struct chi_intakes *all, struct chi_intake *import,
		      const struct chi_once *once);

/* True if the import with that mark is among them, so that a client that asks for its outcome has
 * to wait. Any thread. */
bool chi_intakes_await(struct chi_intakes *all, const struct chi_served *served,
		       const struct chi_once *once);

/* A note on its way to the client. */
struct chi_intake_note {
	struct chi_intake_note *next;
	struct chi_games_note note; /* its texts stand behind it */
	char texts[];
};

/* Makes the thread; `mail.deliver`, `served` and `options` are set. -CHI_EBUSY. */
CHI_MUSTUSE int chi_intake_start(struct chi_intake *import, struct chi_fault *fault);

/* The thread has been joined, or was never started. */
void chi_intake_free(struct chi_intake *import);

/* Copies data into the queue; `file` not empty: of a new input of that name. A name waits for its
 * first data, and holds no place in the queue. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_intake_push(struct chi_intake *import, const struct chi_text *file,
				const void *bytes, size_t len);

/* Nothing more will be pushed. */
void chi_intake_close(struct chi_intake *import);

/* The thread gives up as soon as it can, whatever it is at. */
void chi_intake_cancel(struct chi_intake *import);

/* What the thread has to tell since the last time; the notes are the caller's. */
struct chi_intake_news {
	bool over;
	uint64_t consumed;
	struct chi_intake_note *notes;
	size_t n_notes;
	char phase[CHI_PHASE_MAX + 1]; /* "": nothing new */
	uint64_t done;
	uint64_t total;
};

/* The thread waits for data, and there is none. */
bool chi_intake_is_starved(struct chi_intake *import);

struct chi_intake_news chi_intake_take_news(struct chi_intake *import);
void chi_intake_free_notes(struct chi_intake_note *notes);
