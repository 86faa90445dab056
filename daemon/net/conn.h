/* SPDX-License-Identifier: MIT */
/*
 * One client: a socket, two buffers that exist only while they hold something, and the requests
 * that are not answered yet. Everything here runs on the worker's thread.
 */
#pragma once

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buffer.h"
#include "chistore/types.h"
#include "daemon/access/guard.h"
#include "daemon/access/peer_name.h"
#include "daemon/net/worker.h"
#include "proto/msg.h"

struct chi_call;
struct chi_conn;

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
	/* True if the call's own last answer will come, and nobody else may answer for it: its
	 * client has ended its input, or wants it to stop (`cancel`). NULL: always false. */
	bool (*finishes)(struct chi_call *call, bool cancel);
};

/* A request in flight. Embedded in the stream's own struct, or alone on the heap (ops NULL) for
 * a write that the writer will answer. */
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
	uint32_t slot;
	uint32_t generation;
	enum chi_conn_state state;
	struct chi_tls *tls; /* NULL: plain */
	TAILQ_ENTRY(chi_conn) unauthenticated_link;
	bool is_unauthenticated; /* on the worker's list: over TLS, and has not said hello */
	enum chi_role role;	 /* NONE until it has said hello */
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
	struct chi_buffer in;
	struct chi_buffer out;
	size_t accounted; /* bytes counted in server->buffered */
	size_t skip;	  /* bytes of a refused request that are still to be thrown away */
	int64_t frame_by; /* ms: when a begun frame must be whole; 0: none has begun */
	int64_t sent_at;  /* ms: last progress of output; meaningful while there is some */
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

/* It has said hello, and been let in. */
void chi_conn_welcome(struct chi_conn *conn);

/* Decides by the files of this moment what the client may do; see chi_guard_authorize. */
CHI_MUSTUSE int chi_conn_role(const struct chi_conn *conn, enum chi_role *role, const char **why);

/* The files have changed. A client that is left with less than it had is told so and closed, with
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

struct chi_conn_ref chi_conn_ref(const struct chi_conn *conn);

/* What the log calls it: never the same for two of a process. */
struct chi_conn_name {
	char text[36];
};

struct chi_conn_name chi_conn_name(const struct chi_conn *conn);

/* Who the log says is at the other end; while the connection is open. */
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
