/* SPDX-License-Identifier: MIT */
/* Writes: checked here, on the worker, so that the writer's thread does nothing but write; then
 * copied into a job, because the request's memory ends with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/key.h"
#include "daemon/ops/handler.h"
#include "daemon/write/job.h"
#include "daemon/net/server.h"
#include "search/filter/terms.h"
#include "store/archive.h"
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
struct chi_job *chi_handler_job(const struct chi_conn *conn, uint64_t id, enum chi_op op,
				const struct chi_idempotency_key *idempotency_key)
{
	struct chi_conn_ref to = chi_conn_ref(conn);
	struct chi_job *job = chi_job_new(&to, id, op, &delivery);
	if (job != NULL) {
		job->idempotency_key = *idempotency_key;
		job->idempotency_key.peer = conn->peer;
	}
	return job;
}

static struct chi_job *new_job(struct chi_task *task, enum chi_durability durability)
{
	const struct chi_request *request = task->request;
	struct chi_job *job =
		chi_handler_job(task->conn, request->id, request->op, &request->idempotency_key);
	if (job != NULL) {
		job->durability = durability;
	}
	return job;
}

int chi_handler_queue(struct chi_conn *conn, struct chi_served *served, struct chi_job *job,
		      struct chi_fault *fault)
{
	struct chi_call *call = calloc(1, sizeof(*call));
	if (call == NULL) {
		chi_job_free(job);
		return -CHI_ENOMEM;
	}
	call->id = job->answer->id;
	call->op = job->op;
	/* An empty batch is work, too: of those alone no group would be too large. */
	job->records = job->records > 0 ? job->records : 1;
	int status = chi_store_writer_push(served->writer, job);
	if (status < 0) {
		free(call);
		chi_job_free(job);
		return chi_fault(fault, status, "the write queue of store '%s' is full",
				 served->name);
	}
	/* The answer cannot overtake this: it comes by this thread's mailbox. */
	chi_call_add(conn, call);
	return CHI_OK;
}

/* Queues the job if `status` is CHI_OK; else frees it. Returns what came of it. */
static int push(struct chi_task *task, struct chi_job *job, int status)
{
	if (status != CHI_OK) {
		chi_job_free(job);
		return status;
	}
	return chi_handler_queue(task->conn, task->served, job, &task->fault);
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

int chi_handle_change_names(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	const struct chi_name_change *changes = request->u.change_names.changes;
	size_t n = request->u.change_names.n;
	int status = chi_name_changes_check(changes, n, &task->fault);
	if (status < 0) {
		task->field = "change_names.changes";
		return status;
	}
	if (request->u.change_names.dry_run && request->idempotency_key.sequence != 0) {
		task->field = "idempotency_key";
		return chi_fault(&task->fault, -CHI_EINVAL, "only of writes, not of a dry run");
	}
	struct chi_job *job = new_job(task, CHI_SYNC);
	if (job == NULL) {
		return -CHI_ENOMEM;
	}
	job->dry_run = request->u.change_names.dry_run;
	return push(task, job, chi_job_copy_changes(job, changes, n));
}

int chi_handle_drop_gameset(struct chi_task *task)
{
	const char *name = task->request->u.gameset.name;
	int status = chi_gameset_name_check(name, strlen(name), &task->fault);
	if (status < 0) {
		task->field = "drop_gameset.name";
		return status;
	}
	struct chi_job *job = new_job(task, CHI_SYNC);
	if (job == NULL) {
		return -CHI_ENOMEM;
	}
	chi_job_set_gameset(job, name);
	return push(task, job, CHI_OK);
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

static void answer_freep(struct chi_job_answer **answer)
{
	chi_job_answer_free(*answer);
}

static void deliver_answer(struct chi_mail *mail, struct chi_worker *worker)
{
	_cleanup_(answer_freep) struct chi_job_answer *answer = (struct chi_job_answer *)mail;
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
	struct chi_response response = {.id = answer->id, .last = true, .op = answer->op};
	if (answer->op == CHI_OP_CHANGE_NAMES) {
		response.u.change_names = (struct chi_change_names_result){
			answer->outcome, answer->refused, answer->n_refused};
	} else if (answer->op == CHI_OP_QUEUE_TAKE) {
		response.u.queue_take =
			(struct chi_queue_taken){answer->outcome, answer->taken, answer->n_taken};
	} else {
		response.u.outcome = answer->outcome;
	}
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
