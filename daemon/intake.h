/* SPDX-License-Identifier: MIT */
/*
 * An import: a client sends games for minutes, a thread of its own reads them beside everything
 * else, and at the end they are stored in one go when the writer's turn has come. Until then
 * nothing has happened to the store, and whoever gives up leaves it as it was.
 *
 *    worker                            the import's thread             writer
 *    ------                            -------------------             ------
 *    Import: starts the thread  -----> READING: feeds what comes
 *    ImportData: into the queue -----> ...
 *    <------- mail: room, notes ------ ...
 *    ImportEnd: the queue's end -----> ...
 *    <------- mail: all is read ------ READ: waits
 *    queues the job ------------------------------------------------> its turn: waits
 *                                      STORING: commits <------------
 *    <------- mail: verdict ---------- OVER -------------------------> goes on
 *    joins the thread, answers <-------------------------------------- the job's answer
 *
 * The thread and those it starts run with a lower priority than all others, so that probes are
 * answered first; the commit runs there, too, for the same reason.
 */
#pragma once

#include <pthread.h>
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

enum chi_intake_stage {
	CHI_INTAKE_READING, /* data is read as it comes */
	CHI_INTAKE_READ,    /* all of it; waits for the writer's turn */
	CHI_INTAKE_STORING, /* the writer waits meanwhile */
	CHI_INTAKE_OVER,    /* the verdict stands; the thread is ending */
};

struct chi_intake {
	/* The worker's. */
	struct chi_call call; /* conn is NULL once the client has gone or given up */
	struct chi_worker *worker;
	struct event *idle; /* the client has sent nothing for too long */
	pthread_t thread;
	/* For the log. */
	char client[CHI_CLIENT_NAME_MAX + 1];
	struct chi_conn_name connection;
	int64_t began;	  /* ms */
	uint64_t granted; /* what the client may still send */
	bool ended;	  /* ImportEnd has come */
	bool queued;	  /* the job is with the writer */
	int unqueued;	  /* why it could not be given to the writer, or CHI_OK */
	bool joined;

	/* Do not change while the thread runs. */
	struct chi_served *served;
	struct chi_games_options options;

	/* Set with `ended`, read by the thread in its turn. */
	struct chi_once once;		/* its mark; sequence 0: none */
	struct chi_intake *next_marked; /* under the lock of the server's list */

	/* Under the lock, but for `cancel`, which is atomic. */
	pthread_mutex_t lock; /* taken before a mailbox's */
	pthread_cond_t changed;
	struct chi_mail mail; /* from the thread */
	bool mailed;	      /* it is on its way */
	enum chi_intake_stage stage;
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
	int status;
	struct chi_fault fault;
	struct chi_games_result result;
};

/* The marked imports of a server that have all their data and are not over, so that who asks for
 * the outcome of one is told to wait for it. */
struct chi_intakes {
	pthread_mutex_t lock;
	struct chi_intake *first;
};

/* Nothing happens of one that is not marked. Removed before it is freed. */
void chi_intakes_add(struct chi_intakes *all, struct chi_intake *import);
void chi_intakes_remove(struct chi_intakes *all, const struct chi_intake *import);

/* True if the import with that mark is among them. Any thread. */
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

/* Copies data into the queue; `file` NULL: the input goes on. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_intake_push(struct chi_intake *import, const char *file, const void *bytes,
				size_t len);

/* Nothing more will be pushed. */
void chi_intake_close(struct chi_intake *import);

/* The thread gives up as soon as it can, whatever it is at. */
void chi_intake_cancel(struct chi_intake *import);

/* What the thread has to tell since the last time; the notes are the caller's. */
struct chi_intake_news {
	enum chi_intake_stage stage;
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

/* The writer's turn: lets the thread store what it has read, and waits for its verdict. */
void chi_intake_store(struct chi_intake *import);
