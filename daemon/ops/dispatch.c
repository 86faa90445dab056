/* SPDX-License-Identifier: MIT */
/*
 * From the bytes of a request to its handler: what holds for every operation is checked here,
 * so that handlers see only requests that they can serve.
 */
#include "daemon/ops/handler.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/fault.h"
#include "daemon/net/net.h"
#include "daemon/ops/run.h"
#include "daemon/net/server.h"
#include "ops/op.h"
#include "service/log.h"
#include "store/store.h"

/* What drives an operation's row, */
static chi_handler *const by_kind[] = {
	[CHI_KIND_ANSWER] = chi_handle_answer,
	[CHI_KIND_QUERY] = chi_handle_query,
	[CHI_KIND_WRITE] = chi_handle_change,
	[CHI_KIND_BYTES] = chi_handle_piped,
};

/* and what does an operation of CHI_KIND_OTHER. */
static chi_handler *const others[CHI_OP_COUNT_OF_OPS] = {
	[CHI_OP_HELLO] = chi_handle_hello,	     [CHI_OP_PING] = chi_handle_ping,
	[CHI_OP_CHECK_DISK] = chi_handle_check_disk, [CHI_OP_CREDIT] = chi_handle_credit,
	[CHI_OP_CANCEL] = chi_handle_cancel,	     [CHI_OP_COMPACT] = chi_handle_whole,
	[CHI_OP_IMPORT] = chi_handle_import,	     [CHI_OP_IMPORT_DATA] = chi_handle_import_data,
	[CHI_OP_IMPORT_END] = chi_handle_import_end, [CHI_OP_OUTCOME] = chi_handle_outcome,
};

int chi_task_field(struct chi_task *task, int status, const char *format, ...)
{
	char text[128];
	va_list arguments;
	va_start(arguments, format);
	int len = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	size_t kept = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
	task->field = chi_arena_text(&task->worker->results, text, kept);
	return status;
}

/* Memory that a request may keep whatever it takes of it. */
#define SPARE_MAX ((size_t)16 << 10)

int chi_task_take_request(struct chi_task *task, struct chi_arena *arena, struct chi_request *out)
{
	struct chi_arena *requests = &task->worker->requests;
	size_t held = chi_arena_held(requests);
	*out = *task->request;
	if (held <= SPARE_MAX || held / 4 <= requests->used) {
		*arena = *requests;
		chi_arena_init(requests, arena->budget);
		return CHI_OK;
	}
	chi_arena_init(arena, requests->budget);
	/* It was good: what fails now is memory, and no field is at fault. */
	const char *none = NULL;
	return chi_request_unpack(task->body, task->len, arena, out, &none, &task->fault);
}

/* A client that has not said hello can only say hello. */
static int check_role(struct chi_task *task)
{
	const struct chi_conn *conn = task->conn;
	enum chi_op op = task->request->op;
	if (conn->state == CHI_CONN_HELLO || conn->role >= chi_op_row_of(op)->role) {
		return CHI_OK;
	}
	log_limited_info(
		"client.deny",
		"{operation} denied to '{peer}', connection {connection} of '{client}' "
		"(role '{role}')",
		log_text("operation", chi_op_name(op)), log_text("peer", chi_conn_peer(conn).text),
		log_text("connection", chi_name_of_conn(conn).text),
		log_text("client", conn->client), log_text("role", chi_role_name(conn->role)));
	return chi_fail(&task->fault, -CHI_EACCES,
			"access denied: %s needs the role '%s', and this client has '%s'",
			chi_op_label(op), chi_role_name(chi_op_row_of(op)->role),
			chi_role_name(conn->role));
}

/* Finds the store that the request names and sees whether it may be changed, and can answer. */
static int check_store(struct chi_task *task, unsigned flags)
{
	const struct chi_text *name = &task->request->store;
	task->served = chi_server_find(task->worker->server, name->bytes, name->len);
	if (task->served == NULL) {
		task->field = "store";
		return chi_fail(&task->fault, -CHI_ENOSTORE, "no store is named '%.*s'",
				name->len == 0	 ? CHI_STORE_NAME_MAX
				: name->len < 64 ? (int)name->len
						 : 64,
				name->len > 0 ? name->bytes : "default");
	}
	task->copy = task->served->copy;
	enum chi_read_only why = chi_served_read_only(task->served);
	if ((flags & CHI_NEEDS_WRITABLE) != 0 && why != CHI_READ_ONLY_NOT) {
		return chi_fail(&task->fault, -CHI_EREADONLY, "store '%s' is served read-only%s",
				task->served->name,
				why == CHI_READ_ONLY_CRASHES
					? " after repeated crashes of the server: verify the store"
				: why == CHI_READ_ONLY_DISK ? ": its disk has failed"
							    : "");
	}
	return chi_op_check(task->request,
			    chi_dir_keep(task->copy->store) == CHI_KEEP_GAMES ? CHI_HOLDS_GAMES
									      : CHI_HOLDS_COUNTS,
			    &task->fault);
}

/* What keeps one client, or all of them, from taking too much. What is answered at once adds
 * nothing to what is in flight, so that a probe is served beside any number of writes. */
static int check_load(struct chi_task *task, unsigned flags)
{
	const struct chi_server *server = task->worker->server;
	const struct chi_limits *limits = &server->config->limits;
	bool stays = (flags & CHI_STAYS) != 0 || chi_op_is_query(task->request);
	if (stays && task->conn->n_calls >= limits->in_flight) {
		return chi_fail(&task->fault, -CHI_EBUSY, "%llu requests are in flight already",
				(unsigned long long)limits->in_flight);
	}
	if (chi_server_is_full(server)) {
		return chi_fail(&task->fault, -CHI_EBUSY, "the server's buffers are full");
	}
	return CHI_OK;
}

/* Everything that can be said before the operation itself is looked at. */
static int check_request(struct chi_task *task, unsigned flags)
{
	const struct chi_request *request = task->request;
	if (request->id == 0) {
		task->field = "id";
		return chi_fail(&task->fault, -CHI_EINVAL, "the id must not be 0");
	}
	if ((flags & CHI_IS_SILENT) == 0 && chi_call_find(task->conn, request->id) != NULL) {
		task->field = "id";
		return chi_fail(&task->fault, -CHI_EINVAL,
				"a request with this id is in flight already");
	}
	int status = check_role(task);
	if (status == CHI_OK && (flags & CHI_WHEN_FULL) == 0) {
		status = check_load(task, flags);
	}
	if (status == CHI_OK && (flags & CHI_NEEDS_STORE) != 0) {
		status = check_store(task, flags);
	}
	return status;
}

/* Deletions come by the thousand: of each connection the first one, and at its end their number. */
static void log_request(const struct chi_task *task)
{
	struct chi_conn *conn = task->conn;
	enum chi_op op = task->request->op;
	conn->deletes += op == CHI_OP_DELETE ? 1 : 0;
	if (op != CHI_OP_DELETE || conn->deletes == 1) {
		log_info("client.request",
			 "{operation} of store '{store}' asked for by '{peer}' as '{client}' "
			 "(connection {connection})",
			 log_text("operation", chi_op_name(op)),
			 log_text("store", task->served->name),
			 log_text("peer", chi_conn_peer(conn).text),
			 log_text("client", conn->client),
			 log_text("connection", chi_name_of_conn(conn).text));
	}
}

/* Any operation, once the client has said hello, and hello itself. */
static int serve(struct chi_task *task)
{
	enum chi_op op = task->request->op;
	const struct chi_op_row *row = chi_op_row_of(op);
	if (row->role == CHI_ROLE_NONE) {
		task->request->op = CHI_OP_UNKNOWN;
		return chi_fail(&task->fault, -CHI_EUNSUPPORTED, "unknown operation");
	}
	int status = check_request(task, row->flags);
	if (status == CHI_OK && (row->flags & CHI_IS_LOGGED) != 0) {
		log_request(task);
	}
	chi_handler *handler = row->kind == CHI_KIND_OTHER ? others[op] : by_kind[row->kind];
	return status < 0 ? status : handler(task);
}

/* Answers a failure. Of an import's data the answer is the import's, which ends; unless that is so
 * far that it will answer by itself. */
static void refuse_request(struct chi_task *task, int status)
{
	const struct chi_request *request = task->request;
	bool feeds = (chi_op_row_of(request->op)->flags & CHI_FEEDS) != 0;
	if (feeds && !chi_call_give_up(task->conn, request->id)) {
		return;
	}
	const char *text = task->fault.text[0] != '\0' ? task->fault.text : chi_dir_error(status);
	chi_conn_fail(task->conn, request->id, request->op, status, task->field, text);
}

/* What a client says about a request that is being answered. One that has ended meanwhile is no
 * mistake of the client's, and skipped. */
int chi_handle_credit(struct chi_task *task)
{
	struct chi_call *call = chi_call_find(task->conn, task->request->id);
	uint32_t more = task->request->u.credit.responses;
	if (call == NULL || call->ops == NULL) {
		return CHI_OK;
	}
	/* Never more than the largest window, regardless of the grant. */
	call->credits =
		more >= CHI_WINDOW_MAX - call->credits ? CHI_WINDOW_MAX : call->credits + more;
	call->ops->resume(call);
	return CHI_OK;
}

int chi_handle_cancel(struct chi_task *task)
{
	struct chi_call *call = chi_call_find(task->conn, task->request->id);
	if (call == NULL || call->ops == NULL) {
		return CHI_OK;
	}
	enum chi_op op = call->op;
	if (chi_call_give_up(task->conn, task->request->id)) {
		chi_conn_fail(task->conn, task->request->id, op, -CHI_ECANCELED, NULL, NULL);
	}
	return CHI_OK;
}

/* The arenas are emptied before a request and not after it: what the last one took is freed by
 * the next, or never, and an idle worker keeps one block of each. */
static void dispatch(struct chi_conn *conn, const uint8_t *body, size_t len)
{
	struct chi_worker *worker = conn->worker;
	struct chi_request request = {0};
	struct chi_task task = {
		.worker = worker, .conn = conn, .request = &request, .body = body, .len = len};
	bool first = conn->state == CHI_CONN_HELLO;
	if (chi_probe_batch_frame(conn, body, len)) {
		return;
	}
	if (conn->batched) {
		/* No one is promised an order, but there is no need to turn it round either. */
		chi_probe_batch_answer(worker);
	}
	if (conn->state == CHI_CONN_DEAD) {
		/* Its probes' answers were too many to hold, so this one could not be sent. */
		return;
	}
	chi_arena_reset(&worker->requests);
	chi_arena_reset(&worker->results);
	chi_dir_forget_damage();
	int status = chi_request_unpack(body, len, &worker->requests, &request, &task.field,
					&task.fault);
	bool malformed = status == -CHI_EPROTO;
	if (status >= 0) {
		/* The first request decides whether the two sides understand each other at all. */
		status = first && request.op != CHI_OP_HELLO
				 ? chi_fail(&task.fault, -CHI_EINVAL,
					    "the first request must be hello")
				 : serve(&task);
	}
	if (status < 0) {
		refuse_request(&task, status);
		if (first || malformed) {
			chi_conn_end(conn);
		}
	}
	if (first) {
		/* The access token is among it; what is kept is its digest. */
		chi_arena_wipe(&worker->requests);
	}
}

const struct chi_worker_ops chi_worker_ops = {
	.dispatch = dispatch,
	.run_slice = chi_run_slice,
	.run_tick = chi_run_tick,
	.run_release = chi_run_release,
};
