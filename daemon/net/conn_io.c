/* SPDX-License-Identifier: MIT */
/*
 * Reading, framing and sending. A wake-up costs one read and, for all answers together, one send.
 * Buffers are the worker's own while everything fits one turn; only a client with half a
 * request or unread answers holds memory.
 */
#include "daemon/net/net.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "service/log.h"
#include "daemon/net/server.h"
#include "proto/wire/frame.h"

/* A rest of a request up to this size is moved out of the lent buffer. */
#define SMALL_REST ((size_t)4096)

static const struct chi_limits *limits_of(const struct chi_conn *conn)
{
	return &conn->worker->server->config->limits;
}

void chi_conn_account(struct chi_conn *conn)
{
	struct chi_server *server = conn->worker->server;
	size_t now = conn->in.capacity + conn->out.capacity;
	/* What is answered and sent in this turn is not worth the counting. */
	if (conn->is_dirty && now < conn->accounted + CHI_READ_CHUNK && now >= conn->accounted) {
		return;
	}
	if (now > conn->accounted) {
		atomic_fetch_add(&server->buffered, now - conn->accounted);
	} else if (now < conn->accounted) {
		atomic_fetch_sub(&server->buffered, conn->accounted - now);
	}
	conn->accounted = now;
}

/* Small answers, which most are, share the worker's small buffers; those that outgrow one move to a
 * large one, so that nothing is allocated. */
void chi_conn_lend_out(struct chi_conn *conn, size_t size)
{
	struct chi_buffer_pool *pool = &conn->worker->buffer_pool;
	struct chi_buffer old = conn->out, *out = &conn->out;
	if (old.data != NULL &&
	    (old.capacity > CHI_SMALL_BUFFER || size <= old.capacity - old.len)) {
		return;
	}
	size += old.len;
	chi_buffer_init(out, old.limit);
	chi_buffer_pool_get(pool, out, size);
	/* Without memory the packing of the answer fails, and says so. */
	(void)chi_buffer_reserve(out, size > CHI_SMALL_BUFFER ? size : CHI_SMALL_BUFFER);
	if (old.len > 0 && chi_buffer_append(out, chi_buffer_bytes(&old), old.len) != CHI_OK) {
		chi_buffer_pool_put(pool, out);
		*out = old;
		return;
	}
	chi_buffer_consume(&old, old.len);
	chi_buffer_pool_put(pool, &old);
}

void chi_conn_mark_dirty(struct chi_conn *conn)
{
	if (!conn->is_dirty && conn->state != CHI_CONN_DEAD) {
		conn->is_dirty = true;
		TAILQ_INSERT_TAIL(&conn->worker->dirty, conn, dirty_link);
		chi_worker_wake(conn->worker);
	}
}

static void mark_ready(struct chi_conn *conn)
{
	if (!conn->is_ready && conn->state != CHI_CONN_DEAD) {
		conn->is_ready = true;
		TAILQ_INSERT_TAIL(&conn->worker->ready, conn, ready_link);
		chi_worker_wake(conn->worker);
	}
}

/* Has on_readable run soon, even if the socket is not ready. */
static void read_again(struct chi_conn *conn)
{
	if (conn->reading && chi_transport_has_more(conn)) {
		event_active(&conn->readable, EV_READ, 0);
	}
}

/* A connection that the loop cannot watch would wait for ever. */
static bool watch(struct chi_conn *conn, struct event *event)
{
	if (event_add(event, NULL) == 0) {
		return true;
	}
	chi_conn_drop(conn, "cannot be watched");
	return false;
}

/* Events are added and removed only when that changes something: each is a system call. Adding may
 * drop the connection. */
static void set_reading(struct chi_conn *conn, bool on)
{
	if (conn->reading == on) {
		return;
	}
	if (!on) {
		conn->reading = false;
		event_del(&conn->readable);
	} else if (watch(conn, &conn->readable)) {
		conn->reading = true;
		read_again(conn);
	}
}

static void set_writing(struct chi_conn *conn, bool on)
{
	if (conn->writing == on) {
		return;
	}
	if (!on) {
		conn->writing = false;
		event_del(&conn->writable);
	} else {
		conn->writing = watch(conn, &conn->writable);
	}
}

/* Its requests are served, or will be. */
static bool takes_requests(const struct chi_conn *conn)
{
	return conn->state == CHI_CONN_HELLO || conn->state == CHI_CONN_OPEN;
}

/* Reads or not, as the state wants it. */
static void settle_reading(struct chi_conn *conn)
{
	bool serving = !conn->worker->stopping;
	set_reading(conn, conn->state == CHI_CONN_LINGER ||
				  (takes_requests(conn) && !conn->paused && serving));
}

void chi_conn_stop_reading(struct chi_conn *conn)
{
	if (conn->state != CHI_CONN_LINGER && conn->state != CHI_CONN_DEAD) {
		/* Requests that waited for output to drain come too late: there is no writer any
		 * more when it has. */
		chi_buffer_consume(&conn->in, conn->in.len);
		chi_buffer_pool_put(&conn->worker->buffer_pool, &conn->in);
		chi_conn_account(conn);
		conn->frame_by = 0;
		settle_reading(conn);
	}
}

/* Room for the rest of a request whose length is known, else for a chunk. For no more than has come
 * already: a length is soon announced. */
static size_t room_wanted(const struct chi_conn *conn)
{
	const uint8_t *body = NULL;
	size_t body_len = 0;
	size_t whole = 0;
	int status = chi_frame_take(chi_buffer_bytes(&conn->in), conn->in.len,
				    limits_of(conn)->request_bytes, &body, &body_len, &whole);
	if (status == CHI_NONE && whole > conn->in.len && whole > CHI_READ_CHUNK) {
		size_t rest = whole - conn->in.len;
		size_t come = conn->in.len < CHI_READ_CHUNK ? CHI_READ_CHUNK : conn->in.len;
		return rest < come ? rest : come;
	}
	return conn->in.len < CHI_READ_CHUNK ? CHI_READ_CHUNK - conn->in.len : 4096;
}

/* Nothing more is sent. The peer may be sending still: closing now could take away what it has not
 * read, so the rest of its input is read first. */
static void linger(struct chi_conn *conn)
{
	shutdown(conn->fd, SHUT_WR);
	chi_conn_enter(conn, CHI_CONN_LINGER);
	conn->linger_by = chi_now_ms() + CHI_LINGER_MS;
	chi_loop_watch(&conn->worker->loop);
	settle_reading(conn);
}

/* Lingering: what comes is of no interest, only that it ends. */
static void throw_away(struct chi_conn *conn)
{
	char bytes[16384];
	ssize_t n = read(conn->fd, bytes, sizeof(bytes));
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		chi_conn_drop(conn, "ended");
	}
}

/* The client sends nothing more. What it has asked for is answered, except streams: it could
 * give them no credit. */
static void end_of_input(struct chi_conn *conn)
{
	set_reading(conn, false);
	conn->at_end = true;
	mark_ready(conn);
}

/* Reading or sending has failed. A client whose handshake went wrong is left the time to read the
 * alert that says why. */
static void lose(struct chi_conn *conn)
{
	if (conn->tls == NULL) {
		chi_conn_drop(conn, strerror(errno));
		return;
	}
	if (conn->state != CHI_CONN_HELLO) {
		chi_conn_drop(conn, conn->tls->why.text);
		return;
	}
	chi_counter_add(&conn->worker->tally.no_tls, 1);
	log_limited_info("client.no_tls",
			 "TLS handshake with '{peer}' failed on connection {connection} ({cause})",
			 log_text("peer", chi_conn_peer(conn).text),
			 log_text("connection", chi_name_of_conn(conn).text),
			 log_text("cause", conn->tls->why.text));
	linger(conn);
}

/* Handshakes are few in a turn. True if this one has to wait for the next: its socket stays
 * readable. */
static bool shakes_later(struct chi_conn *conn)
{
	struct chi_worker *worker = conn->worker;
	if (!chi_transport_is_shaking(conn)) {
		return false;
	}
	/* The turn ends with serving, and a new one begins. */
	chi_worker_wake(worker);
	return worker->n_shakes++ >= CHI_SHAKES_A_TURN;
}

/* What was read into the worker's chunk becomes the connection's input: of its own size, so that
 * a turn of many clients touches no more memory than they have sent. */
static bool adopt(struct chi_conn *conn, size_t n)
{
	struct chi_buffer_pool *buffer_pool = &conn->worker->buffer_pool;
	if (conn->in.data == NULL) {
		size_t room = n <= CHI_SMALL_BUFFER ? CHI_SMALL_BUFFER : CHI_READ_CHUNK;
		chi_buffer_pool_get(buffer_pool, &conn->in, room);
		if (chi_buffer_reserve(&conn->in, room) == NULL) {
			return false;
		}
	}
	int status = chi_buffer_append(&conn->in, conn->worker->chunk, n);
	if (conn->state == CHI_CONN_HELLO) {
		/* An access token may be in it. */
		explicit_bzero(conn->worker->chunk, n);
	}
	return status == CHI_OK;
}

/* One read, however much comes; the requests in it are served when all clients have been read. */
static void on_readable(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_conn *conn = context;
	chi_loop_enter(&conn->worker->loop);
	if (conn->state == CHI_CONN_LINGER) {
		throw_away(conn);
		chi_conn_reap(conn->worker);
		return;
	}
	if (conn->is_ready && conn->in.len >= CHI_READ_CHUNK) {
		/* Requests are waiting for their turn; serving them starts reading again. */
		set_reading(conn, false);
		return;
	}
	if (shakes_later(conn)) {
		return;
	}
	size_t wanted = room_wanted(conn);
	/* A large request, or the rest of one, is not copied. */
	bool direct = conn->in.len > SMALL_REST || wanted > CHI_READ_CHUNK;
	uint8_t *to = direct ? chi_buffer_reserve(&conn->in, wanted) : conn->worker->chunk;
	ssize_t n = to != NULL ? chi_transport_recv(conn, to, wanted) : -1;
	if (to == NULL || (n > 0 && !direct && !adopt(conn, (size_t)n))) {
		chi_conn_drop(conn, "out of memory");
		chi_conn_reap(conn->worker);
		return;
	}
	if (n > 0) {
		chi_counter_add(&conn->worker->tally.received, (uint64_t)n);
		chi_buffer_added(&conn->in, direct ? (size_t)n : 0);
		mark_ready(conn);
	} else if (n == 0) {
		end_of_input(conn);
	} else if (errno != EAGAIN && errno != EINTR) {
		lose(conn);
		chi_conn_reap(conn->worker);
		return;
	}
	read_again(conn);
	if (chi_transport_wants_room(conn)) {
		/* What the socket holds would wake the loop until there is room. */
		set_reading(conn, false);
		set_writing(conn, true);
	}
}

/* There is room again; the rest is sent with everything else at the end of the turn. */
static void on_writable(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_conn *conn = context;
	chi_loop_enter(&conn->worker->loop);
	if (chi_transport_wants_room(conn)) {
		conn->tls->wants_room = false;
		settle_reading(conn);
	}
	chi_conn_mark_dirty(conn);
}

void chi_conn_io_init(struct chi_conn *conn)
{
	struct event_base *base = conn->worker->loop.base;
	event_assign(&conn->readable, base, conn->fd, EV_READ | EV_PERSIST, on_readable, conn);
	event_assign(&conn->writable, base, conn->fd, EV_WRITE | EV_PERSIST, on_writable, conn);
	settle_reading(conn);
	if (conn->in.len > 0) {
		mark_ready(conn); /* it brought a request from another worker */
	}
}

void chi_conn_io_deinit(struct chi_conn *conn)
{
	struct chi_worker *worker = conn->worker;
	set_reading(conn, false);
	set_writing(conn, false);
	if (conn->is_ready) {
		TAILQ_REMOVE(&worker->ready, conn, ready_link);
	}
	if (conn->is_dirty) {
		TAILQ_REMOVE(&worker->dirty, conn, dirty_link);
	}
	conn->is_ready = false;
	conn->is_dirty = false;
}

/* Without its body a request cannot be answered by name; its id comes first, so that the start
 * of the body is enough for that. */
static void refuse_frame(struct chi_conn *conn, const uint8_t *start, size_t whole)
{
	struct chi_request request = {0};
	const char *field = NULL;
	size_t head = (size_t)(start - chi_buffer_bytes(&conn->in));
	chi_arena_reset(&conn->worker->requests);
	int status = chi_request_unpack(start, conn->in.len - head, &conn->worker->requests,
					&request, &field, NULL);
	(void)status;
	conn->skip = whole - conn->in.len;
	chi_buffer_consume(&conn->in, conn->in.len);
	/* Data of an import has the import's id: with a piece missing that must not go on. */
	if (chi_call_give_up(conn, request.id)) {
		chi_conn_fail(conn, request.id, CHI_OP_UNKNOWN, -CHI_EBUSY, NULL,
			      "the server's buffers are full");
	}
}

/* What all clients would hold if this one's request of that size had arrived: memory that it has
 * taken for the request's first part is not needed once more. */
static size_t buffered_with(const struct chi_conn *conn, size_t whole)
{
	size_t all = atomic_load(&conn->worker->server->buffered);
	size_t others = all > conn->accounted ? all - conn->accounted : 0;
	size_t in = conn->in.capacity > whole ? conn->in.capacity : whole;
	return others + in + conn->out.capacity;
}

/* A request that has begun to arrive and needs memory of its own: is there any? */
static void consider_memory(struct chi_conn *conn, size_t whole)
{
	uint8_t head[CHI_FRAME_HEAD_MAX];
	if (whole <= CHI_READ_CHUNK || conn->in.len < 32 ||
	    buffered_with(conn, whole) <= limits_of(conn)->buffer_bytes) {
		return;
	}
	/* whole = head + body, and the head's length follows from the body's. */
	size_t n = 1;
	while (n < CHI_FRAME_HEAD_MAX && chi_frame_head(whole - n, head) != n) {
		n++;
	}
	refuse_frame(conn, chi_buffer_bytes(&conn->in) + n, whole);
}

/* After such a head the next request cannot be found: an answer, and the end. */
static void refuse_stream(struct chi_conn *conn, int status)
{
	chi_probe_batch_answer(conn->worker);
	chi_conn_fail(conn, 0, CHI_OP_UNKNOWN, status, NULL,
		      status == -CHI_ETOOBIG
			      ? "the request is larger than the limit in hello's answer"
			      : "a frame's length must be above 0 and in its shortest form");
	chi_conn_end(conn);
}

/* True if a request was served and another may follow. */
static bool serve_frame(struct chi_conn *conn)
{
	const uint8_t *body = NULL;
	size_t body_len = 0;
	size_t whole = 0;
	if (conn->skip > 0 && conn->in.len > 0) {
		size_t part = conn->skip < conn->in.len ? conn->skip : conn->in.len;
		chi_buffer_consume(&conn->in, part);
		conn->skip -= part;
	}
	if (!takes_requests(conn) || conn->in.len == 0) {
		return false;
	}
	conn->paused = conn->out.len > limits_of(conn)->output_pause;
	if (conn->paused) {
		return false;
	}
	int status = chi_frame_take(chi_buffer_bytes(&conn->in), conn->in.len,
				    limits_of(conn)->request_bytes, &body, &body_len, &whole);
	if (status == CHI_NONE) {
		consider_memory(conn, whole);
		return false;
	}
	if (status < 0) {
		refuse_stream(conn, status);
		return false;
	}
	bool first = conn->state == CHI_CONN_HELLO;
	conn->worker->server->ops->dispatch(conn, body, body_len);
	if (conn->move_to != NULL) {
		return false;
	}
	chi_spread_arrived(conn);
	chi_buffer_consume(&conn->in, whole);
	if (first) {
		chi_buffer_wipe(&conn->in);
	}
	return true;
}

/* A short rest of a request goes to a buffer of its own size, so that the large one is free for
 * others while the client takes its time. */
static void shrink_rest(struct chi_conn *conn)
{
	if (conn->in.len == 0 || conn->in.len > SMALL_REST || conn->in.capacity <= 2 * SMALL_REST) {
		return;
	}
	struct chi_buffer small;
	chi_buffer_init(&small, conn->in.limit);
	if (chi_buffer_append(&small, chi_buffer_bytes(&conn->in), conn->in.len) == CHI_OK) {
		chi_buffer_consume(&conn->in, conn->in.len);
		chi_buffer_pool_put(&conn->worker->buffer_pool, &conn->in);
		conn->in = small;
	}
}

/* Starts or stops the clock of a request that has begun to arrive. */
static void settle_clock(struct chi_conn *conn)
{
	bool begun = conn->in.len > 0 || conn->skip > 0;
	if (conn->state == CHI_CONN_HELLO) {
		return; /* has until the time set when it connected */
	}
	if (!begun || conn->paused) {
		conn->frame_by = 0;
	}
	if (begun && !conn->paused && conn->frame_by == 0) {
		conn->frame_by = chi_now_ms() + (int64_t)limits_of(conn)->frame_ms;
		chi_loop_watch(&conn->worker->loop);
	}
}

/* Reading is settled only when all requests at hand are served: while some wait for their turn,
 * on_readable stops it by itself once enough is there. */
bool chi_conn_serve(struct chi_conn *conn)
{
	int served = 0;
	while (served < CHI_FRAMES_PER_WAKEUP && serve_frame(conn)) {
		served++;
	}
	if (conn->move_to != NULL) {
		chi_conn_move(conn);
		return false;
	}
	if (conn->state == CHI_CONN_DEAD) {
		return false;
	}
	bool more = served == CHI_FRAMES_PER_WAKEUP && conn->in.len > 0;
	if (served > 0 && conn->state == CHI_CONN_OPEN) {
		/* The clock ran for a request that was whole in time. Where more wait for their
		 * turn no clock runs: that they wait is not the client's doing. */
		conn->frame_by = 0;
	}
	if (!takes_requests(conn)) {
		chi_buffer_consume(&conn->in, conn->in.len);
	}
	if (!more) {
		shrink_rest(conn);
		chi_buffer_pool_put(&conn->worker->buffer_pool, &conn->in);
		settle_clock(conn);
		settle_reading(conn);
	}
	if (!more && conn->at_end && !conn->paused) {
		set_reading(conn, false);
		chi_conn_end(conn);
	}
	chi_conn_account(conn);
	return more;
}

/* All is answered and sent. */
static void finish_conn(struct chi_conn *conn)
{
	int unread = 0;
	bool leaving = conn->worker->loop.leaving;
	if (conn->at_end || (leaving && ioctl(conn->fd, FIONREAD, &unread) == 0 && unread == 0)) {
		chi_conn_drop(conn, "ended");
		return;
	}
	if (conn->tls != NULL) {
		chi_tls_end(conn->tls);
	}
	linger(conn);
}

/* Output has gone: what waited for that goes on. */
static void drained(struct chi_conn *conn)
{
	if (conn->paused && conn->out.len <= limits_of(conn)->output_pause) {
		conn->paused = false;
		mark_ready(conn);
	}
	if (conn->out.len <= CHI_STREAM_MARK) {
		struct chi_call *call = NULL;
		TAILQ_FOREACH(call, &conn->calls, link)
		{
			if (call->ops != NULL) {
				call->ops->resume(call);
			}
		}
	}
}

/* One send; what does not fit the socket waits until it is writable. */
void chi_conn_flush(struct chi_conn *conn)
{
	if (conn->out.len > 0) {
		ssize_t n = chi_transport_send(conn, chi_buffer_bytes(&conn->out), conn->out.len);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			lose(conn);
			return;
		}
		if (n > 0) {
			chi_counter_add(&conn->worker->tally.sent, (uint64_t)n);
			chi_buffer_consume(&conn->out, (size_t)n);
			conn->sent += (size_t)n;
			if (conn->out.len == 0 || conn->sent >= CHI_PROGRESS) {
				conn->sent_at = chi_now_ms();
				conn->sent = 0;
			}
			drained(conn);
		}
	}
	set_writing(conn, conn->out.len > 0 || chi_transport_wants_room(conn));
	if (conn->out.len > 0) {
		chi_loop_watch(&conn->worker->loop);
	}
	chi_buffer_pool_put(&conn->worker->buffer_pool, &conn->out);
	chi_conn_account(conn);
	if (conn->state == CHI_CONN_ENDING && conn->out.len == 0 && conn->n_calls == 0) {
		finish_conn(conn);
	}
}

/* Only deadlines that a client has missed; one that is idle has none. */
bool chi_conn_tick(struct chi_conn *conn, int64_t now)
{
	const struct chi_limits *limits = limits_of(conn);
	if (conn->state == CHI_CONN_LINGER && now >= conn->linger_by) {
		chi_conn_drop(conn, "ended");
	} else if (chi_transport_is_shaking(conn) && now >= conn->frame_by) {
		/* There is no way yet to tell it anything. */
		chi_conn_drop(conn, "handshake timed out");
	} else if (takes_requests(conn) && conn->frame_by != 0 && now >= conn->frame_by) {
		chi_conn_fail(conn, 0, CHI_OP_UNKNOWN, -CHI_ETIMEOUT, NULL,
			      "the request did not arrive in time");
		chi_conn_end(conn);
	} else if (conn->out.len > 0 && now - conn->sent_at >= (int64_t)limits->output_ms) {
		chi_conn_cut_off(conn);
	}
	return conn->state == CHI_CONN_LINGER || (takes_requests(conn) && conn->frame_by != 0) ||
	       (conn->state != CHI_CONN_DEAD && conn->out.len > 0);
}
