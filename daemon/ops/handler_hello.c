/* SPDX-License-Identifier: MIT */
/* Who a client is, and what it is told of the server. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/ops/handler.h"
#include "service/log.h"
#include "daemon/net/server.h"
#include "proto/wire/frame.h"
#include "store/store.h"

/* Bytes that could forge or garble lines of the log are not taken over. */
static void take_client_name(struct chi_conn *conn, const struct chi_text *name)
{
	size_t len = name->len < CHI_CLIENT_NAME_MAX ? name->len : CHI_CLIENT_NAME_MAX;
	for (size_t i = 0; i < len; i++) {
		char c = name->bytes[i];
		conn->client[i] = c >= 0x20 && c < 0x7f ? c : '?';
	}
	conn->client[len] = '\0';
	log_debug("client.name", "connection {connection} is '{client}'",
		  log_text("connection", chi_name_of_conn(conn).text),
		  log_text("client", conn->client));
}

/* The client is told in full why it is denied: it knows what it has shown. */
static int let_in(struct chi_task *task)
{
	struct chi_conn *conn = task->conn;
	const struct chi_text *token = &task->request->u.hello.access_token;
	const char *why = "";
	if (token->len > 0) {
		conn->token = malloc(CHI_DIGEST_SIZE);
		if (conn->token == NULL) {
			return -CHI_ENOMEM;
		}
		int status = chi_access_digest(token->bytes, token->len, conn->token);
		if (status < 0) {
			return status;
		}
	}
	int status = chi_conn_role(conn, &conn->role, &why);
	if (status == CHI_OK && conn->role > CHI_ROLE_NONE) {
		return CHI_OK;
	}
	log_limited_info(
		"client.refuse",
		"access denied to '{peer}', connection {connection} of '{client}' ({cause})",
		log_text("peer", chi_conn_peer(conn).text),
		log_text("connection", chi_name_of_conn(conn).text),
		log_text("client", conn->client), log_text("cause", why));
	return chi_fail(&task->fault, status < 0 ? status : -CHI_EACCES, "access denied: %s", why);
}

/* Of the state that is committed now. 0 if it cannot be read: the oldest there is, so that a client
 * is rather taken for forgotten than for new. */
static uint64_t sequence_of(const struct chi_served *served)
{
	struct chi_read *read;
	if (chi_read_begin(served->copy->store, &read) < 0) {
		return 0;
	}
	uint64_t sequence = chi_read_sequence(read);
	chi_read_end(read);
	return sequence;
}

/* The greeting: who we are, what may be asked, and how much at a time. */
int chi_handle_hello(struct chi_task *task)
{
	static const char program[] = "chistored " CHI_VERSION;
	struct chi_server *server = task->worker->server;
	const struct chi_limits *limits = &server->config->limits;
	struct chi_store_name *names =
		chi_arena_array(&task->worker->results, server->n_stores, sizeof(*names));
	if (task->conn->state != CHI_CONN_HELLO) {
		return chi_fail(&task->fault, -CHI_EINVAL, "hello was sent before");
	}
	if (task->request->u.hello.version != CHI_PROTOCOL_VERSION) {
		task->field = "hello.version";
		return chi_fail(&task->fault, -CHI_EVERSION,
				"this server speaks version %d of the protocol",
				CHI_PROTOCOL_VERSION);
	}
	if (names == NULL) {
		return -CHI_ENOMEM;
	}
	take_client_name(task->conn, &task->request->u.hello.client);
	int status = let_in(task);
	if (status < 0) {
		return status;
	}
	for (size_t i = 0; i < server->n_stores; i++) {
		const struct chi_served *served = &server->stores[i];
		names[i] = (struct chi_store_name){
			.name = {served->name, strlen(served->name)},
			.statistic = chi_dir_statistic(served->copy->store),
			.writable = chi_served_read_only(served) == CHI_READ_ONLY_NOT,
			.sequence = sequence_of(served),
		};
		memcpy(names[i].uuid, chi_dir_uuid(served->copy->store), sizeof(names[i].uuid));
	}
	struct chi_response response = {.id = task->request->id, .last = true, .op = CHI_OP_HELLO};
	response.u.hello.version = CHI_PROTOCOL_VERSION;
	response.u.hello.server = (struct chi_text){program, sizeof(program) - 1};
	response.u.hello.limits = (struct chi_hello_limits){
		.request_bytes = (uint32_t)limits->request_bytes,
		.response_bytes = CHI_FRAME_RESPONSE_MAX,
		.probe_positions = CHI_PROBE_MAX,
		.put_entries = CHI_PUT_MAX,
		.requests_in_flight = (uint32_t)limits->in_flight,
		.scan_rows = CHI_SCAN_ROWS_MAX,
	};
	response.u.hello.stores = names;
	response.u.hello.n_stores = server->n_stores;
	chi_conn_welcome(task->conn);
	chi_conn_answer(task->conn, &response);
	return CHI_OK;
}

int chi_handle_ping(struct chi_task *task)
{
	struct chi_response response = {.id = task->request->id, .last = true, .op = CHI_OP_PING};
	chi_conn_answer(task->conn, &response);
	return CHI_OK;
}
