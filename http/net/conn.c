/* SPDX-License-Identifier: MIT */
/* How a connection goes from state to state. Its loop's thread runs all of it. */
#include "http/net/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "service/events.h"

#define READ_BYTES    16384
#define INPUT_MOST    (CHI_HTTP_HEAD_MAX + READ_BYTES) /* beyond, what comes waits in the kernel */
#define OUTPUT_MOST   ((size_t)1 << 20) /* no further request is looked at meanwhile */
#define TURN_REQUESTS 8			/* then others have their turn */
#define LINGER_MS     2000
#define PROGRESS      ((size_t)64 << 10) /* that a client reads at least in --send-timeout */
#define MIB	      ((uint64_t)1 << 20)

static void advance(struct conn *conn);

static const struct http_config *config_of(const struct conn *conn)
{
	return conn->loop->server->config;
}

static void set_deadline(struct conn *conn, uint64_t ms)
{
	conn->deadline_ms = chi_now_ms() + (int64_t)ms;
}

static void set_state(struct conn *conn, enum conn_state state)
{
	const struct http_config *config = config_of(conn);
	const uint64_t times[] = {
		[CONN_IDLE] = config->idle_ms,	 [CONN_HEAD] = config->head_ms,
		[CONN_BODY] = config->head_ms,	 [CONN_WAITING] = 2 * config->query_ms + 60000,
		[CONN_STREAM] = config->send_ms, [CONN_LAST] = config->send_ms,
		[CONN_LINGER] = LINGER_MS,
	};
	conn->state = state;
	set_deadline(conn, times[state]);
}

static void count_output(struct conn *conn, size_t held)
{
	struct chi_shares *output = &conn->loop->output;
	chi_shares_give(output, conn->share, conn->held);
	chi_shares_take(output, conn->share, held);
	conn->held = held;
}

static void set_peer(struct conn *conn, const struct chi_http_head *head)
{
	struct call *call = conn->call;
	size_t held = conn->held;
	server_find_peer(conn, head, &call->peer);
	call->share = chi_peer_number(&call->peer);
	count_output(conn, 0);
	conn->share = call->share;
	count_output(conn, held);
}

/* ---- The end ----------------------------------------------------------------------------- */

void conn_close(struct conn *conn)
{
	struct call *call = conn->call;
	if (call != NULL && conn->state == CONN_WAITING) {
		/* A worker has it, and gives it back. */
		atomic_store(&call->cancelled, true);
		call->conn = NULL;
	} else if (call != NULL) {
		loop_call_done(call);
	}
	count_output(conn, 0);
	*conn->link = conn->next;
	if (conn->next != NULL) {
		conn->next->link = conn->link;
	}
	chi_counter_add(&conn->loop->counters.open, (uint64_t)-1);
	chi_shares_give(&conn->loop->places, chi_peer_number(&conn->from), 1);
	event_del(&conn->readable);
	event_del(&conn->writable);
	close(conn->fd);
	chi_buffer_deinit(&conn->in);
	chi_buffer_deinit(&conn->out);
	free(conn);
}

/* ---- Sending ----------------------------------------------------------------------------- */

bool conn_append(struct conn *conn, struct chi_buffer *to, const void *bytes, size_t len)
{
	size_t room = len < CHI_SMALL_BUFFER ? CHI_SMALL_BUFFER : len;
	if (to->data == NULL) {
		chi_buffer_pool_get(&conn->loop->buffers, to, room);
	}
	return (to->data != NULL || chi_buffer_reserve(to, room) != NULL) &&
	       chi_buffer_append(to, bytes, len) == CHI_OK;
}

/* Sends what can be sent. False: the connection is broken. */
static bool flush(struct conn *conn)
{
	while (conn->out.len > 0) {
		ssize_t n =
			send(conn->fd, chi_buffer_bytes(&conn->out), conn->out.len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			bool full = errno == EAGAIN || errno == EWOULDBLOCK;
			return full && event_add(&conn->writable, NULL) == 0;
		}
		chi_buffer_consume(&conn->out, (size_t)n);
		conn->sent += (uint64_t)n;
		chi_counter_add(&conn->loop->counters.sent, (uint64_t)n);
	}
	return true;
}

/* The answer is in the output: what comes after it. */
static void after_answer(struct conn *conn)
{
	struct call *call = conn->call;
	bool keep = call->keep_alive && !conn->loop->turns.leaving;
	chi_counter_add(&conn->loop->counters.busy_us, (uint64_t)(chi_now_us() - call->begun_us));
	call_audit(call);
	loop_call_done(call);
	conn->call = NULL;
	set_state(conn, keep ? CONN_IDLE : CONN_LAST);
}

/* A handler is done, or has written a part. */
static void take_result(struct conn *conn)
{
	struct call *call = conn->call;
	if (call->result < 0 && call->streaming) {
		/* The client sees that the end is missing. */
		call->keep_alive = false;
		after_answer(conn);
	} else if (call->result == CHI_OK && (call->more || call->streaming)) {
		answer_put_part(conn, call);
		if (call->more) {
			set_state(conn, CONN_STREAM);
		} else {
			after_answer(conn);
		}
	} else {
		cache_keep(conn->loop->cache, call);
		answer_put(conn, call);
		after_answer(conn);
	}
}

/* ---- Calls ------------------------------------------------------------------------------- */

/* An answer that no handler gives. */
static void refuse_call(struct conn *conn, int http, const char *why)
{
	struct call *call = conn->call;
	call->http = http;
	if (why != call->fault.text) {
		(void)chi_fail(&call->fault, -CHI_EINVAL, "%s", why);
	}
	out_reset(&call->out);
	if (call->route != NULL && call->route->complain != NULL) {
		call->route->complain(call, why);
	} else {
		call_complain_json(call, why);
	}
	call->result = CHI_OK;
	answer_put(conn, call);
	after_answer(conn);
}

static void run_call(struct conn *conn)
{
	struct call *call = conn->call;
	struct loop *loop = conn->loop;
	unsigned flags = call->route->flags;
	bool here = (flags & ROUTE_LOCAL) != 0 ||
		    (config_of(conn)->in_process && (flags & (ROUTE_LONG | ROUTE_WRITE)) == 0);
	call->deadline_ms = chi_now_ms() + (int64_t)config_of(conn)->query_ms;
	if (here) {
		call_run(call, &loop->session);
		take_result(conn);
		return;
	}
	set_state(conn, CONN_WAITING);
	int status = pool_submit(&loop->server->pool, call);
	if (status < 0 && call->streaming) {
		call->result = status;
		take_result(conn);
	} else if (status < 0) {
		refuse_call(conn, 503, "too many requests wait already: try again later");
	}
}

static bool is_allowed(const struct call *call)
{
	unsigned flags = call->route->flags;
	switch (call->method) {
	case CHI_HTTP_GET:
	case CHI_HTTP_HEAD:
		return (flags & ROUTE_NO_GET) == 0;
	case CHI_HTTP_POST:
		return (flags & ROUTE_POST) != 0;
	case CHI_HTTP_PUT:
		return (flags & ROUTE_PUT) != 0;
	default:
		return false;
	}
}

/* Path, parameters and rights are looked at once the request is whole. */
static void dispatch(struct conn *conn)
{
	struct call *call = conn->call;
	if (call->method == CHI_HTTP_OPTIONS) {
		call->http = 204;
		call->result = CHI_OK;
		answer_put(conn, call);
		after_answer(conn);
		return;
	}
	if (call->route == NULL) {
		refuse_call(conn, 404, "there is nothing at this address");
	} else if (!chi_shares_may(&conn->loop->output, call->share, 0)) {
		refuse_call(conn, 503, "too much waits to be read by clients: try again later");
	} else if (!is_allowed(call)) {
		refuse_call(conn, 405, "this address does not take that method");
	} else if ((call->route->flags & ROUTE_WRITE) != 0 && call_may_write(call) < 0) {
		refuse_call(conn, 403, call->fault.text);
	} else if (call->method == CHI_HTTP_POST &&
		   strncasecmp(call->type_in, "application/x-www-form-urlencoded", 33) == 0 &&
		   params_parse(&call->params, call->body, call->body_len, &call->arena,
				&call->fault) < 0) {
		refuse_call(conn, 400, call->fault.text);
	} else if (cache_find(conn->loop->cache, call)) {
		chi_counter_add(&conn->loop->counters.cached, 1);
		answer_put(conn, call);
		after_answer(conn);
	} else {
		run_call(conn);
	}
}

/* The role is known from the head alone, before memory is taken for a body. */
static bool may(struct conn *conn, const struct chi_http_head *head)
{
	struct call *call = conn->call;
	const char *why = "";
	unsigned flags = call->route != NULL ? call->route->flags : ROUTE_OPEN;
	bool shown = false;
	call->role = server_authorize(conn->loop->server, head->authorization, &shown, &why);
	call->write_ban = shown ? NULL : server_write_ban(conn, head);
	if ((flags & ROUTE_OPEN) != 0 || call->method == CHI_HTTP_OPTIONS ||
	    call->role >= ((flags & ROUTE_WRITE) != 0 ? CHI_ROLE_WRITE : CHI_ROLE_READ)) {
		return true;
	}
	call->keep_alive = call->keep_alive && head->length == 0;
	refuse_call(conn, call->role == CHI_ROLE_NONE ? 401 : 403,
		    call->role == CHI_ROLE_NONE ? why : "access denied: this needs the role write");
	return false;
}

static char *copy(struct call *call, struct chi_slice text)
{
	return chi_arena_text(&call->arena, text.len > 0 ? text.at : "", text.len);
}

/* Memory for a body that is to come; one without bytes takes nothing of what is shared. */
static char *body_memory(struct conn *conn, uint64_t len)
{
	struct call *call = conn->call;
	struct loop *loop = conn->loop;
	char *body = len == 0 || chi_shares_may(&loop->bodies, call->share, len)
			     ? chi_arena_alloc(&call->arena, (size_t)len + 1)
			     : NULL;
	if (body != NULL) {
		call->body_len = (size_t)len;
		chi_shares_take(&loop->bodies, call->share, len);
		body[len] = '\0';
	}
	return body;
}

/* Everything of the head that lasts; false: it was refused. */
static bool begin_call(struct conn *conn, const struct chi_http_head *head)
{
	struct call *call = conn->call;
	set_peer(conn, head);
	call->method = head->method;
	call->version = head->version;
	call->keep_alive = head->keep_alive;
	call->gzip = chi_http_list_has(head->encodings, "gzip");
	call->zstd = chi_http_list_has(head->encodings, "zstd");
	call->tags = copy(call, head->tags);
	call->type_in = copy(call, head->type);
	call->path = params_decode(head->path.at, head->path.len, false, &call->arena);
	if (call->tags == NULL || call->type_in == NULL || call->path == NULL) {
		call->keep_alive = false;
		refuse_call(conn, 400, "the path is not UTF-8 text with %-escapes");
		return false;
	}
	call->target =
		copy(call, head->path.len == 0
				   ? head->path
				   : (struct chi_slice){head->path.at,
							(size_t)(head->query.at + head->query.len -
								 head->path.at)});
	call->route = conn->loop->server->find(conn->loop->server, call->path);
	uint64_t most = call->route != NULL && (call->route->flags & ROUTE_LARGE) != 0
				? config_of(conn)->large_bytes
				: config_of(conn)->body_bytes;
	if (head->length > most) {
		call->keep_alive = false;
		refuse_call(conn, 413, "the body is longer than this server takes");
		return false;
	}
	if (!may(conn, head)) {
		return false;
	}
	if (params_parse(&call->params, head->query.at, head->query.len, &call->arena,
			 &call->fault) < 0) {
		call->keep_alive = call->keep_alive && head->length == 0;
		refuse_call(conn, 400, call->fault.text);
		return false;
	}
	call->body = body_memory(conn, head->length);
	if (call->body == NULL) {
		call->keep_alive = false;
		refuse_call(conn, 503, "there is no memory for more bodies: try again later");
		return false;
	}
	return true;
}

static bool new_call(struct conn *conn)
{
	conn->call = loop_call(conn->loop);
	if (conn->call == NULL) {
		set_state(conn, CONN_LAST);
		return false;
	}
	conn->call->conn = conn;
	conn->call->peer = conn->from;
	conn->call->share = conn->share;
	conn->call->begun_us = chi_now_us();
	return true;
}

/* ---- Requests ---------------------------------------------------------------------------- */

/* False: more must come first. */
static bool take_head(struct conn *conn)
{
	struct chi_http_head head;
	const char *why = "";
	size_t used = 0;
	size_t len = conn->in.len;
	len = len > CHI_HTTP_HEAD_MAX ? CHI_HTTP_HEAD_MAX : len;
	const char *bytes = (const char *)chi_buffer_bytes(&conn->in);
	if (len == 0) {
		return false;
	}
	int http = chi_http_head_parse(bytes, len, &head, &used, &why);
	if (http == 1) {
		if (conn->state == CONN_IDLE) {
			set_state(conn, CONN_HEAD);
		}
		return false;
	}
	if (!new_call(conn)) {
		return true;
	}
	if (http != 0) {
		conn->call->version = head.version != 0 ? head.version : 11;
		refuse_call(conn, http, why);
		return true;
	}
	bool begun = begin_call(conn, &head);
	bool expects = head.expects && head.version == 11;
	chi_buffer_consume(&conn->in, used);
	if (begun) {
		set_state(conn, CONN_BODY);
		set_deadline(conn, config_of(conn)->head_ms * (1 + head.length / MIB));
		conn->body_at = 0;
		if (expects && conn->in.len < head.length) {
			static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
			(void)conn_append(conn, &conn->out, go_on, sizeof(go_on) - 1);
		}
	}
	return true;
}

static bool take_body(struct conn *conn)
{
	struct call *call = conn->call;
	size_t wanted = call->body_len - conn->body_at;
	size_t n = wanted < conn->in.len ? wanted : conn->in.len;
	if (n > 0) {
		memcpy(call->body + conn->body_at, chi_buffer_bytes(&conn->in), n);
		chi_buffer_consume(&conn->in, n);
	}
	conn->body_at += n;
	if (conn->body_at < call->body_len) {
		return false;
	}
	dispatch(conn);
	return true;
}

/* Whether something is left to be done without more input. */
static bool step_conn(struct conn *conn)
{
	switch (conn->state) {
	case CONN_IDLE:
	case CONN_HEAD:
		return conn->out.len < OUTPUT_MOST && take_head(conn);
	case CONN_BODY:
		return take_body(conn);
	case CONN_STREAM:
		if (conn->out.len > 0) {
			return false;
		}
		run_call(conn);
		return true;
	case CONN_LAST:
		if (conn->out.len == 0 && shutdown(conn->fd, SHUT_WR) == 0) {
			set_state(conn, CONN_LINGER);
		}
		return false;
	case CONN_LINGER:
		chi_buffer_consume(&conn->in, conn->in.len);
		return false;
	default:
		return false;
	}
}

/* Reads on only while there is room for what comes. False: the loop cannot watch it. */
static bool set_reading(struct conn *conn)
{
	bool want = !conn->at_end && conn->in.len < INPUT_MOST && conn->out.len < OUTPUT_MOST;
	if (want == conn->reading) {
		return true;
	}
	conn->reading = want;
	return (want ? event_add(&conn->readable, NULL) : event_del(&conn->readable)) == 0;
}

/* Nothing more will come of it. A client that has ended its input may wait for an answer. */
static bool is_over(const struct conn *conn)
{
	return conn->at_end &&
	       (conn->state == CONN_IDLE || conn->state == CONN_HEAD || conn->state == CONN_BODY ||
		conn->state == CONN_LINGER) &&
	       conn->out.len == 0;
}

/* A client that reads all but a little of a large answer does not keep its memory. */
static void fit_output(struct conn *conn)
{
	struct chi_buffer old = conn->out;
	if (old.capacity > CHI_LARGE_BUFFER && old.len > 0 && old.len <= old.capacity / 4) {
		chi_buffer_init(&conn->out, old.limit);
		if (conn_append(conn, &conn->out, chi_buffer_bytes(&old), old.len)) {
			chi_buffer_deinit(&old);
		} else {
			chi_buffer_deinit(&conn->out);
			conn->out = old;
		}
	}
	chi_buffer_pool_put(&conn->loop->buffers, &conn->out);
}

/* While output waits, PROGRESS bytes or all of it have to be read in time, whatever else is asked
 * for meanwhile. Between requests a client is idle only once it has read what it asked for. */
static void note_output(struct conn *conn)
{
	bool waits = conn->out.len > 0;
	if (waits && (conn->read_by_ms == 0 || conn->sent >= conn->wanted)) {
		conn->read_by_ms = chi_now_ms() + (int64_t)config_of(conn)->send_ms;
		conn->wanted = conn->sent + PROGRESS;
	} else if (!waits && conn->read_by_ms != 0) {
		conn->read_by_ms = 0;
		if (conn->state == CONN_IDLE) {
			set_deadline(conn, config_of(conn)->idle_ms);
		}
	}
	fit_output(conn);
	count_output(conn, conn->out.capacity);
}

static void advance(struct conn *conn)
{
	int turns = 0;
	bool more = true;
	bool fine = true;
	while (more && fine) {
		more = step_conn(conn) && ++turns < TURN_REQUESTS;
		if (!more) {
			size_t before = conn->out.len;
			fine = flush(conn);
			/* What waited for the output to be sent goes on. */
			more = fine && before > 0 && conn->out.len == 0 && turns < TURN_REQUESTS;
		}
	}
	if (!fine || is_over(conn) || !set_reading(conn)) {
		conn_close(conn);
		return;
	}
	note_output(conn);
	chi_buffer_pool_put(&conn->loop->buffers, &conn->in);
	if (turns == TURN_REQUESTS) {
		event_active(&conn->writable, EV_WRITE, 1);
	}
}

/* ---- Events ------------------------------------------------------------------------------ */

static void on_readable(evutil_socket_t fd, short what, void *context)
{
	struct conn *conn = context;
	(void)what;
	char bytes[READ_BYTES];
	ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n < 0 || (n > 0 && !conn_append(conn, &conn->in, bytes, (size_t)n))) {
		conn_close(conn);
		return;
	}
	conn->at_end = n == 0;
	chi_counter_add(&conn->loop->counters.received, (uint64_t)n);
	advance(conn);
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	advance(context);
}

void conn_answered(struct call *call)
{
	struct conn *conn = call->conn;
	if (conn == NULL) {
		call_audit(call);
		loop_call_done(call);
		return;
	}
	take_result(conn);
	advance(conn);
}

/* Slow heads and bodies are told so; who does not read an answer cannot be told. */
void conn_tick(struct conn *conn, int64_t now_ms)
{
	size_t unsent = conn->out.len;
	if (conn->loop->turns.leaving && conn->state == CONN_IDLE && unsent == 0) {
		conn_close(conn);
		return;
	}
	/* In these it waits for nothing but the output to be read. */
	bool only_reads = unsent > 0 && (conn->state == CONN_IDLE || conn->state == CONN_STREAM ||
					 conn->state == CONN_LAST);
	if ((unsent == 0 || now_ms < conn->read_by_ms) &&
	    (only_reads || now_ms < conn->deadline_ms)) {
		return;
	}
	bool late = conn->state == CONN_HEAD || conn->state == CONN_BODY;
	chi_counter_add(&conn->loop->counters.expired, conn->state != CONN_LINGER ? 1 : 0);
	if (late && unsent == 0 && (conn->call != NULL || new_call(conn))) {
		conn->call->keep_alive = false;
		refuse_call(conn, 408, "the request did not come in time");
		advance(conn);
	} else {
		conn_close(conn);
	}
}

void conn_new(struct loop *loop, int fd, const struct chi_peer_address *from)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	if (conn == NULL) {
		close(fd);
		return;
	}
	conn->loop = loop;
	conn->fd = fd;
	conn->from = *from;
	conn->share = chi_peer_number(from);
	conn->is_proxy = server_is_proxy(loop->server, from);
	chi_peer_here(fd, &conn->here);
	chi_shares_take(&loop->places, conn->share, 1);
	chi_buffer_init(&conn->in, SIZE_MAX);
	chi_buffer_init(&conn->out, SIZE_MAX);
	event_assign(&conn->readable, loop->turns.base, fd, EV_READ | EV_PERSIST, on_readable,
		     conn);
	event_assign(&conn->writable, loop->turns.base, fd, EV_WRITE, on_writable, conn);
	conn->next = loop->conns;
	conn->link = &loop->conns;
	if (conn->next != NULL) {
		conn->next->link = &conn->next;
	}
	loop->conns = conn;
	chi_loop_watch(&loop->turns);
	chi_counter_add(&loop->counters.open, 1);
	set_state(conn, CONN_IDLE);
	if (!set_reading(conn)) {
		conn_close(conn);
	}
}
