/* SPDX-License-Identifier: MIT */
/* Operations that are answered at once, from this turn's snapshot. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "chess/key.h"
#include "daemon/ops/handler.h"
#include "service/log.h"
#include "daemon/net/server.h"
#include "daemon/net/net.h"
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
	if (chi_read_begin(served->store, &read) < 0) {
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
			.statistic = served->statistic,
			.writable = served->writable,
			.sequence = sequence_of(served),
		};
		memcpy(names[i].uuid, chi_dir_uuid(served->store), sizeof(names[i].uuid));
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

/* Says which position's record could not be read. */
static int name_position(struct chi_task *task, int status, const struct chi_key *key)
{
	char fen[CHI_FEN_SIZE];
	if (chi_key_to_fen(key, fen, NULL) < 0) {
		return status;
	}
	return chi_fail(&task->fault, status, "cannot read the record of '%s' (%s)", fen,
			chi_strerror(status));
}

/* Answered together with the other probes of this turn. */
int chi_handle_probe(struct chi_task *task)
{
	struct chi_positions *positions = &task->request->u.positions;
	int status = chi_task_keys(task, positions, "probe");
	if (status < 0) {
		return status;
	}
	chi_probe_batch_add(task->conn, task->request->id, task->served, positions->keys,
			    positions->n);
	return CHI_OK;
}

/* Keys of a Get that are looked up together, before it is seen how much they have become. */
#define GET_TOGETHER 64

/* Some of the records asked for, into entries whose keys are set. */
static int read_some(struct chi_task *task, struct chi_read *read, struct chi_entry *entries,
		     size_t n)
{
	struct chi_key keys[GET_TOGETHER];
	struct chi_record records[GET_TOGETHER];
	bool found[GET_TOGETHER];
	size_t done = 0;
	for (size_t i = 0; i < n; i++) {
		keys[i] = entries[i].key;
	}
	int status = chi_read_records(read, keys, n, &task->worker->results, records, found, &done);
	if (status < 0) {
		return name_position(task, status, &keys[done < n ? done : 0]);
	}
	for (size_t i = 0; i < n; i++) {
		entries[i].record = records[i];
		entries[i].found = found[i];
	}
	return CHI_OK;
}

/* All records asked for, while they fit one response. */
static int read_entries(struct chi_task *task, struct chi_read *read, struct chi_entry *entries)
{
	const struct chi_positions *positions = &task->request->u.positions;
	uint64_t bytes = 0;
	for (size_t i = 0; i < positions->n; i++) {
		entries[i].key = positions->keys[i];
	}
	for (size_t i = 0; i < positions->n; i++) {
		size_t left = positions->n - i;
		int status = i % GET_TOGETHER != 0
				     ? CHI_OK
				     : read_some(task, read, entries + i,
						 left < GET_TOGETHER ? left : GET_TOGETHER);
		if (status < 0) {
			return status;
		}
		bytes += chi_entry_size(&entries[i]);
		if (bytes > CHI_FRAME_RESPONSE_MAX) {
			return chi_fail(&task->fault, -CHI_ETOOBIG,
					"the records from number %zu on do not fit one response, "
					"ask for fewer at a time",
					i);
		}
	}
	return CHI_OK;
}

/* Whole records; how large they are is known only when they have been read. */
int chi_handle_get(struct chi_task *task)
{
	struct chi_positions *positions = &task->request->u.positions;
	struct chi_read *read = NULL;
	int status = chi_task_keys(task, positions, "get");
	if (status == CHI_OK) {
		status = chi_worker_read(task->worker, task->served, &read);
	}
	if (status < 0) {
		return status;
	}
	struct chi_entry *entries =
		chi_arena_array(&task->worker->results, positions->n, sizeof(*entries));
	if (entries == NULL) {
		return -CHI_ENOMEM;
	}
	status = read_entries(task, read, entries);
	if (status < 0) {
		return status;
	}
	struct chi_response response = {.id = task->request->id, .last = true, .op = CHI_OP_GET};
	response.u.get.entries = entries;
	response.u.get.n = positions->n;
	chi_conn_answer(task->conn, &response);
	return CHI_OK;
}
