/* SPDX-License-Identifier: MIT */
/*
 * Frames over a non-blocking socket, each wait bounded by call_ms without progress. Nothing here
 * knows what the operations mean; remote*.c do.
 */
#include "client/remote/peer.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "client/core/client.h"
#include "client/remote/connect.h"
#include "client/remote/tls.h"
#include "client/remote/token.h"
#include "proto/wire/frame.h"

/* Queued requests go out, wanted or not, when so much has gathered: the server has work to do. */
#define QUEUE_SIZE ((size_t)64 << 10)
/* Bytes read at once, and the most that may lie unread while a request is being sent: answers to
 * a full pipeline fit, hostile floods do not. */
#define READ_SIZE  ((size_t)64 << 10)
#define READ_LIMIT ((size_t)64 << 20)
/* Memory that an idle connection keeps. */
#define KEEP_SIZE ((size_t)256 << 10)
/* How often a wait that may be canceled looks whether it is. */
#define WATCH_MS 100

void chi_peer_init(struct chi_peer *peer)
{
	*peer = (struct chi_peer){.fd = -1, .until = INT64_MAX};
	chi_buffer_init(&peer->in, READ_LIMIT + CHI_FRAME_RESPONSE_MAX);
	chi_buffer_init(&peer->out, CHI_FRAME_REQUEST_MAX + CHI_FRAME_HEAD_MAX);
}

void chi_peer_close(struct chi_client *client)
{
	struct chi_peer *peer = client->peer;
	if (peer->tls != NULL) {
		chi_tls_end(peer->tls);
		chi_tls_free(peer->tls);
		peer->tls = NULL;
	}
	if (peer->fd >= 0) {
		close(peer->fd);
	}
	peer->fd = -1;
	peer->eof = false;
	peer->ping_id = 0;
	peer->async_lost += peer->async_open;
	peer->async_open = 0;
	chi_buffer_consume(&peer->out, peer->out.len);
}

void chi_peer_free(struct chi_client *client)
{
	if (client->peer == NULL) {
		return;
	}
	chi_peer_close(client);
	chi_buffer_deinit(&client->peer->in);
	chi_buffer_deinit(&client->peer->out);
	free(client->peer);
	client->peer = NULL;
}

int chi_peer_fail(struct chi_client *client, int status, const char *format, ...)
{
	char text[CHI_FAULT_SIZE];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	chi_peer_close(client);
	return chi_fail(&client->error, status, "'%.140s': %s", client->text, text);
}

/* A server that answers a write so has checked whether it was done before, or has not read it. */
static bool is_definite(int status)
{
	return status == -CHI_EINVAL || status == -CHI_EFEN || status == -CHI_EKEY ||
	       status == -CHI_EMOVE || status == -CHI_ETOOBIG || status == -CHI_ECORRUPT ||
	       status == -CHI_EFULL || status == -CHI_EIO;
}

int chi_peer_doubt(struct chi_client *client, int status)
{
	const struct chi_peer *peer = client->peer;
	bool gone = peer->fd < 0 && peer->sent;
	if (status < 0 && (gone || (peer->unanswered && !is_definite(status)))) {
		struct chi_fault fault = client->error;
		chi_fail(&client->error, status, "%.200s; the write may or may not have happened",
			 fault.text);
	}
	return status;
}

uint64_t chi_peer_next_id(struct chi_client *client)
{
	return ++client->peer->last_id;
}

/* ---- Bytes -------------------------------------------------------------------------------- */

static ssize_t take_bytes(const struct chi_peer *peer, void *out, size_t room)
{
	return peer->tls == NULL ? recv(peer->fd, out, room, 0)
				 : chi_tls_read(peer->tls, out, room);
}

static ssize_t give(const struct chi_peer *peer, const void *bytes, size_t len)
{
	return peer->tls == NULL ? send(peer->fd, bytes, len, MSG_NOSIGNAL)
				 : chi_tls_write(peer->tls, bytes, len);
}

/* Bytes may be buffered that the socket no longer reports. */
static bool has_more(const struct chi_peer *peer)
{
	return peer->tls != NULL && peer->tls->more;
}

/* What to wait for before reading. */
static short to_read(const struct chi_peer *peer)
{
	return (short)(POLLIN | (peer->tls != NULL && peer->tls->wants_room ? POLLOUT : 0));
}

/* Reads what is there without waiting; *got: whether bytes came. An end or an error of the
 * connection sets eof: what came before it may still hold an answer. */
static int read_some(struct chi_client *client, bool *got)
{
	struct chi_peer *peer = client->peer;
	*got = false;
	uint8_t *room = chi_buffer_reserve(&peer->in, READ_SIZE);
	if (room == NULL) {
		return chi_peer_fail(client, -CHI_ENOMEM, "no memory for the answer");
	}
	ssize_t n = take_bytes(peer, room, READ_SIZE);
	if (n > 0) {
		chi_buffer_added(&peer->in, (size_t)n);
		*got = true;
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		peer->eof = true;
	}
	return CHI_OK;
}

/* The end of a wait without progress that began at `start`. */
static int64_t end_of_wait(const struct chi_peer *peer, int64_t start, int64_t ms)
{
	return start + ms < peer->until ? start + ms : peer->until;
}

/* Waits until the socket takes more of a request, reading answers that come meanwhile. */
static int await_room(struct chi_client *client)
{
	struct chi_peer *peer = client->peer;
	uint32_t ms = client->options.call_ms;
	/* A server that answers while it is being asked makes progress, too; one whose answers
	 * would fill READ_LIMIT must wait. */
	bool readable = peer->in.len < READ_LIMIT;
	if (readable && has_more(peer)) {
		bool got = false;
		return read_some(client, &got);
	}
	short events = chi_wait(peer->fd, (short)(POLLOUT | (readable ? POLLIN : 0)),
				end_of_wait(peer, chi_now_ms(), ms));
	if (events == 0) {
		return chi_peer_fail(client, -CHI_ETIMEOUT,
				     "the server read nothing of the request for %u ms", ms);
	}
	if ((events & POLLOUT) == 0) {
		bool got = false;
		return read_some(client, &got);
	}
	return CHI_OK;
}

/* Sends what is packed. An error of send() is not reported here: what the server said before it
 * closed may lie unread, and says more. */
static int flush(struct chi_client *client)
{
	struct chi_peer *peer = client->peer;
	while (peer->out.len > 0 && !peer->eof) {
		ssize_t n = give(peer, chi_buffer_bytes(&peer->out), peer->out.len);
		if (n > 0) {
			peer->sent = true;
			chi_buffer_consume(&peer->out, (size_t)n);
		} else if (n < 0 && errno == EAGAIN) {
			int status = await_room(client);
			if (status != CHI_OK) {
				chi_buffer_consume(&peer->out, peer->out.len);
				return status;
			}
		} else if (n < 0 && errno != EINTR) {
			/* TLS that has failed says nothing more, and the server does not know. */
			peer->eof = peer->tls != NULL && peer->tls->failure != CHI_OK;
			break;
		}
	}
	/* Left over only if the connection ended: receiving then says so. */
	chi_buffer_consume(&peer->out, peer->out.len);
	chi_buffer_trim(&peer->out, KEEP_SIZE);
	return CHI_OK;
}

/* ---- Requests ----------------------------------------------------------------------------- */

static int too_big(struct chi_client *client, enum chi_op op)
{
	return chi_fail(&client->error, -CHI_ETOOBIG,
			"the %s takes more than the %u bytes that the server accepts at once; "
			"split it",
			chi_op_name(op), client->peer->limits.request_bytes);
}

/* Leaves room for one request of the largest size, and for no byte more: the server would answer
 * that by closing the connection. */
static int pack(struct chi_client *client, struct chi_request *request)
{
	uint8_t head[CHI_FRAME_HEAD_MAX];
	const uint32_t most = client->peer->limits.request_bytes;
	struct chi_buffer *out = &client->peer->out;
	request->store = (struct chi_text){.bytes = client->store, .len = strlen(client->store)};
	out->limit = out->len + chi_frame_head(most, head) + most;
	int status = chi_request_pack(request, out);
	return status == -CHI_ETOOBIG ? too_big(client, request->op) : status;
}

int chi_peer_send(struct chi_client *client, struct chi_request *request)
{
	int status = pack(client, request);
	return status == CHI_OK ? flush(client) : status;
}

int chi_peer_queue(struct chi_client *client, struct chi_request *request)
{
	int status = pack(client, request);
	return status == CHI_OK && client->peer->out.len >= QUEUE_SIZE ? flush(client) : status;
}

/* Asks whether the server is alive, once per silence. */
static int send_ping(struct chi_client *client)
{
	struct chi_peer *peer = client->peer;
	if (peer->ping_id != 0) {
		return CHI_OK;
	}
	struct chi_request ping = {.op = CHI_OP_PING, .id = chi_peer_next_id(client)};
	peer->ping_id = ping.id;
	return chi_peer_send(client, &ping);
}

/* ---- Responses ---------------------------------------------------------------------------- */

static bool is_canceled(const struct chi_peer *peer)
{
	return peer->cancel != NULL && __atomic_load_n(peer->cancel, __ATOMIC_RELAXED) != 0;
}

/* True if something can be read by then; false also as soon as the wait is canceled. */
static bool wait_readable(const struct chi_peer *peer, int64_t until)
{
	while (!is_canceled(peer)) {
		if (has_more(peer)) {
			return true;
		}
		int64_t soon = chi_now_ms() + WATCH_MS;
		bool last = peer->cancel == NULL || until <= soon;
		if (chi_wait(peer->fd, to_read(peer), last ? until : soon) != 0) {
			return true;
		}
		if (last) {
			return false;
		}
	}
	return false;
}

/* Waits for bytes. A patient wait is cut in halves by a ping: its answer shows that the server is
 * at work, and starts the time again. The second half begins when the ping is out: on a loaded
 * machine this program may come late to its own deadline, which is no silence of the server. */
static int await_bytes(struct chi_client *client)
{
	struct chi_peer *peer = client->peer;
	uint32_t ms = client->options.call_ms;
	bool got = false;
	int64_t start = chi_now_ms();
	while (!got && !peer->eof) {
		int64_t half = peer->patient && peer->ping_id == 0 ? ms / 2 : ms;
		int64_t end = end_of_wait(peer, start, half);
		if (wait_readable(peer, end)) {
			int status = read_some(client, &got);
			if (status != CHI_OK) {
				return status;
			}
			continue;
		}
		if (is_canceled(peer)) {
			return -CHI_ECANCELED;
		}
		if (half == ms || end == peer->until) {
			return chi_peer_fail(client, -CHI_ETIMEOUT, "no answer for %u ms", ms);
		}
		int status = send_ping(client);
		if (status != CHI_OK) {
			/* The answer that was waited for would come to the next call. */
			chi_peer_close(client);
			return status;
		}
		start = chi_now_ms() - half;
	}
	if (!got && peer->tls != NULL && peer->tls->failure != CHI_OK) {
		return chi_peer_fail(client, -CHI_ECONNECT, "the server broke off TLS (%s)",
				     peer->tls->why.text);
	}
	if (!got) {
		return chi_peer_fail(client, -CHI_ECONNECT, "the server closed the connection");
	}
	return CHI_OK;
}

/* Unpacks the frame at the front of `in`. *skip: it answers a ping that was sent while waiting. */
static int unpack(struct chi_client *client, const uint8_t *body, size_t len, bool *skip,
		  struct chi_response *response)
{
	struct chi_peer *peer = client->peer;
	struct chi_fault why = {{0}};
	*skip = false;
	struct chi_arena *arena =
		peer->gathers ? &client->answer->gathered : &client->answer->arena;
	if (!peer->gathers) {
		chi_arena_reset(arena);
	}
	int status = chi_response_unpack(body, len, arena, response, &why);
	if (status != CHI_OK) {
		return chi_peer_fail(client, status, "answer not understood (%s)",
				     why.text[0] != '\0' ? why.text : chi_strerror(status));
	}
	if (response->id == 0) {
		/* About the connection as a whole: too many of them, or a request that the server
		 * could not read. It closes. */
		struct chi_fault refusal;
		status = chi_peer_refusal(response, &refusal);
		return chi_peer_fail(client, status < 0 ? status : -CHI_EPROTO, "%s", refusal.text);
	}
	if (response->id == peer->ping_id) {
		peer->ping_id = 0;
		*skip = true;
	}
	return CHI_OK;
}

int chi_peer_receive(struct chi_client *client, struct chi_response *response)
{
	struct chi_peer *peer = client->peer;
	for (;;) {
		chi_buffer_consume(&peer->in, peer->taken);
		peer->taken = 0;
		if (peer->fd < 0) {
			return chi_fail(&client->error, -CHI_ECONNECT,
					"'%.140s': the connection is closed", client->text);
		}
		const uint8_t *body = NULL;
		size_t body_len = 0;
		size_t frame_len = 0;
		int status = chi_frame_take(chi_buffer_bytes(&peer->in), peer->in.len,
					    CHI_FRAME_RESPONSE_MAX, &body, &body_len, &frame_len);
		if (status < 0) {
			return chi_peer_fail(client, -CHI_EPROTO, "not an answer from chistored");
		}
		if (status == CHI_NONE) {
			/* While requests go out answers may come, and all there will be. */
			status = peer->out.len > 0 ? flush(client) : await_bytes(client);
			if (status != CHI_OK) {
				return status;
			}
			continue;
		}
		peer->taken = frame_len;
		bool skip = false;
		status = unpack(client, body, body_len, &skip, response);
		if (status != CHI_OK || !skip) {
			return status;
		}
	}
}

int chi_peer_refusal(const struct chi_response *response, struct chi_fault *fault)
{
	const char *text = response->message.len > 0 ? response->message.bytes
						     : chi_strerror(response->status);
	/* "put.entries[3].record" names the entry; the same words as in-process then. */
	unsigned entry = 0;
	const char *at = response->field.len > 0 ? strchr(response->field.bytes, '[') : NULL;
	if (at != NULL && sscanf(at, "[%9u]", &entry) == 1 && strncmp(text, "entry ", 6) != 0) {
		return chi_fail(fault, response->status, "entry %u: %s", entry, text);
	}
	return chi_fail(fault, response->status, "%s", text);
}

int chi_peer_answer(struct chi_client *client, uint64_t id, enum chi_op op,
		    struct chi_response *response)
{
	int status = chi_peer_receive(client, response);
	if (status != CHI_OK) {
		return status;
	}
	if (response->id != id) {
		return chi_peer_fail(client, -CHI_EPROTO, "response with unknown request id");
	}
	if (response->status < 0) {
		return chi_peer_refusal(response, &client->error);
	}
	for (size_t i = 0; i < response->n_unknown; i++) {
		if (i == 0) {
			chi_client_tell_unknown(client, NULL);
		}
		chi_client_tell_unknown(client, response->unknown[i].bytes);
	}
	if (response->status == CHI_NONE && op != CHI_OP_GET) {
		return chi_peer_fail(client, -CHI_EPROTO, "%s cannot be answered with 'not found'",
				     chi_op_name(op));
	}
	/* A ping's answer has no result at all. */
	if (response->status == CHI_OK && response->op != op && op != CHI_OP_PING) {
		return chi_peer_fail(client, -CHI_EPROTO, "the answer to %s is one to %s",
				     chi_op_name(op), chi_op_name(response->op));
	}
	return response->status;
}

int chi_peer_ask(struct chi_client *client, struct chi_request *request,
		 struct chi_response *response)
{
	request->id = chi_peer_next_id(client);
	int status = chi_peer_send(client, request);
	if (status != CHI_OK) {
		return status;
	}
	return chi_peer_answer(client, request->id, request->op, response);
}

/* ---- Connections --------------------------------------------------------------------------- */

/* A limit of the server, bounded by this library's own; 0 (not given) is that. */
static uint32_t at_most(uint32_t theirs, uint32_t ours)
{
	return theirs == 0 || theirs > ours ? ours : theirs;
}

static void set_limits(struct chi_peer *peer, const struct chi_hello_limits *theirs)
{
	peer->limits = (struct chi_hello_limits){
		.request_bytes = at_most(theirs->request_bytes, CHI_FRAME_REQUEST_MAX),
		.probe_positions = at_most(theirs->probe_positions, CHI_PROBE_MAX),
		.put_entries = at_most(theirs->put_entries, CHI_PUT_MAX),
		.requests_in_flight = at_most(theirs->requests_in_flight, CHI_IN_FLIGHT_MAX),
	};
}

/* -CHI_ENOSTORE unless the server serves the store this client is for. */
static int find_store(struct chi_client *client, const struct chi_response *hello)
{
	const char *wanted = client->store[0] != '\0' ? client->store : "default";
	for (size_t i = 0; i < hello->u.hello.n_stores; i++) {
		const struct chi_text *name = &hello->u.hello.stores[i].name;
		if (name->len == strlen(wanted) && memcmp(name->bytes, wanted, name->len) == 0) {
			client->peer->sequence = hello->u.hello.stores[i].sequence;
			memcpy(client->peer->uuid, hello->u.hello.stores[i].uuid,
			       sizeof(client->peer->uuid));
			return CHI_OK;
		}
	}
	return chi_peer_fail(client, -CHI_ENOSTORE, "the server has no store named '%s'", wanted);
}

/* Greets, with the access token if there is one, and takes the answer. */
static int say_hello(struct chi_client *client, const char *token, struct chi_response *hello)
{
	struct chi_request request = {
		.id = chi_peer_next_id(client),
		.op = CHI_OP_HELLO,
		.u.hello = {.version = CHI_PROTOCOL_VERSION,
			    .client = {.bytes = client->name, .len = strlen(client->name)},
			    .access_token = {.bytes = token, .len = strlen(token)}},
	};
	int status = chi_peer_send(client, &request);
	return status == CHI_OK ? chi_peer_answer(client, request.id, CHI_OP_HELLO, hello) : status;
}

static int show_token(struct chi_client *client, struct chi_response *hello)
{
	char token[CHI_ACCESS_TOKEN_MAX + 1];
	if (client->peer->tls == NULL && !chi_token_is_safe(client->peer->fd)) {
		return chi_fail(&client->error, -CHI_EACCES,
				"'%.140s': the access token would leave this machine unencrypted",
				client->text);
	}
	int status = chi_token_read(client->options.token_file, token, &client->error);
	if (status == CHI_OK) {
		status = say_hello(client, token, hello);
	}
	explicit_bzero(token, sizeof(token));
	chi_buffer_wipe(&client->peer->out);
	return status;
}

static int handshake(struct chi_client *client)
{
	set_limits(client->peer, &(struct chi_hello_limits){0});
	struct chi_response hello;
	int status = client->options.token_file != NULL ? show_token(client, &hello)
							: say_hello(client, "", &hello);
	if (status != CHI_OK) {
		return status;
	}
	if (hello.u.hello.version != CHI_PROTOCOL_VERSION) {
		return chi_peer_fail(client, -CHI_EVERSION,
				     "the server speaks protocol version %u, this library %d",
				     hello.u.hello.version, CHI_PROTOCOL_VERSION);
	}
	set_limits(client->peer, &hello.u.hello.limits);
	return find_store(client, &hello);
}

/* True if the idle connection is still open: nothing to read is right, an end or bytes that
 * no one asked for are not. Costs a system call a request, and spares the caller an error whenever
 * a server was restarted or closed a connection that lay idle. */
static bool usable(struct chi_peer *peer)
{
	uint8_t byte = 0;
	if (peer->in.len > peer->taken && peer->ping_id == 0) {
		return false;
	}
	ssize_t n = peer->tls == NULL ? recv(peer->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT)
				      : chi_tls_read(peer->tls, &byte, 1);
	if (n > 0) {
		/* TLS cannot look at a byte and leave it. */
		return peer->ping_id != 0 &&
		       (peer->tls == NULL || chi_buffer_append(&peer->in, &byte, 1) == CHI_OK);
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

int chi_peer_ready(struct chi_client *client)
{
	struct chi_peer *peer = client->peer;
	peer->sent = false;
	peer->unanswered = false;
	peer->patient = false;
	peer->cancel = NULL;
	peer->until = client->deadline_ms != 0 ? chi_now_ms() + client->deadline_ms : INT64_MAX;
	if (peer->fd >= 0 && (peer->eof || !usable(peer))) {
		chi_peer_close(client);
	}
	if (peer->fd >= 0) {
		chi_buffer_consume(&peer->in, peer->taken);
		peer->taken = 0;
		chi_buffer_trim(&peer->in, KEEP_SIZE);
		return CHI_OK;
	}
	chi_buffer_consume(&peer->in, peer->in.len);
	peer->taken = 0;
	int64_t deadline = chi_now_ms() + client->options.connect_ms;
	int status = chi_connect(&client->address, client->text, client->options.connect_ms,
				 &peer->fd, &client->error);
	if (status == CHI_OK) {
		chi_connect_limit(peer->fd, &client->address, client->options.call_ms);
	}
	if (status == CHI_OK && client->address.kind == CHI_ADDRESS_TLS) {
		status = chi_tls_to_server(&client->options, &client->address, client->text,
					   peer->fd, deadline, &peer->tls, &client->error);
	}
	if (status == CHI_OK) {
		status = handshake(client);
	}
	if (status != CHI_OK) {
		chi_peer_close(client);
	}
	/* The handshake is no request: nothing of the caller's went out yet. */
	peer->sent = false;
	return status;
}
