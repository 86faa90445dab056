/* SPDX-License-Identifier: MIT */
/* A connection's life, its requests in flight, and its answers; the bytes are in conn_io.c. */
#include "daemon/net/net.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "service/log.h"
#include "daemon/net/server.h"
#include "daemon/net/tally.h"
#include "proto/wire/frame.h"
#include "store/store.h"

/* Unsigned, so that taking one off is adding its complement. */
static void count_state(struct chi_conn *conn, uint64_t by)
{
	chi_counter_add(&conn->worker->tally.connections[conn->state], by);
}

void chi_conn_enter(struct chi_conn *conn, enum chi_conn_state state)
{
	_Static_assert(CHI_CONN_DEAD == CHI_CONN_STATES, "each state but the last is counted");
	chi_spread_arrived(conn);
	count_state(conn, UINT64_MAX);
	conn->state = state;
	if (state != CHI_CONN_DEAD) {
		count_state(conn, 1);
	}
}

/* Makes it one of the worker's, which has counted it since it was given. */
static void join_worker(struct chi_conn *conn, struct chi_worker *worker)
{
	conn->worker = worker;
	TAILQ_INSERT_TAIL(&worker->conns, conn, all_link);
	chi_loop_watch(&worker->loop);
	count_state(conn, 1);
}

void chi_conn_new(struct chi_worker *worker, int fd, const struct chi_listen *listen)
{
	const struct chi_limits *limits = &worker->server->config->limits;
	struct chi_conn *conn = calloc(1, sizeof(*conn));
	if (conn == NULL) {
		log_limited_error("connection.memory",
				  "failed to serve a connection (out of memory)");
		close(fd);
		atomic_fetch_sub(&worker->n_conns, 1);
		atomic_fetch_sub(&worker->server->connections, 1);
		return;
	}
	conn->serial = atomic_fetch_add(&worker->server->opened, 1) + 1;
	join_worker(conn, worker);
	conn->fd = fd;
	conn->listen = listen;
	conn->frame_by = chi_now_ms() + (int64_t)limits->frame_ms;
	TAILQ_INIT(&conn->calls);
	/* Room for the largest request and what came after it in the same read. */
	chi_buffer_init(&conn->in, limits->request_bytes + CHI_FRAME_HEAD_MAX + 2 * CHI_READ_CHUNK);
	/* One response may go over the mark at which the client is cut off. */
	chi_buffer_init(&conn->out, limits->output_close + CHI_FRAME_RESPONSE_MAX + 64);
	if (listen->kind == CHI_LISTEN_TLS &&
	    chi_guard_tls(&worker->server->guard, fd, &conn->tls) < 0) {
		chi_conn_drop(conn, "out of memory");
		chi_conn_reap(worker);
		return;
	}
	if (conn->tls != NULL) {
		chi_worker_add_unauthenticated(worker, conn);
	}
	log_debug("connection.open", "connection {connection} opened",
		  log_text("connection", chi_name_of_conn(conn).text));
	chi_conn_io_init(conn);
}

bool chi_conn_may_move(const struct chi_conn *conn)
{
	return conn->state == CHI_CONN_OPEN && conn->n_calls == 0 && conn->out.len == 0 &&
	       !conn->batched && !conn->pinned && !conn->paused && !conn->at_end &&
	       conn->skip == 0 && !chi_transport_has_more(conn) && !chi_transport_wants_room(conn);
}

/* On its new worker's thread. The rules may have changed while it was on no worker's list; where
 * they change from now on, mail that comes after this has its role judged. */
static void deliver_moved(struct chi_mail *mail, void *worker)
{
	struct chi_conn *conn =
		(struct chi_conn *)(void *)((char *)mail - offsetof(struct chi_conn, move_mail));
	join_worker(conn, worker);
	chi_conn_io_init(conn);
	if (conn->judged != atomic_load(&conn->worker->server->guard.changes)) {
		chi_conn_authorize(conn);
		chi_conn_reap(worker);
	}
}

void chi_conn_move(struct chi_conn *conn)
{
	struct chi_worker *worker = conn->worker;
	struct chi_worker *to = conn->move_to;
	conn->move_to = NULL;
	conn->frame_by = 0; /* its request is whole */
	chi_conn_io_deinit(conn);
	log_debug("connection.move", "connection {connection} goes to worker {worker}",
		  log_text("connection", chi_name_of_conn(conn).text),
		  log_number("worker", to->index));
	count_state(conn, UINT64_MAX);
	TAILQ_REMOVE(&worker->conns, conn, all_link);
	atomic_fetch_sub(&worker->n_conns, 1);
	atomic_fetch_add(&to->n_conns, 1);
	chi_counter_add(&worker->tally.moved_for_query, 1);
	conn->move_mail.deliver = deliver_moved;
	chi_loop_post(&to->loop, &conn->move_mail);
}

struct chi_conn_ref chi_ref_of_conn(const struct chi_conn *conn)
{
	return (struct chi_conn_ref){conn->worker, conn->serial};
}

struct chi_conn_name chi_name_of_conn(const struct chi_conn *conn)
{
	struct chi_conn_name name;
	snprintf(name.text, sizeof(name.text), "%llu", (unsigned long long)conn->serial);
	return name;
}

/* The caller may be deep inside the connection's own code, so nothing of it is freed
 * here but what others own: its calls, and its place. */
void chi_conn_drop(struct chi_conn *conn, const char *reason)
{
	struct chi_worker *worker = conn->worker;
	if (conn->state == CHI_CONN_DEAD) {
		return;
	}
	log_debug("connection.close", "connection {connection} closed ({cause})",
		  log_text("connection", chi_name_of_conn(conn).text), log_text("cause", reason));
	if (conn->deletes > 1) {
		log_info("client.deletes",
			 "'{peer}' made {requests} delete requests as '{client}' (connection "
			 "{connection})",
			 log_text("peer", chi_conn_peer(conn).text),
			 log_number("requests", conn->deletes), log_text("client", conn->client),
			 log_text("connection", chi_name_of_conn(conn).text));
	}
	chi_conn_enter(conn, CHI_CONN_DEAD);
	chi_conn_io_deinit(conn);
	chi_worker_remove_unauthenticated(worker, conn);
	if (conn->tls != NULL) {
		chi_tls_end(conn->tls);
	}
	close(conn->fd);
	conn->fd = -1;
	while (!TAILQ_EMPTY(&conn->calls)) {
		struct chi_call *call = TAILQ_FIRST(&conn->calls);
		chi_counter_add(&worker->tally.abandoned, call->since_us != 0 ? 1 : 0);
		chi_call_remove(call);
		if (call->ops != NULL) {
			call->ops->close(call);
		}
	}
	TAILQ_REMOVE(&worker->conns, conn, all_link);
	atomic_fetch_sub(&worker->n_conns, 1);
	TAILQ_INSERT_TAIL(&worker->dead, conn, all_link);
	/* Main has counted it in. */
	atomic_fetch_sub(&worker->server->connections, 1);
}

void chi_conn_cut_off(struct chi_conn *conn)
{
	chi_counter_add(&conn->worker->tally.cut_off, conn->state != CHI_CONN_DEAD ? 1 : 0);
	chi_conn_drop(conn, "does not read its answers");
}

void chi_conn_reap(struct chi_worker *worker)
{
	while (!TAILQ_EMPTY(&worker->dead)) {
		struct chi_conn *conn = TAILQ_FIRST(&worker->dead);
		TAILQ_REMOVE(&worker->dead, conn, all_link);
		chi_buffer_deinit(&conn->in);
		chi_buffer_deinit(&conn->out);
		chi_conn_account(conn);
		chi_tls_free(conn->tls);
		free(conn->token);
		free(conn);
	}
}

void chi_conn_cancel_streams(struct chi_conn *conn, bool tell)
{
	struct chi_call *next = NULL;
	for (struct chi_call *call = TAILQ_FIRST(&conn->calls); call != NULL; call = next) {
		next = TAILQ_NEXT(call, link);
		if (call->ops == NULL ||
		    (call->ops->finishes != NULL && call->ops->finishes(call, tell))) {
			continue;
		}
		uint64_t id = call->id;
		enum chi_op op = call->op;
		chi_counter_add(&conn->worker->tally.abandoned,
				tell || call->since_us == 0 ? 0 : 1);
		chi_call_remove(call);
		call->ops->close(call);
		if (tell) {
			chi_conn_fail(conn, id, op, -CHI_ECANCELED, NULL, NULL);
			/* That may have dropped the connection, and its calls with it. */
			next = conn->state == CHI_CONN_DEAD ? NULL : next;
		}
	}
}

void chi_conn_end(struct chi_conn *conn)
{
	if (conn->state == CHI_CONN_HELLO || conn->state == CHI_CONN_OPEN) {
		chi_conn_enter(conn, CHI_CONN_ENDING);
		chi_conn_cancel_streams(conn, false);
		chi_conn_mark_dirty(conn);
	}
}

void chi_conn_welcome(struct chi_conn *conn)
{
	const struct chi_visitor visitor = {conn->fd, conn->listen, conn->tls, conn->token};
	conn->peer = chi_guard_peer(&visitor);
	chi_conn_enter(conn, CHI_CONN_OPEN);
	chi_worker_remove_unauthenticated(conn->worker, conn);
}

int chi_conn_role(struct chi_conn *conn, enum chi_role *role, const char **why)
{
	const struct chi_visitor visitor = {conn->fd, conn->listen, conn->tls, conn->token};
	struct chi_guard *guard = &conn->worker->server->guard;
	/* First: what changes meanwhile has it judged again. */
	conn->judged = atomic_load(&guard->changes);
	return chi_guard_authorize(guard, &visitor, role, why);
}

void chi_conn_authorize(struct chi_conn *conn)
{
	const char *why = "";
	if (conn->state != CHI_CONN_OPEN) {
		return;
	}
	enum chi_role role = CHI_ROLE_NONE;
	int status = chi_conn_role(conn, &role, &why);
	if (status == CHI_OK && role >= conn->role) {
		conn->role = role;
		return;
	}
	log_info("client.demote",
		 "connection {connection} of '{client}', '{peer}', closed: role '{before}' "
		 "reduced to '{role}'",
		 log_text("connection", chi_name_of_conn(conn).text),
		 log_text("client", conn->client), log_text("peer", chi_conn_peer(conn).text),
		 log_text("before", chi_role_name(conn->role)),
		 log_text("role", chi_role_name(role)));
	conn->role = CHI_ROLE_NONE;
	chi_conn_fail(conn, 0, CHI_OP_UNKNOWN, status < 0 ? status : -CHI_EACCES, NULL,
		      status < 0 ? why : "access rules have changed and allow less: connect again");
	chi_conn_end(conn);
}

void chi_call_add(struct chi_conn *conn, struct chi_call *call)
{
	assert(conn->state != CHI_CONN_DEAD);
	call->conn = conn;
	call->since_us = conn->worker->turn_us;
	TAILQ_INSERT_TAIL(&conn->calls, call, link);
	conn->n_calls++;
}

void chi_call_remove(struct chi_call *call)
{
	TAILQ_REMOVE(&call->conn->calls, call, link);
	call->conn->n_calls--;
	/* Most are answered next. */
	call->conn->closed_id = call->id;
	call->conn->closed_since = call->since_us;
	/* An ending connection may have waited for this one. */
	chi_conn_mark_dirty(call->conn);
	call->conn = NULL;
}

struct chi_call *chi_call_find(struct chi_conn *conn, uint64_t id)
{
	struct chi_call *call = NULL;
	TAILQ_FOREACH(call, &conn->calls, link)
	{
		if (call->id == id) {
			return call;
		}
	}
	return NULL;
}

bool chi_call_give_up(struct chi_conn *conn, uint64_t id)
{
	struct chi_call *call = chi_call_find(conn, id);
	if (call == NULL || call->ops == NULL) {
		return true;
	}
	if (call->ops->finishes != NULL && call->ops->finishes(call, true)) {
		return false;
	}
	chi_call_remove(call);
	call->ops->close(call);
	return true;
}

/* When memory is short a stream adds nothing to what its client has not read; that it sends again
 * when all is read keeps it going. */
bool chi_call_may_send(const struct chi_call *call)
{
	const struct chi_conn *conn = call->conn;
	size_t mark = chi_server_is_full(conn->worker->server) ? 0 : CHI_STREAM_MARK;
	return call->credits > 0 && conn->out.len <= mark;
}

/* When the request that is answered for the last time was taken up. */
static int64_t take_since(struct chi_conn *conn, const struct chi_response *response)
{
	int64_t since = conn->worker->turn_us;
	struct chi_call *call = NULL;
	if (response->op == CHI_OP_PROBE) {
		/* Never longer than a turn. */
		return since;
	}
	if (conn->closed_since != 0 && conn->closed_id == response->id) {
		since = conn->closed_since;
		conn->closed_since = 0;
	} else if ((call = chi_call_find(conn, response->id)) != NULL && call->since_us != 0) {
		since = call->since_us;
		call->since_us = 0;
	}
	return since;
}

/* Counts a last answer. One that no one asked for has taken no time. */
static void count_answer(struct chi_conn *conn, const struct chi_response *response, int status,
			 int64_t now)
{
	struct chi_tally *tally = &conn->worker->tally;
	enum chi_op op = response->op;
	size_t result = status < 0 ? (size_t)-status : 0;
	chi_counter_add(&tally->answers[op][result < CHI_RESULTS ? result : CHI_EINTERNAL], 1);
	if (op != CHI_OP_UNKNOWN && response->id != 0) {
		chi_histogram_add(&tally->latency[chi_op_row_of(op)->op_class],
				  now - take_since(conn, response));
	}
}

/* Two things can go wrong: the response is too large for a frame, which its request can be told;
 * or there is no memory, and then the client is better off with a closed connection. So is one in
 * the midst of a stream: the caller goes on with that unless the connection is gone. */
void chi_conn_answer(struct chi_conn *conn, const struct chi_response *response)
{
	static const char too_large[] = "the answer is too large, ask for less at a time";
	int outcome = response->status;
	if (conn->state == CHI_CONN_DEAD || conn->state == CHI_CONN_LINGER) {
		return;
	}
	int64_t now = conn->worker->answer_us != 0 ? conn->worker->answer_us : chi_now_us();
	if (conn->out.len == 0) {
		conn->sent_at = now / 1000;
	}
	chi_conn_lend_out(conn, chi_response_size(response));
	int status = chi_response_pack(response, &conn->out);
	if (status < 0) {
		struct chi_response failure = {.id = response->id, .status = status, .last = true};
		outcome = status;
		if (status == -CHI_ETOOBIG) {
			failure.message = (struct chi_text){too_large, strlen(too_large)};
		}
		chi_arena_reset(&conn->worker->results);
		/* What has been answered for the last time must not go on. */
		if (!response->last || chi_response_pack(&failure, &conn->out) < 0) {
			chi_conn_drop(conn, "out of memory");
			return;
		}
	}
	if (response->last) {
		count_answer(conn, response, outcome, now);
	}
	if (conn->out.len > conn->worker->server->config->limits.output_close) {
		chi_conn_cut_off(conn);
		return;
	}
	chi_conn_mark_dirty(conn);
}

void chi_conn_fail(struct chi_conn *conn, uint64_t id, enum chi_op op, int status,
		   const char *field, const char *text)
{
	const char *message = text != NULL && text[0] != '\0' ? text : chi_strerror(status);
	struct chi_response response = {
		.id = id,
		.status = status,
		.message = {message, strlen(message)},
		.last = true,
		.op = op,
	};
	if (field != NULL) {
		response.field = (struct chi_text){field, strlen(field)};
	}
	chi_conn_answer(conn, &response);
}
