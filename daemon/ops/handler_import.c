/* SPDX-License-Identifier: MIT */
/* Import, ImportData, ImportEnd, and what the import's thread reports of it. */
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/events.h"
#include "daemon/clock.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/import_session.h"
#include "daemon/status/log.h"
#include "daemon/server.h"
#include "daemon/net/worker.h"

/* The import in flight with this id on the connection, or NULL. */
static struct chi_import_session *find(struct chi_task *task)
{
	struct chi_call *call = chi_call_find(task->conn, task->request->id);
	return call != NULL && call->op == CHI_OP_IMPORT ? (struct chi_import_session *)call : NULL;
}

/* ---- Answers ----------------------------------------------------------------------------- */

/* Notes as a response wants them, in the worker's arena; without memory they are left out. */
static void fill_notes(struct chi_worker *worker, const struct chi_import_session_news *news,
		       struct chi_response *response)
{
	struct chi_import_note *notes =
		chi_arena_array(&worker->results, news->n_notes, sizeof(*notes));
	size_t n = 0;
	for (const struct chi_import_session_note *at = news->notes; notes != NULL && at != NULL;
	     at = at->next) {
		notes[n++] = at->note;
	}
	response->u.import.notes = notes;
	response->u.import.n_notes = n;
}

/* More room, notes and how far it has come, while the import goes on. */
static void answer_news(struct chi_import_session *import,
			const struct chi_import_session_news *news)
{
	struct chi_response response = {.id = import->call.id, .op = CHI_OP_IMPORT};
	uint64_t more = import->ended ? 0 : news->consumed;
	if (more == 0 && news->n_notes == 0 && news->phase[0] == '\0') {
		return;
	}
	chi_arena_reset(&import->worker->results);
	fill_notes(import->worker, news, &response);
	response.u.import.credit = more;
	if (news->phase[0] != '\0') {
		response.u.import.phase = news->phase;
		response.u.import.done = news->done;
		response.u.import.total = news->total;
	}
	import->granted += more;
	chi_conn_answer(import->call.conn, &response);
}

static void stop_clock(struct chi_import_session *import)
{
	if (import->idle != NULL) {
		event_free(import->idle);
		import->idle = NULL;
	}
}

/* The log's word on the end. A client's own doing is no cause for concern. */
static void log_end(const struct chi_import_session *import, const char *why)
{
	const char *name = import->served->name;
	const struct chi_import_result *result = &import->result;
	double seconds = (double)(chi_now_ms() - import->began) / 1000;
	bool out = import->options.kind == CHI_IMPORT_SUBTRACT;
	if (import->status == CHI_OK) {
		log_info("import.end",
			 "{done} {taken} of {games} games {way} store '{store}' for '{client}' "
			 "(connection {connection}) in {seconds} s",
			 log_text("done", out ? "took" : "imported"),
			 log_number("taken", result->taken), log_number("games", result->games),
			 log_text("way", out ? "out of" : "into"), log_text("store", name),
			 log_text("client", import->client),
			 log_text("connection", import->connection.text),
			 log_seconds("seconds", seconds));
	} else if (import->status == -CHI_EFULL || import->status == -CHI_EIO ||
		   import->status == -CHI_ENOMEM || import->status == -CHI_ECORRUPT) {
		log_warning("import.fail",
			    "failed to import into store '{store}' for '{client}' (connection "
			    "{connection}) after {seconds} s ({cause})",
			    log_text("store", name), log_text("client", import->client),
			    log_text("connection", import->connection.text),
			    log_seconds("seconds", seconds), log_text("cause", why));
	} else {
		log_info("import.give_up",
			 "gave up an import into store '{store}' for '{client}' (connection "
			 "{connection}) after {seconds} s ({cause})",
			 log_text("store", name), log_text("client", import->client),
			 log_text("connection", import->connection.text),
			 log_seconds("seconds", seconds), log_text("cause", why));
	}
}

/* The last answer, and the end of the import. */
static void conclude(struct chi_import_session *import, const struct chi_import_session_news *news)
{
	struct chi_conn *conn = import->call.conn;
	uint64_t id = import->call.id;
	const char *why =
		import->fault.text[0] != '\0' ? import->fault.text : chi_strerror(import->status);
	stop_clock(import);
	log_end(import, why);
	if (conn != NULL) {
		chi_call_remove(&import->call);
	}
	if (conn != NULL && import->status < 0) {
		chi_conn_fail(conn, id, CHI_OP_IMPORT, import->status,
			      import->status == -CHI_EFORGOTTEN ? "idempotency_key" : NULL, why);
	} else if (conn != NULL) {
		struct chi_response response = {.id = id, .last = true, .op = CHI_OP_IMPORT};
		chi_arena_reset(&import->worker->results);
		fill_notes(import->worker, news, &response);
		response.u.import.result = import->result;
		chi_conn_answer(conn, &response);
	}
	chi_import_session_free(import);
}

/* ---- From the thread --------------------------------------------------------------------- */

/* The thread has something to tell, or has ended. */
static void deliver_news(struct chi_mail *mail, struct chi_worker *worker)
{
	struct chi_import_session *import =
		(struct chi_import_session *)(void *)((char *)mail -
						      offsetof(struct chi_import_session, mail));
	struct chi_import_session_news news = chi_import_session_take_news(import);
	if (news.over) {
		pthread_join(import->thread, NULL);
		chi_import_sessions_remove(&worker->server->import_sessions, import);
		worker->n_tasks--;
		conclude(import, &news);
	} else if (import->call.conn != NULL) {
		answer_news(import, &news);
	}
	chi_import_session_free_notes(news.notes);
}

/* ---- From the client --------------------------------------------------------------------- */

/* Nothing goes on when output has drained: an import sends little. */
static void resume(struct chi_call *call)
{
	(void)call;
}

/* The client has gone, or was told that it is over; the thread's last mail frees the import. */
static void let_go(struct chi_call *call)
{
	struct chi_import_session *import = (struct chi_import_session *)call;
	stop_clock(import);
	chi_import_session_cancel(import);
}

/* One that has all its data may be stored already: only its own answer can tell. */
static bool finishes(struct chi_call *call, bool cancel)
{
	struct chi_import_session *import = (struct chi_import_session *)call;
	if (cancel && import->ended) {
		chi_import_session_cancel(import);
	}
	return import->ended;
}

static const struct chi_call_ops import_ops = {
	.resume = resume, .close = let_go, .finishes = finishes};

static void start_clock(struct chi_import_session *import)
{
	uint64_t ms = import->worker->server->config->limits.import_ms;
	struct timeval limit = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
	chi_event_add(import->idle, &limit);
}

/* A client that begins an import and forgets it keeps others from theirs. */
static void on_idle(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_import_session *import = context;
	struct chi_worker *worker = import->worker;
	struct chi_conn *conn = import->call.conn;
	uint64_t id = import->call.id;
	if (import->ended) {
		return;
	}
	if (!chi_import_session_is_starved(import)) {
		start_clock(import);
		return;
	}
	chi_call_remove(&import->call);
	let_go(&import->call);
	chi_conn_fail(conn, id, CHI_OP_IMPORT, -CHI_ETIMEOUT, NULL,
		      "timed out: no data was sent for the import");
	chi_conn_reap(worker);
}

/* On failure the import is freed. */
static int start(struct chi_import_session *import, struct chi_fault *fault)
{
	struct chi_server *server = import->worker->server;
	uint64_t max = server->config->limits.imports;
	if (!chi_import_sessions_add(&server->import_sessions, import, max)) {
		free(import);
		return chi_fault(fault, -CHI_EBUSY,
				 "as many imports as are allowed are running: %" PRIu64, max);
	}
	import->idle = evtimer_new(import->worker->base, on_idle, import);
	int status = import->idle != NULL ? CHI_OK : -CHI_ENOMEM;
	if (status == CHI_OK) {
		status = chi_import_session_start(import, fault);
	}
	if (status < 0) {
		chi_import_sessions_remove(&server->import_sessions, import);
		stop_clock(import);
		free(import);
	}
	return status;
}

/* Who it is, as the client calls itself, and which of the connections that is. */
static void name_client(struct chi_import_session *import, const struct chi_conn *conn)
{
	memcpy(import->client, conn->client, sizeof(import->client));
	import->connection = chi_conn_name(conn);
}

int chi_handle_import(struct chi_task *task)
{
	struct chi_worker *worker = task->worker;
	const struct chi_request *request = task->request;
	struct chi_import_session *import = calloc(1, sizeof(*import));
	if (import == NULL) {
		return -CHI_ENOMEM;
	}
	import->worker = worker;
	import->served = task->served;
	import->mail.deliver = deliver_news;
	import->granted = CHI_IMPORT_CREDIT;
	import->began = chi_now_ms();
	name_client(import, task->conn);
	import->call.id = request->id;
	import->call.op = CHI_OP_IMPORT;
	import->call.ops = &import_ops;
	import->options = (struct chi_import_options){
		.kind = request->u.import.kind,
		.max_ply = request->u.import.max_ply,
		.games_min = request->u.import.games_min,
		.strict = request->u.import.strict,
		.memory = worker->server->config->limits.import_memory,
	};
	int status = start(import, &task->fault);
	if (status < 0) {
		return status;
	}
	log_info("import.begin",
		 "import into store '{store}' begun by '{peer}' as '{client}' (connection "
		 "{connection})",
		 log_text("store", import->served->name),
		 log_text("peer", chi_conn_peer(task->conn).text),
		 log_text("client", import->client),
		 log_text("connection", import->connection.text));
	worker->n_tasks++;
	chi_call_add(task->conn, &import->call);
	start_clock(import);
	struct chi_response response = {.id = request->id, .op = CHI_OP_IMPORT};
	response.u.import.credit = import->granted;
	chi_conn_answer(task->conn, &response);
	return CHI_OK;
}

/* Data for an import that has ended meanwhile was on its way when that was said: passed over. What
 * stands behind ImportEnd was not to be stored. */
int chi_handle_import_data(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	struct chi_import_session *import = find(task);
	if (import == NULL || import->ended) {
		return CHI_OK;
	}
	uint64_t cost = CHI_IMPORT_OVERHEAD + request->u.import_data.len;
	if (cost > import->granted) {
		task->field = "import_data.data";
		return chi_fault(&task->fault, -CHI_EINVAL, "more data than credit");
	}
	import->granted -= cost;
	/* Names alone do not keep the place. */
	if (request->u.import_data.len > 0) {
		start_clock(import);
	}
	return chi_import_session_push(import, &request->u.import_data.file,
				       request->u.import_data.bytes, request->u.import_data.len);
}

int chi_handle_import_end(struct chi_task *task)
{
	struct chi_import_session *import = find(task);
	if (import != NULL && !import->ended) {
		struct chi_idempotency_key key = task->request->idempotency_key;
		key.peer = task->conn->peer;
		import->ended = true;
		chi_import_sessions_mark(&import->worker->server->import_sessions, import, &key);
		chi_import_session_close(import);
	}
	return CHI_OK;
}
