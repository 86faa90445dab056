/* SPDX-License-Identifier: MIT */
#include "tests/base/cases.h"
#include "tests/client/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/wire/frame.h"
#include "tests/client/world.h"

/* A failure in the server's thread cannot jump into cmocka: it ends the process. */
static void must(bool condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "scripted server: %s\n", what);
		abort();
	}
}

static void *serve_one(void *context)
{
	struct server *server = context;
	for (unsigned i = 0;; i++) {
		struct server_conn conn = {.fd = accept(server->fd, NULL, NULL), .number = i};
		if (conn.fd < 0) {
			return NULL;
		}
		atomic_fetch_add(&server->connections, 1);
		chi_arena_init(&conn.arena, (size_t)64 << 20);
		chi_buffer_init(&conn.in, (size_t)16 << 20);
		server->script(&conn);
		close(conn.fd);
		chi_buffer_deinit(&conn.in);
		chi_arena_deinit(&conn.arena);
	}
}

void server_start(struct server *server, server_script *script)
{
	*server = (struct server){.script = script};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	world_make_dir(server->dir);
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%.60s/socket", server->dir);
	(void)snprintf(server->address, sizeof(server->address), "unix:%.60s/socket", server->dir);
	server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(server->fd >= 0);
	assert_int_equal(bind(server->fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(server->fd, 16), 0);
	assert_int_equal(pthread_create(&server->thread, NULL, serve_one, server), 0);
}

void server_stop(struct server *server)
{
	shutdown(server->fd, SHUT_RDWR);
	assert_int_equal(pthread_join(server->thread, NULL), 0);
	close(server->fd);
	world_remove_dir(server->dir);
}

bool server_next(struct server_conn *conn, struct chi_request *request)
{
	chi_buffer_consume(&conn->in, conn->taken);
	conn->taken = 0;
	for (;;) {
		const uint8_t *body = NULL;
		size_t body_len = 0;
		size_t frame_len = 0;
		const char *field = NULL;
		int status = chi_frame_take(chi_buffer_bytes(&conn->in), conn->in.len,
					    CHI_FRAME_REQUEST_MAX, &body, &body_len, &frame_len);
		must(status >= 0, "the client sent no frame");
		if (status == CHI_OK) {
			conn->taken = frame_len;
			chi_arena_reset(&conn->arena);
			must(chi_request_unpack(body, body_len, &conn->arena, request, &field,
						NULL) == CHI_OK,
			     "the client sent no request");
			return true;
		}
		uint8_t *room = chi_buffer_reserve(&conn->in, 65536);
		must(room != NULL, "no memory");
		ssize_t n = recv(conn->fd, room, 65536, 0);
		if (n <= 0) {
			return false;
		}
		chi_buffer_added(&conn->in, (size_t)n);
	}
}

void server_send(struct server_conn *conn, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	while (len > 0) {
		size_t piece = conn->piece > 0 && conn->piece < len ? conn->piece : len;
		if (conn->cut > 0 && piece > conn->cut - conn->sent) {
			piece = conn->cut - conn->sent;
		}
		ssize_t n = piece > 0 ? send(conn->fd, at, piece, MSG_NOSIGNAL) : 0;
		if (n <= 0) {
			return;
		}
		conn->sent += (size_t)n;
		at += n;
		len -= (size_t)n;
	}
}

void server_answer(struct server_conn *conn, const struct chi_response *response)
{
	static const max_align_t none[64];
	struct chi_response whole = *response;
	struct chi_buffer out;
	if (response->body == NULL) {
		whole.body = none;
	}
	chi_buffer_init(&out, (size_t)8 << 20);
	must(chi_response_pack(&whole, &out) == CHI_OK, "cannot pack the answer");
	server_send(conn, chi_buffer_bytes(&out), out.len);
	chi_buffer_deinit(&out);
}

bool server_greet(struct server_conn *conn)
{
	struct chi_request request;
	if (!server_next(conn, &request)) {
		return false;
	}
	must(request.op == CHI_OP_HELLO, "the first request is no Hello");
	must(request.u.hello.version == CHI_PROTOCOL_VERSION, "another protocol version");
	struct chi_store_name store = {
		.name = {"default", 7}, .statistic = CHI_STATISTIC_EXTERNAL, .writable = true};
	struct chi_response hello = {
		.id = request.id,
		.last = true,
		.op = CHI_OP_HELLO,
		.u.hello = {.version = CHI_PROTOCOL_VERSION,
			    .server = {"scripted", 8},
			    .limits = {.request_bytes = CHI_FRAME_REQUEST_MAX,
				       .response_bytes = CHI_FRAME_RESPONSE_MAX,
				       .probe_positions = 100,
				       .put_entries = CHI_PUT_MAX,
				       .requests_in_flight = 16,
				       .scan_rows = CHI_SCAN_ROWS_MAX},
			    .stores = &store,
			    .n_stores = 1},
	};
	if (conn->limits != NULL) {
		hello.u.hello.limits = *conn->limits;
	}
	server_answer(conn, &hello);
	return true;
}

void server_wait_end(struct server_conn *conn)
{
	uint8_t bytes[4096];
	while (recv(conn->fd, bytes, sizeof(bytes), 0) > 0) {
	}
}

struct chi_client *server_open(const struct server *server, uint32_t ms)
{
	struct chi_options options = {CHI_OPTIONS_INIT, .call_ms = ms, .repeat_ms = CHI_NO_REPEAT};
	struct chi_client *client = NULL;
	struct chi_fault fault = {{0}};
	if (chi_open(server->address, &options, &client, &fault) != CHI_OK) {
		fail_msg("cannot open: %s", fault.text);
	}
	return client;
}

void server_pong(struct server_conn *conn, const struct chi_request *request)
{
	struct chi_response answer = {.id = request->id, .last = true, .op = CHI_OP_PING};
	server_answer(conn, &answer);
}

void server_answer_probe(struct server_conn *conn, uint64_t id, const struct chi_key *keys,
			 size_t n)
{
	static struct chi_row rows[CHI_PROBE_MAX];
	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct chi_row){
			.key = keys[i], .found = true, .chi2 = (uint16_t)(1 + keys[i].bytes[7])};
	}
	struct chi_response answer = {
		.id = id,
		.last = true,
		.op = CHI_OP_PROBE,
		.body = &(const struct chi_probed){.rows = rows, .n = n, .counts = true},
	};
	server_answer(conn, &answer);
}
