/* SPDX-License-Identifier: MIT */
/*
 * The server: loops that own connections, each on a thread with sockets of its own (SO_REUSEPORT),
 * and workers that run what takes long.
 *
 *	connection -> head -> call -> route -> handler -> answer
 *	                               |          ^ on the loop, if the store is a directory and the
 *	                               |          | route is short
 *	                               +-> pool --+ on a worker; its answer comes back by the
 *	                                            loop's mailbox
 *
 * A call belongs to its loop but while a worker has it.
 *
 * Whatever is limited is shared by peers (service/net/shares.h): connections, bodies and output of
 *a loop, places in the workers' queue, and the workers.
 */
#pragma once

#include <event2/event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/net/call.h"
#include "http/net/config.h"
#include "http/net/session.h"
#include "http/net/unknown.h"
#include "service/access.h"
#include "service/metrics.h"
#include "service/net/buffer_pool.h"
#include "service/net/listener.h"
#include "service/net/loop.h"
#include "service/net/main_loop.h"
#include "service/net/peer.h"
#include "service/net/shares.h"

struct http_server;
struct page;

/* Finds the route of a path; NULL: there is none. */
typedef const struct route *route_finder(const struct http_server *server, const char *path);

/* Statuses 100..599 by their first digit. */
#define STATUS_CLASSES 6

/* Counted by a loop alone, read by any. */
struct http_counters {
	chi_counter requests[STATUS_CLASSES]; /* answered, by class of status */
	chi_counter accepted;
	chi_counter refused;  /* connections over the limit */
	chi_counter expired;  /* connections closed for being slow */
	chi_counter received; /* bytes */
	chi_counter sent;
	chi_counter cached;	/* answers from the cache */
	chi_counter compressed; /* answers that were, streams aside */
	chi_counter open;	/* connections now */
	chi_counter busy_us;	/* time that calls took, waiting included */
};

struct pool {
	struct http_server *server;
	pthread_mutex_t lock;
	pthread_cond_t some;
	struct call *first; /* waiting, the oldest first */
	struct call **last;
	struct chi_shares waiting;
	struct chi_shares running;
	bool stopping;
	pthread_t threads[HTTP_THREADS_MAX];
	size_t n;
};

struct http_server {
	struct chi_main_loop main;
	const struct http_config *config;
	route_finder *find;
	struct page *page;
	const char *const
		*services; /* names of those whose interfaces are served; the last is NULL */
	struct chi_rules rules;
	struct loop *loops[HTTP_THREADS_MAX];
	size_t n_loops;
	struct http_place place;
	struct event *look; /* at the place, now and then */
	struct pool pool;
	struct unknown *unknown;		      /* NULL: nothing is written */
	struct chi_sockets sockets[HTTP_THREADS_MAX]; /* of each loop */
};

/* ---- loop.c ------------------------------------------------------------------------------ */

struct loop {
	struct http_server *server;
	struct chi_loop turns;
	struct session session; /* open if the store is a directory */
	struct chi_mail move_mail;
	atomic_bool moving; /* that is on its way */
	struct chi_sockets *sockets;
	struct chi_listener listener;
	struct conn *conns; /* all that are open */
	struct call *spare; /* to be used again */
	size_t n_spare;
	struct chi_shares places;	/* connections */
	struct chi_shares bodies;	/* bytes of the bodies of its calls */
	struct chi_shares output;	/* bytes that clients have not read yet */
	struct chi_buffer_pool buffers; /* of its connections */
	struct cache *cache;
	struct http_counters counters;
};

/* `sockets` are closed when the loop drains, and stay the server's. */
CHI_MUSTUSE int loop_new(struct http_server *server, struct chi_sockets *sockets, struct loop **out,
			 struct chi_fault *fault);
CHI_MUSTUSE int loop_start(struct loop *loop, struct chi_fault *fault);
void loop_free(struct loop *loop);

/* Another copy is served: the loop's session goes over to it. Any thread, before the loop is freed.
 */
void loop_go_over(struct loop *loop);

/* A zeroed call with its memory ready; NULL without memory. */
struct call *loop_call(struct loop *loop);
void loop_call_done(struct call *call);

/* Worker threads: gives a call back to its loop. */
void loop_post(struct call *call);

/* ---- pool.c ------------------------------------------------------------------------------ */

CHI_MUSTUSE int pool_start(struct pool *pool, struct http_server *server, struct chi_fault *fault);
/* Ends the threads after the calls that they have; those that wait are given back as canceled. */
void pool_stop(struct pool *pool);
/* -CHI_EBUSY: too many wait, of all or of the peer's. */
CHI_MUSTUSE int pool_submit(struct pool *pool, struct call *call);

/* Another copy is served: threads that wait close the old one. Any thread. */
void pool_go_over(struct pool *pool);

/* Runs the handler; call->result. Any thread that has a session. */
void call_run(struct call *call, struct session *session);

/* ---- conn.c ------------------------------------------------------------------------------ */

/* Takes over an accepted socket. */
void conn_new(struct loop *loop, int fd, const struct chi_peer_address *from);
/* A worker has given the call back. */
void conn_answered(struct call *call);
/* Once a second: closes it if it is too slow, or idle at the end. */
void conn_tick(struct conn *conn, int64_t now_ms);
void conn_close(struct conn *conn);

/* ---- authorize.c ------------------------------------------------------------------------- */

/* The role of a request with that Authorization field; *shown: by a token of the rules; *why if it
 * is none. */
enum chi_role server_authorize(struct http_server *server, struct chi_slice authorization,
			       bool *shown, const char **why);
/* Whether that is a proxy whose word is taken for who asks. */
bool server_is_proxy(const struct http_server *server, const struct chi_peer_address *from);
/* Who asks. */
void server_find_peer(const struct conn *conn, const struct chi_http_head *head,
		      struct chi_peer_address *out);
/* Why nothing is written for a request without a token, static: a browser sends it for a page of
 * another site, or may have been led here by one under a name of its own. NULL: nothing is against
 * it. */
const char *server_write_ban(const struct conn *conn, const struct chi_http_head *head);
/* The line of the log for a call that was answered: of each that was refused or writes. */
void call_audit(const struct call *call);

/* The page for Prometheus. */
void server_metrics(struct http_server *server, struct writer *out);
