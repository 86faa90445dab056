/* SPDX-License-Identifier: MIT */
/*
 * A worker: one thread, one event loop, and the connections it was given. All requests that are
 * ready in one turn of the loop are served together (serve_ready), on one snapshot a store, and
 * their answers leave together: probes of all clients are gathered and interleaved (gather.h).
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/arena.h"
#include "chistore/types.h"
#include "daemon/net/probe_batch.h"
#include "daemon/limits.h"
#include "daemon/net/mailbox.h"
#include "daemon/net/buffer_pool.h"
#include "daemon/status/tally.h"

struct chi_conn;
struct chi_listen;
struct chi_read;
struct chi_scan_run;
struct chi_served;
struct chi_server;
struct event;
struct event_base;

TAILQ_HEAD(chi_conn_list, chi_conn);
TAILQ_HEAD(chi_scan_list, chi_scan_run);

enum chi_worker_phase {
	CHI_WORKER_SERVING,
	CHI_WORKER_STOPPING, /* nothing more is read; answers of the writers still come */
	CHI_WORKER_LEAVING,  /* last answers are sent, then the loop ends */
};

/* A connection's place in its worker. The generation tells a new tenant from the old one, so
 * that a late answer never reaches the wrong client. */
struct chi_conn_slot {
	struct chi_conn *conn; /* NULL: free */
	uint32_t generation;
};

/* Names a connection for other threads, which must not look at it. */
struct chi_conn_ref {
	struct chi_worker *worker;
	uint32_t slot;
	uint32_t generation;
};

struct chi_worker {
	struct chi_server *server;
	size_t index;
	pthread_t thread;
	bool started;
	enum chi_worker_phase phase;
	int64_t leave_by; /* ms; LEAVING only */
	struct event_base *base;
	struct chi_mailbox mailbox;
	struct chi_mail leave_mail;
	struct chi_mail authorize_mail;
	atomic_bool authorizing; /* judge_mail is on its way */
	struct chi_mail sign_mail;
	atomic_bool asked; /* sign_mail is on its way */
	struct event *mail_event;
	struct event *serve_event; /* activated when something is ready or to be sent */
	struct event *slice_event; /* runs while a scan can go on */
	struct event *tick_event;  /* deadlines; armed while there are any */
	bool serving;		   /* serve_event is due already */

	struct chi_conn_slot *slots;
	size_t n_slots;
	size_t next_slot; /* where to look for a free one */
	size_t n_conns;
	struct chi_conn_list conns;
	struct chi_conn_list ready; /* have bytes to be served */
	struct chi_conn_list dirty; /* have output to be sent */
	struct chi_conn_list dead;  /* freed at the end of the callback */

	struct chi_conn_list unauthenticated; /* over TLS, without a hello; the oldest first */
	size_t n_unauthenticated;
	bool crowded;	   /* that was logged, until there are fewer */
	unsigned n_shakes; /* handshakes gone on with in this turn */

	struct chi_scan_list scans;    /* all of them */
	struct chi_scan_list runnable; /* those that can go on */
	size_t n_runnable;
	size_t n_tasks; /* threads and children that must end before the worker */

	int64_t turn_us;   /* when the requests being served were taken up */
	int64_t answer_us; /* the time, while answers share it; else 0 */

	/* Of the request being served. */
	struct chi_arena requests;
	struct chi_arena results;
	struct chi_read *reads[CHI_STORES_MAX]; /* this turn's snapshots, begun when needed */
	struct chi_probe_batch probe_batch;	/* this turn's probes */

	struct chi_buffer_pool buffer_pool;
	uint8_t *chunk; /* CHI_READ_CHUNK bytes: where clients without a begun request are read */

	struct chi_tally tally;
};

CHI_MUSTUSE int chi_worker_new(struct chi_server *server, size_t index, struct chi_worker **out,
			       struct chi_fault *fault);
CHI_MUSTUSE int chi_worker_start(struct chi_worker *worker, struct chi_fault *fault);

/* Waits for the thread to end, if it was started, and frees everything. NULL is fine. */
void chi_worker_free(struct chi_worker *worker);

/* Any thread: gives it a connected socket, or tells it, once, to send the rest and end. */
CHI_MUSTUSE int chi_worker_give(struct chi_worker *worker, int fd, const struct chi_listen *listen);
void chi_worker_leave(struct chi_worker *worker);

/* Any thread: has it judge all its clients again. */
void chi_worker_authorize(struct chi_worker *worker);

/* Main thread: asks it for a sign that its loop turns, and whether it has given the last one asked
 * for. Not asked again before it has. */
void chi_worker_ask(struct chi_worker *worker);
bool chi_worker_has_turned(const struct chi_worker *worker);

/* What follows is for the worker's own thread. */

/* Answers what has been received and ends all streams; nothing more is read from clients. */
void chi_worker_quiesce(struct chi_worker *worker);

/* Ends the snapshots of all scans; they go on with new ones. */
void chi_worker_release_reads(struct chi_worker *worker);

/* Has the worker's serve callback run in this turn, or in the next one. */
void chi_worker_wake(struct chi_worker *worker);

/* A deadline was set: has them looked at until none is left. */
void chi_worker_watch(struct chi_worker *worker);

/* This turn's snapshot of a store. */
CHI_MUSTUSE int chi_worker_read(struct chi_worker *worker, struct chi_served *served,
				struct chi_read **out);

/* Counts a client that nobody knows yet, whose descriptor and handshake cost something; if there
 * are too many the oldest is dropped, which has had the longest time to say who it is. */
void chi_worker_add_unauthenticated(struct chi_worker *worker, struct chi_conn *conn);

/* Does nothing if it is none. */
void chi_worker_remove_unauthenticated(struct chi_worker *worker, struct chi_conn *conn);

/* The connection if it is still the same one, else NULL. */
struct chi_conn *chi_worker_find(struct chi_worker *worker, const struct chi_conn_ref *ref);

/* A place for a connection. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_worker_seat(struct chi_worker *worker, struct chi_conn *conn, uint32_t *slot,
				uint32_t *generation);
void chi_worker_unseat(struct chi_worker *worker, uint32_t slot);
