/* SPDX-License-Identifier: MIT */
/* Writes: checked here, on the worker, so that the writer's thread does nothing but write; then
 * copied into a job, because the request's memory ends with it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/key.h"
#include "daemon/ops/handler.h"
#include "daemon/write/job.h"
#include "daemon/net/server.h"
#include "store/store.h"
#include "daemon/write/writer.h"

static chi_deliver deliver_answer, deliver_loss;
static const struct chi_job_delivery delivery = {deliver_answer, deliver_loss};

/* Key and content of each entry; names the first one that is not right. */
static int check_entries(struct chi_task *task)
{
	struct chi_request *request = task->request;
	for (size_t i = 0; i < request->u.put.n; i++) {
		struct chi_put *put = &request->u.put.entries[i];
		const struct chi_text *fen =
			request->u.put.fens != NULL ? &request->u.put.fens[i] : NULL;
		if (fen != NULL && fen->len > 0) {
			int status =
				chi_key_from_fen(fen->bytes, fen->len, &put->key, &task->fault);
			if (status < 0) {
				return chi_task_field(task, status, "put.entries[%zu].fen", i);
			}
		}
		int status = chi_put_check(put, task->served->statistic, &task->fault);
		if (status < 0) {
			const char *part = status == -CHI_EKEY ? "key" : "record";
			return chi_task_field(task, status, "put.entries[%zu].%s", i, part);
		}
	}
	return CHI_OK;
}

/* Addressed by slot and generation: no pointer to the connection leaves this thread. */
static struct chi_job *new_job(struct chi_task *task, enum chi_durability durability)
{
	struct chi_conn_ref to = chi_conn_ref(task->conn);
	struct chi_job *job = chi_job_new(&to, task->request->id, task->request->op, &delivery);
	if (job != NULL) {
		job->durability = durability;
		job->idempotency_key = task->request->idempotency_key;
		job->idempotency_key.peer = task->conn->peer;
	}
	return job;
}

/* Queues the job if `status` is CHI_OK, and registers the request as in flight; else frees the job.
 * Returns what came of it. */
static int push(struct chi_task *task, struct chi_job *job, int status)
{
	struct chi_call *call = status == CHI_OK ? calloc(1, sizeof(*call)) : NULL;
	if (call == NULL) {
		chi_job_free(job);
		return status == CHI_OK ? -CHI_ENOMEM : status;
	}
	/* An empty batch is work, too: of those alone no group would be too large. */
	job->records = job->records > 0 ? job->records : 1;
	status = chi_store_writer_push(task->served->writer, job);
	if (status < 0) {
		free(call);
		chi_job_free(job);
		return chi_fault(&task->fault, status, "the write queue of store '%s' is full",
				 task->served->name);
	}
	/* The answer cannot overtake this: it comes by this thread's mailbox. */
	call->id = task->request->id;
	call->op = task->request->op;
	chi_call_add(task->conn, call);
	return CHI_OK;
}

int chi_handle_put(struct chi_task *task)
{
	struct chi_request *request = task->request;
	int status = check_entries(task);
	if (status < 0) {
		return status;
	}
	struct chi_job *job = new_job(task, request->u.put.durability);
	if (job == NULL) {
		return -CHI_ENOMEM;
	}
	chi_job_set_base(job, request->u.put.base);
	status = chi_job_copy_puts(job, request->u.put.entries, request->u.put.n);
	if (status == CHI_OK) {
		status = chi_job_copy_game_ids(job, request->u.put.games, request->u.put.n_games);
	}
	return push(task, job, status);
}

int chi_handle_delete(struct chi_task *task)
{
	struct chi_request *request = task->request;
	struct chi_positions *positions = &request->u.del.positions;
	int status = chi_task_keys(task, positions, "delete");
	if (status < 0) {
		return status;
	}
	struct chi_job *job = new_job(task, request->u.del.durability);
	return job == NULL ? -CHI_ENOMEM
			   : push(task, job, chi_job_copy_keys(job, positions->keys, positions->n));
}

/* Without positions: Rescore, Compact, and Outcome where the writer has to be asked. */
int chi_handle_whole(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	struct chi_job *job = new_job(task, CHI_SYNC);
	if (job == NULL) {
		return -CHI_ENOMEM;
	}
	chi_job_set_base(job, request->op == CHI_OP_RESCORE ? request->u.rescore.base : NULL);
	return push(task, job, CHI_OK);
}

/* After all writes that came before, so that what is not known by then is not to be done. */
int chi_handle_outcome(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	if (request->idempotency_key.sequence == 0) {
		task->field = "idempotency_key";
		return chi_fault(&task->fault, -CHI_EINVAL, "missing");
	}
	if (!chi_import_sessions_await(&task->worker->server->import_sessions, task->served,
				       &request->idempotency_key)) {
		return chi_handle_whole(task);
	}
	struct chi_response response = {.id = request->id, .last = true, .op = CHI_OP_OUTCOME};
	response.u.outcome.running = true;
	chi_arena_reset(&task->worker->results);
	chi_conn_answer(task->conn, &response);
	return CHI_OK;
}

/* The entry at fault is named if the writer knows it: it does when a put fails, not a commit. So is
 * the mark, if that is why nothing was done. */
static void answer_failure(struct chi_conn *conn, const struct chi_job_answer *answer)
{
	char place[40];
	const char *field = answer->is_mark ? "idempotency_key" : NULL;
	if (answer->at != SIZE_MAX) {
		snprintf(place, sizeof(place), "%s[%zu]",
			 answer->op == CHI_OP_PUT ? "put.entries" : "delete", answer->at);
		field = place;
	}
	chi_conn_fail(conn, answer->id, answer->op, answer->status, field, answer->fault.text);
}

static void deliver_answer(struct chi_mail *mail, struct chi_worker *worker)
{
	_cleanup_(chi_freep) struct chi_job_answer *answer = (struct chi_job_answer *)mail;
	struct chi_conn *conn = chi_worker_find(worker, &answer->to);
	struct chi_call *call = conn != NULL ? chi_call_find(conn, answer->id) : NULL;
	/* The client may have gone meanwhile; what it wrote is written all the same. */
	if (call == NULL) {
		return;
	}
	chi_call_remove(call);
	free(call);
	if (answer->status < 0) {
		answer_failure(conn, answer);
		return;
	}
	const struct chi_response response = {
		.id = answer->id, .last = true, .op = answer->op, .u.outcome = answer->outcome};
	chi_arena_reset(&worker->results);
	chi_conn_answer(conn, &response);
}

/* No answer can be taken back. What the client hears instead is nothing more: an OK to a later
 * write would seem to confirm this one. */
static void deliver_loss(struct chi_mail *mail, struct chi_worker *worker)
{
	_cleanup_(chi_freep) struct chi_job_loss *loss = (struct chi_job_loss *)mail;
	struct chi_conn *conn = chi_worker_find(worker, &loss->to);
	if (conn != NULL) {
		chi_conn_drop(conn, "an ASYNC write was lost");
	}
}
