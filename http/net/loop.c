/* SPDX-License-Identifier: MIT */
/* A loop: its listeners, its mailbox, its clock. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "http/net/conn.h"
#include "http/net/pack.h"
#include "service/events.h"

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
	if (call->kept != NULL) {
		kept_done(NULL, 0, call->kept);
	}
	pack_free(call->pack);
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

/* ---- Mail -------------------------------------------------------------------------------- */

static void wake(struct loop *loop)
{
	uint64_t one = 1;
	ssize_t n = write(loop->mail, &one, sizeof(one));
	(void)n; /* full: it is awake */
}

void loop_post(struct call *call)
{
	struct loop *loop = call->loop;
	pthread_mutex_lock(&loop->mail_lock);
	call->next = loop->mail_list;
	loop->mail_list = call;
	pthread_mutex_unlock(&loop->mail_lock);
	wake(loop);
}

static void take_mail(struct loop *loop)
{
	pthread_mutex_lock(&loop->mail_lock);
	struct call *call = loop->mail_list;
	loop->mail_list = NULL;
	pthread_mutex_unlock(&loop->mail_lock);
	while (call != NULL) {
		struct call *next = call->next;
		conn_answered(call);
		call = next;
	}
}

/* Idle connections go at once; the others with their answers, or when the time is over. */
static void drain(struct loop *loop)
{
	loop->draining = true;
	loop->stop_at_ms = chi_now_ms() + (int64_t)loop->server->config->stop_ms;
	chi_listener_stop(&loop->listener);
	chi_sockets_close(loop->sockets);
}

static void on_mail(evutil_socket_t fd, short what, void *context)
{
	struct loop *loop = context;
	uint64_t n = 0;
	(void)what;
	ssize_t got = read(fd, &n, sizeof(n));
	(void)got;
	take_mail(loop);
	if (atomic_load(&loop->stop) && !loop->draining) {
		drain(loop);
		event_active(loop->tick, EV_TIMEOUT, 1);
	}
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	struct loop *loop = context;
	struct timeval pause = chi_event_ms(TICK_MS);
	int64_t now = chi_now_ms();
	(void)fd;
	(void)what;
	for (struct conn *conn = loop->conns, *next; conn != NULL; conn = next) {
		next = conn->next;
		if (loop->draining && now >= loop->stop_at_ms) {
			conn_close(conn);
		} else {
			conn_tick(conn, now);
		}
	}
	if (loop->draining && loop->conns == NULL) {
		event_base_loopbreak(loop->base);
		return;
	}
	chi_event_add(loop->tick, &pause);
}

/* ---- Listening --------------------------------------------------------------------------- */

static bool is_of(const struct conn *conn, const struct chi_peer_address *from)
{
	return chi_peer_number(&conn->from) == chi_peer_number(from);
}

/* The oldest that waits for nothing makes room, of one peer or (NULL) of all: the list has the
 * newest first. One that an answer is still sent to waits for that. */
static bool make_room(struct loop *loop, const struct chi_peer_address *from)
{
	struct conn *oldest = NULL;
	for (struct conn *conn = loop->conns; conn != NULL; conn = conn->next) {
		bool waits = conn->state == CONN_LINGER ||
			     (conn->state == CONN_IDLE && evbuffer_get_length(conn->out) == 0);
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
		return make_room(loop, from);
	}
	return places->used < places->most || make_room(loop, NULL);
}

static bool drop_idle(void *owner)
{
	return make_room(owner, NULL);
}

static void take_conn(void *owner, int fd, const struct chi_listen *listen)
{
	struct loop *loop = owner;
	struct chi_peer_address from;
	(void)listen;
	count(&loop->counters.accepted, 1);
	chi_peer_of(fd, &from);
	if (has_place(loop, &from)) {
		conn_new(loop, fd, &from);
	} else {
		count(&loop->counters.refused, 1);
		close(fd);
	}
}

static const struct chi_listener_ops door = {take_conn, drop_idle};

/* ---- Life -------------------------------------------------------------------------------- */

static int begin_loop(struct loop *loop, struct chi_fault *fault)
{
	const struct http_config *config = loop->server->config;
	loop->base = event_base_new();
	loop->mail = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (loop->base == NULL || loop->mail < 0 ||
	    cache_new((size_t)config->cache_bytes, &loop->cache) < 0) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	loop->mail_event = event_new(loop->base, loop->mail, EV_READ | EV_PERSIST, on_mail, loop);
	loop->tick = evtimer_new(loop->base, on_tick, loop);
	if (loop->mail_event == NULL || loop->tick == NULL ||
	    event_add(loop->mail_event, NULL) < 0) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int status =
		chi_listener_start(&loop->listener, loop->base, loop->sockets, &door, loop, fault);
	return status == CHI_OK && config->in_process ? session_open(&loop->session, config, fault)
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
	loop->mail = -1;
	loop->session.config = server->config;
	pthread_mutex_init(&loop->mail_lock, NULL);
	int status = begin_loop(loop, fault);
	if (status < 0) {
		loop_free(loop);
		*out = NULL;
	}
	return status;
}

static void *turn(void *context)
{
	struct loop *loop = context;
	struct timeval pause = chi_event_ms(TICK_MS);
	chi_event_add(loop->tick, &pause);
	event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
	return NULL;
}

int loop_start(struct loop *loop, struct chi_fault *fault)
{
	const struct http_config *config = loop->server->config;
	size_t n = loop->server->n_loops;
	loop->places.most = config->connections / n + 1;
	loop->bodies.most = BODIES_MOST / n;
	loop->output.most = OUTPUTS_MOST / n;
	loop->started = pthread_create(&loop->thread, NULL, turn, loop) == 0;
	return loop->started ? CHI_OK : chi_fail(fault, -CHI_ENOMEM, "cannot start a thread");
}

void loop_stop(struct loop *loop)
{
	atomic_store(&loop->stop, true);
	wake(loop);
}

void loop_join(struct loop *loop)
{
	if (loop->started) {
		pthread_join(loop->thread, NULL);
		loop->started = false;
	}
}

void loop_free(struct loop *loop)
{
	drain(loop);
	while (loop->conns != NULL) {
		conn_close(loop->conns);
	}
	if (loop->mail >= 0) {
		/* What workers gave back meanwhile. */
		take_mail(loop);
		close(loop->mail);
	}
	while (loop->spare != NULL) {
		struct call *call = loop->spare;
		loop->spare = call->next;
		free_call(call);
	}
	chi_event_drop(&loop->mail_event);
	chi_event_drop(&loop->tick);
	if (loop->base != NULL) {
		event_base_free(loop->base);
	}
	session_close(&loop->session);
	cache_free(loop->cache);
	pthread_mutex_destroy(&loop->mail_lock);
	free(loop);
}
