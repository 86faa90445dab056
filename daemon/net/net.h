/* SPDX-License-Identifier: MIT */
/*
 * A worker: one thread, one event loop, and the connections it was given. All requests that are
 * ready in one turn of the loop are served together (serve_ready), on one snapshot a store, and
 * their answers leave together; the probes of all clients are looked up as one batch.
 *
 * One header for worker.c, conn.c (a connection's life), conn_io.c (its bytes) and probe_batch.c: a
 * worker and its connections are one thing. All runs on the worker's thread, unless it says other.
 */
#pragma once

#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/tls.h"
#include "chistore/types.h"
#include "daemon/access/certificate.h"
#include "daemon/access/guard.h"
#include "daemon/net/tally.h"
#include "service/net/buffer_pool.h"
#include "daemon/settings/limits.h"
#include "proto/msg.h"
#include "service/net/loop.h"

struct chi_call;
struct chi_conn;
struct chi_read;
struct chi_run;
struct chi_served;
struct chi_server;
struct chi_worker;
struct chi_worker_barrier;
struct event;
struct event_base;

/* ---- A batch of probes ------------------------------------------------------------------- */

/*
 * Probes of one turn, gathered: those of all clients that were ready are looked up together, so
 * that their waits for memory overlap, and only then answered. A probe for one position, alone,
 * is one that waits; fifty of them from fifty clients are a batch.
 *
 * Between turns nothing is gathered. A connection that is dropped meanwhile stays until the turn's
 * end, and answering it is harmless.
 */
/* Once so much is gathered it is answered: longer batches are no faster, and answers that wait
 * are answers that a client's limits do not see. */
#define CHI_PROBE_BATCH_KEYS	 256
#define CHI_PROBE_BATCH_REQUESTS 256

struct chi_batched_probe {
	struct chi_conn *conn;
	uint64_t id;
	uint32_t n; /* keys */
};

struct chi_probe_batch {
	struct chi_served *served; /* which all probes gathered ask */
	/* Room for CHI_PROBE_BATCH_KEYS and one more request's. */
	struct chi_key keys[CHI_PROBE_BATCH_KEYS + CHI_PROBE_MAX];
	struct chi_row rows[CHI_PROBE_BATCH_KEYS + CHI_PROBE_MAX];
	size_t n_keys;
	struct chi_batched_probe requests[CHI_PROBE_BATCH_REQUESTS];
	size_t n_requests;
};

/* ---- Workers ----------------------------------------------------------------------------- */

TAILQ_HEAD(chi_conn_list, chi_conn);
TAILQ_HEAD(chi_run_list, chi_run);

/* Names a connection for other threads, which must not look at it. */
struct chi_conn_ref {
	struct chi_worker *worker;
	uint64_t serial;
};

struct chi_worker {
	struct chi_server *server;
	size_t index;
	struct chi_loop loop;
	bool stopping; /* what was received is served; then nothing more is read */
	struct chi_mail barrier_mail;
	struct chi_worker_barrier *barrier; /* of that mail */
	struct chi_mail authorize_mail;
	atomic_bool authorizing;   /* authorize_mail is on its way */
	struct event *serve_event; /* activated when something is ready or to be sent */
	struct event *slice_event; /* runs while a run can go on */
	bool serving;		   /* serve_event is due already */

	uint64_t lost;	       /* the connection whose ASYNC writes were lost last; 0: none */
	atomic_size_t n_conns; /* with those that are in its mail; other threads look at it */
	struct chi_conn_list conns;
	struct chi_conn_list ready; /* have bytes to be served */
	struct chi_conn_list dirty; /* have output to be sent */
	struct chi_conn_list dead;  /* freed at the end of the callback */

	struct chi_conn_list unauthenticated; /* over TLS, without a hello; the oldest first */
	size_t n_unauthenticated;
	bool crowded;	   /* that was logged, until there are fewer */
	unsigned n_shakes; /* handshakes gone on with in this turn */

	struct chi_run_list runs;     /* all of them */
	struct chi_run_list runnable; /* those that can go on */
	atomic_size_t n_runnable;     /* other threads look at it, */
	atomic_size_t n_coming;	      /* and add to this: queries that are given to this worker */
	size_t n_tasks;		      /* threads and children that must end before the worker */

	int64_t turn_us;   /* when the requests being served were taken up */
	int64_t asked_us;  /* with --spin: when the last ones had been served */
	int64_t answer_us; /* the time, while answers share it; else 0 */

	/* Of the request being served. */
	struct chi_arena requests;
	struct chi_arena results;
	struct chi_read *reads[CHI_STORES_MAX]; /* this turn's snapshots, begun when needed */
	struct chi_probe_batch probe_batch;	/* this turn's probes */

	struct chi_buffer_pool buffer_pool;
	uint8_t chunk[CHI_READ_CHUNK]; /* where clients without a begun request are read */

	struct chi_tally tally;
};

CHI_MUSTUSE int chi_worker_new(struct chi_server *server, size_t index, struct chi_worker **out,
			       struct chi_fault *fault);

/* Waits for the thread to end, if it was started, and frees everything. NULL is fine. */
void chi_worker_free(struct chi_worker *worker);

/* Any thread: gives it a connected socket. */
CHI_MUSTUSE int chi_worker_give(struct chi_worker *worker, int fd, const struct chi_listen *listen);

/* Any thread: has it judge all its clients again. */
void chi_worker_authorize(struct chi_worker *worker);

/* What follows is for the worker's own thread. */

/* Ends the snapshots of all runs; they go on with new ones. */
void chi_worker_release_reads(struct chi_worker *worker);

/* Has the worker's serve callback run in this turn, or in the next one. */
void chi_worker_wake(struct chi_worker *worker);

/* This turn's snapshot of a store. */
CHI_MUSTUSE int chi_worker_read(struct chi_worker *worker, struct chi_served *served,
				struct chi_read **out);

/* Counts a client that is not identified yet, whose descriptor and handshake cost something; if
 * there are too many the oldest is dropped, which has had the longest time to say who it is. */
void chi_worker_add_unauthenticated(struct chi_worker *worker, struct chi_conn *conn);

/* Does nothing if it is none. */
void chi_worker_remove_unauthenticated(struct chi_worker *worker, struct chi_conn *conn);

/* The connection if it is still there, else NULL. Looks through them all. */
struct chi_conn *chi_worker_find(struct chi_worker *worker, const struct chi_conn_ref *ref);

/* ---- Which worker serves a connection (spread.c) ------------------------------------------ */

/* Main: who takes a new one. `evenly`: in turn, else as spread.c says. */
struct chi_worker *chi_spread_pick(struct chi_server *server, bool evenly);

/* A query is about to begin. True if another worker has fewer: the connection is given to it when
 * its callback returns, with the request. */
bool chi_spread_query(struct chi_conn *conn);

/* What the connection was given to this worker for has begun, or never will. */
void chi_spread_arrived(struct chi_conn *conn);

/* ---- A standstill of all workers --------------------------------------------------------- */

/*
 * One thread asks every worker to do something between two of its callbacks, waits until all have
 * done it, and may keep them waiting until it is through with something of its own. Each gets a
 * mail; delivering it runs the action, counts the worker as arrived, and waits if the barrier is
 * closed. So the action finds the worker in order: no request half served, no snapshot of the turn
 * open.
 */
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

/* An action, before another copy is served: ends the snapshots of the turn, if there are any, and
 * has the worker's runs looked at soon. */
void chi_worker_change_copy(struct chi_worker *worker);

/* Lets the workers go on. Always to be called. */
void chi_worker_barrier_open(struct chi_worker_barrier *barrier);

/* Another thread, under the server's compact_lock: has all workers answer what they have received
 * and end all streams; nothing more is read from clients. Returns when all have. */
void chi_worker_quiesce_all(struct chi_server *server);

/* ---- Connections ------------------------------------------------------------------------- */

/*
 * One client: a socket, two buffers that exist only while they hold something, and the requests
 * that are not answered yet. Everything here runs on the worker's thread.
 */
enum chi_conn_state {
	CHI_CONN_HELLO,	 /* nothing but Hello may come */
	CHI_CONN_OPEN,	 /* requests are served */
	CHI_CONN_ENDING, /* nothing more is read; closes when what is owed has been sent */
	CHI_CONN_LINGER, /* all is sent; input is thrown away so that the peer can read the rest */
	CHI_CONN_DEAD,	 /* closed; the struct lives until the end of the callback */
};

/* What a request that answers by and by does when something happens to it. */
struct chi_call_ops {
	/* Credit has come, or output has drained: go on if possible. */
	void (*resume)(struct chi_call *call);
	/* The call has been taken off its connection: stop and free. Sends nothing. */
	void (*close)(struct chi_call *call);
	/* True if the call's own last answer will come, and no one else may answer for it: its
	 * client has ended its input, or wants it to stop (`cancel`). NULL: always false. */
	bool (*finishes)(struct chi_call *call, bool cancel);
};

/* A request in flight. Embedded in the stream's own struct, or (ops NULL) in the answer that the
 * writer will give to a write. */
struct chi_call {
	TAILQ_ENTRY(chi_call) link;
	struct chi_conn *conn; /* NULL once closed */
	const struct chi_call_ops *ops;
	uint64_t id;
	enum chi_op op;
	uint32_t credits; /* responses it may send */
	int64_t since_us; /* when it was taken up; 0 once its last answer is counted */
};

TAILQ_HEAD(chi_call_list, chi_call);

struct chi_conn {
	TAILQ_ENTRY(chi_conn) all_link;
	TAILQ_ENTRY(chi_conn) ready_link;
	TAILQ_ENTRY(chi_conn) dirty_link;
	struct chi_worker *worker;
	struct event readable;
	struct event writable;
	int fd;
	uint64_t serial; /* from 1; no other of the server had it */
	enum chi_conn_state state;
	struct chi_tls *tls; /* NULL: plain */
	TAILQ_ENTRY(chi_conn) unauthenticated_link;
	bool is_unauthenticated; /* on the worker's list: over TLS, and has not said hello */
	enum chi_role role;	 /* NONE until it has said hello */
	uint64_t judged;	 /* the guard's `changes` when that was decided */
	uint32_t peer;		 /* chi_guard_peer, once it has said hello */
	const struct chi_listen *listen;
	uint8_t *token; /* digest of the one that came with hello; NULL: none */
	bool reading;	/* `readable` is added */
	bool writing;	/* `writable` is added */
	bool is_ready;	/* on the worker's list */
	bool is_dirty;	/* on the worker's list */
	bool paused;	/* not served until output has drained */
	bool at_end;	/* the client has closed its side */
	bool batched;	/* has probes that are answered later in this turn */
	bool pinned;	/* writes that were answered may still be lost: its worker must know it */
	bool came_for_query;	    /* it was given to this worker for the request at hand */
	struct chi_worker *move_to; /* who is to serve that; NULL: its worker */
	struct chi_mail move_mail;
	struct chi_buffer in;
	struct chi_buffer out;
	size_t accounted; /* bytes counted in server->buffered */
	size_t skip;	  /* bytes of a refused request that are still to be thrown away */
	int64_t frame_by; /* ms: when a begun frame must be whole; 0: none has begun */
	int64_t sent_at;  /* ms: last progress of output; meaningful while there is some, as is */
	size_t sent;	  /* what was sent since */
	int64_t linger_by;
	struct chi_call_list calls;
	size_t n_calls;
	uint64_t closed_id;   /* of the request that was in flight until just now, to answer it */
	int64_t closed_since; /* us; 0: none */
	char client[CHI_CLIENT_NAME_MAX + 1]; /* what it calls itself, fit for the log */
	uint64_t deletes; /* requests of this kind: the first is logged, and their number at the end
			   */
};

/* Takes the descriptor in every case; it was accepted at `listen`. */
void chi_conn_new(struct chi_worker *worker, int fd, const struct chi_listen *listen);

/* True if nothing ties it to its worker. */
bool chi_conn_may_move(const struct chi_conn *conn);

/* Gives one that may be moved to its `move_to`, with what it has sent. The caller must not touch it
 * any more. */
void chi_conn_move(struct chi_conn *conn);

/* It has said hello, and has access. */
void chi_conn_welcome(struct chi_conn *conn);

/* Decides by the files of this moment what the client may do; see chi_guard_authorize. */
CHI_MUSTUSE int chi_conn_role(struct chi_conn *conn, enum chi_role *role, const char **why);

/* The files have changed. A client whose role is lowered is told so and closed, with
 * all that it was about to do; one that has won goes on with its new role. */
void chi_conn_authorize(struct chi_conn *conn);

/* The only way to another state: connections are counted by it. */
void chi_conn_enter(struct chi_conn *conn, enum chi_conn_state state);

/* Closes at once; what was in flight is forgotten. The struct stays until the callback's end. */
void chi_conn_drop(struct chi_conn *conn, const char *reason);

/* The same, because the client does not read. */
void chi_conn_cut_off(struct chi_conn *conn);

/* Frees connections that were dropped in this callback. */
void chi_conn_reap(struct chi_worker *worker);

/* Serves up to CHI_FRAMES_PER_WAKEUP requests. True if whole requests are left. */
bool chi_conn_serve(struct chi_conn *conn);

/* Sends once, and sees to it that the rest follows. */
void chi_conn_flush(struct chi_conn *conn);

/* No further request is read; closes when all answers owed are sent. */
void chi_conn_end(struct chi_conn *conn);

/* Ends the connection's streams; with `tell` each gets a last answer, CANCELED. */
void chi_conn_cancel_streams(struct chi_conn *conn, bool tell);

/* The worker stops: what the client has sent and is not served yet is dropped,
 * what it sends from now on is left where it is. */
void chi_conn_stop_reading(struct chi_conn *conn);

/* Looks at the deadlines. True if there are any to be looked at again. */
bool chi_conn_tick(struct chi_conn *conn, int64_t now);

struct chi_conn_ref chi_ref_of_conn(const struct chi_conn *conn);

/* What the log calls it: never the same for two of a process. */
struct chi_conn_name {
	char text[24];
};

struct chi_conn_name chi_name_of_conn(const struct chi_conn *conn);

/* The peer's name for the log; valid while the connection is open. */
static inline struct chi_peer_name chi_conn_peer(const struct chi_conn *conn)
{
	return chi_peer_name_of(conn->fd, conn->tls);
}

/* Adds or takes off a request in flight. */
void chi_call_add(struct chi_conn *conn, struct chi_call *call);
void chi_call_remove(struct chi_call *call);

/* Something is wrong with what belongs to the request in flight with that id: it is ended without
 * an answer. False if its own last answer will come instead. */
bool chi_call_give_up(struct chi_conn *conn, uint64_t id);
struct chi_call *chi_call_find(struct chi_conn *conn, uint64_t id);

/* The credits that a window asked for gives: 0 means the default. */
static inline uint32_t chi_call_window(uint32_t asked)
{
	uint32_t window = asked == 0 ? CHI_WINDOW_DEFAULT : asked;
	return window < CHI_WINDOW_MAX ? window : CHI_WINDOW_MAX;
}

/* True if the call may send a response now. */
bool chi_call_may_send(const struct chi_call *call);

/* Packs a response; it is sent at the end of the turn. One that is too large becomes an error;
 * if not even that can be sent, the connection is dropped. The worker's `results` give scratch
 * memory and are not reset. */
void chi_conn_answer(struct chi_conn *conn, const struct chi_response *response);

/* The last answer to a request that failed. `field` may be NULL; so may `text`, or be empty: then
 * it is that of the status. */
void chi_conn_fail(struct chi_conn *conn, uint64_t id, enum chi_op op, int status,
		   const char *field, const char *text);

/* ---- Their bytes (conn_io.c) -------------------------------------------------------------- */

/* Starts reading. */
void chi_conn_io_init(struct chi_conn *conn);

/* Takes it out of the event loop and off the worker's lists. */
void chi_conn_io_deinit(struct chi_conn *conn);

/* Has the output sent, or the end considered, at the end of the turn. */
void chi_conn_mark_dirty(struct chi_conn *conn);

/* Lends one of the worker's buffers for an answer, unless the connection has one.
 * `size`: as chi_response_size has it. */
void chi_conn_lend_out(struct chi_conn *conn, size_t size);

/* Brings server->buffered up to date. */
void chi_conn_account(struct chi_conn *conn);

/* As recv() and send() of a non-blocking socket; EPROTO, ENOMEM: conn->tls->why. */
static inline ssize_t chi_transport_recv(struct chi_conn *conn, void *out, size_t room)
{
	return conn->tls == NULL ? recv(conn->fd, out, room, 0)
				 : chi_tls_read(conn->tls, out, room);
}

static inline ssize_t chi_transport_send(struct chi_conn *conn, const void *bytes, size_t len)
{
	return conn->tls == NULL ? send(conn->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT)
				 : chi_tls_write(conn->tls, bytes, len);
}

/* There may be buffered bytes that the socket no longer reports. */
static inline bool chi_transport_has_more(const struct chi_conn *conn)
{
	return conn->tls != NULL && conn->tls->more;
}

/* Even reading has to wait until the socket is writable. */
static inline bool chi_transport_wants_room(const struct chi_conn *conn)
{
	return conn->tls != NULL && conn->tls->wants_room;
}

/* Still shaking hands: its identity is unknown. */
static inline bool chi_transport_is_shaking(const struct chi_conn *conn)
{
	return conn->tls != NULL && !conn->tls->up;
}

/* ---- Probes in batches (probe_batch.c) ---------------------------------------------------- */

/* The quick way: takes the body of a frame if it is a probe in its plain form and nothing is
 * against answering it. False: it has to go the usual way (ops/read.c). */
CHI_MUSTUSE bool chi_probe_batch_frame(struct chi_conn *conn, const uint8_t *body, size_t len);

/* Looks up and answers what is gathered. */
void chi_probe_batch_answer(struct chi_worker *worker);
