/* SPDX-License-Identifier: MIT */
/* A loop: its listeners, its mailbox, its clock. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "http/net/conn.h"
#include "http/net/pack.h"
#include "service/events.h"
#include "service/log.h"

#define SPARE_CALLS  64
#define ARENA_BYTES  ((size_t)128 << 20) /* the longest body, and as much again */
#define ANSWER_BYTES ((size_t)64 << 20)
#define KEEP_BYTES   ((size_t)256 << 10) /* memory that a spare call may keep */
#define TICK_MS	     250
#define BODIES_MOST  ((uint64_t)256 << 20) /* of all loops */
#define OUTPUTS_MOST ((uint64_t)256 << 20)

/* ---- Calls ------------------------------------------------------------------------------- */

struct call *loop_call(struct loop *loop)
{
	struct call *call = loop->spare;
	struct chi_arena arena = {.budget = ARENA_BYTES};
	struct writer out = {.failed = false};
	if (call != NULL) {
		loop->spare = call->next;
		loop->n_spare--;
		arena = call->arena;
		out = call->out;
	} else {
		call = malloc(sizeof(*call));
		chi_arena_init(&arena, ARENA_BYTES);
		out_init(&out, ANSWER_BYTES);
	}
	if (call != NULL) {
		*call = (struct call){.loop = loop,
				      .http = 200,
				      .type = "application/json",
				      .arena = arena,
				      .out = out,
				      .tags = "",
				      .type_in = ""};
	}
	return call;
}

static void free_call(struct call *call)
{
	chi_arena_deinit(&call->arena);
	out_deinit(&call->out);
	free(call);
}

void loop_call_done(struct call *call)
{
	struct loop *loop = call->loop;
	chi_shares_give(&loop->bodies, call->share, call->body_len);
	pack_free(call->pack);
	/* Of a stream whose client has gone. */
	chi_close(call->own);
	if (loop->n_spare == SPARE_CALLS || chi_arena_held(&call->arena) > KEEP_BYTES) {
		free_call(call);
		return;
	}
	chi_arena_reset(&call->arena);
	out_reset(&call->out);
	chi_buffer_trim(&call->out.buffer, KEEP_BYTES);
	call->next = loop->spare;
	loop->spare = call;
	loop->n_spare++;
}

/* ---- Mail and time ----------------------------------------------------------------------- */

static void deliver_call(struct chi_mail *mail, void *loop)
{
	(void)loop;
	conn_answered((struct call *)(void *)((char *)mail - offsetof(struct call, mail)));
}

void loop_post(struct call *call)
{
	call->mail.deliver = deliver_call;
	chi_loop_post(&call->loop->turns, &call->mail);
}

static void deliver_move(struct chi_mail *mail, void *owner)
{
	struct loop *loop = owner;
	struct chi_fault fault;
	(void)mail;
	atomic_store(&loop->moving, false);
	if (session_ready(&loop->session, &fault) < 0) {
		/* The next call tries again. */
		log_limited_warning("store.behind", "cannot go over to the newest copy ({cause})",
				    log_text("cause", fault.text));
	}
}

void loop_go_over(struct loop *loop)
{
	if (!atomic_exchange(&loop->moving, true)) {
		loop->move_mail.deliver = deliver_move;
		chi_loop_post(&loop->turns, &loop->move_mail);
	}
}

static bool tick_conns(void *owner, int64_t now, bool late)
{
	struct loop *loop = owner;
	for (struct conn *conn = loop->conns, *next; conn != NULL; conn = next) {
		next = conn->next;
		if (late) {
			conn_close(conn);
		} else {
			conn_tick(conn, now);
		}
	}
	return loop->conns != NULL;
}

/* Idle connections go at once; the others with their answers, or when the time is over. */
static void drain(void *owner)
{
	struct loop *loop = owner;
	chi_listener_stop(&loop->listener);
	chi_sockets_close(loop->sockets);
	tick_conns(loop, chi_now_ms(), false);
}

static bool settle_loop(void *owner)
{
	return ((struct loop *)owner)->conns == NULL;
}

static const struct chi_loop_ops turns = {
	.leave = drain, .tick = tick_conns, .settle = settle_loop};

/* ---- Listening --------------------------------------------------------------------------- */

static bool is_of(const struct conn *conn, const struct chi_peer_address *from)
{
	return chi_peer_number(&conn->from) == chi_peer_number(from);
}

/* The oldest that waits for nothing makes room, of one peer or (NULL) of all: the list has the
 * newest first. One that an answer is still sent to waits for that. */
static bool make_place(struct loop *loop, const struct chi_peer_address *from)
{
	struct conn *oldest = NULL;
	for (struct conn *conn = loop->conns; conn != NULL; conn = conn->next) {
		bool waits = conn->state == CONN_LINGER ||
			     (conn->state == CONN_IDLE && conn->out.len == 0);
		oldest = waits && (from == NULL || is_of(conn, from)) ? conn : oldest;
	}
	if (oldest != NULL) {
		conn_close(oldest);
	}
	return oldest != NULL;
}

/* A proxy that is trusted asks for many: it may have them all. */
static bool has_place(struct loop *loop, const struct chi_peer_address *from)
{
	struct chi_shares *places = &loop->places;
	if (!server_is_proxy(loop->server, from) &&
	    !chi_shares_may(places, chi_peer_number(from), 1)) {
		return make_place(loop, from);
	}
	return places->used < places->most || make_place(loop, NULL);
}

static bool drop_idle(void *owner)
{
	return make_place(owner, NULL);
}

static void take_conn(void *owner, int fd, const struct chi_listen *listen)
{
	struct loop *loop = owner;
	struct chi_peer_address from;
	(void)listen;
	chi_counter_add(&loop->counters.accepted, 1);
	chi_peer_of(fd, &from);
	if (has_place(loop, &from)) {
		conn_new(loop, fd, &from);
	} else {
		chi_counter_add(&loop->counters.refused, 1);
		close(fd);
	}
}

static const struct chi_listener_ops door = {take_conn, drop_idle};

/* ---- Life -------------------------------------------------------------------------------- */

static int begin_loop(struct loop *loop, struct chi_fault *fault)
{
	const struct http_config *config = loop->server->config;
	if (cache_new((size_t)config->cache_bytes, &loop->cache) < 0) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int status = chi_loop_init(&loop->turns, &turns, loop, TICK_MS, fault);
	if (status == CHI_OK) {
		status = chi_listener_start(&loop->listener, loop->turns.base, loop->sockets, &door,
					    loop, fault);
	}
	return status == CHI_OK && config->in_process ? session_ready(&loop->session, fault)
						      : status;
}

int loop_new(struct http_server *server, struct chi_sockets *sockets, struct loop **out,
	     struct chi_fault *fault)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	*out = loop;
	if (loop == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	loop->sockets = sockets;
	loop->server = server;
	session_init(&loop->session, &server->place);
	int status = begin_loop(loop, fault);
	if (status < 0) {
		loop_free(loop);
		*out = NULL;
	}
	return status;
}

int loop_start(struct loop *loop, struct chi_fault *fault)
{
	const struct http_config *config = loop->server->config;
	size_t n = loop->server->n_loops;
	loop->places.most = config->connections / n + 1;
	loop->bodies.most = BODIES_MOST / n;
	loop->output.most = OUTPUTS_MOST / n;
	return chi_loop_start(&loop->turns, fault);
}

void loop_free(struct loop *loop)
{
	chi_listener_stop(&loop->listener);
	while (loop->conns != NULL) {
		conn_close(loop->conns);
	}
	if (loop->turns.ops != NULL) {
		/* What workers gave back meanwhile. */
		chi_loop_deliver(&loop->turns);
	}
	while (loop->spare != NULL) {
		struct call *call = loop->spare;
		loop->spare = call->next;
		free_call(call);
	}
	chi_loop_deinit(&loop->turns);
	session_close(&loop->session);
	cache_free(loop->cache);
	chi_buffer_pool_deinit(&loop->buffers);
	free(loop);
}
