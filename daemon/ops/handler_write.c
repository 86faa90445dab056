/* SPDX-License-Identifier: MIT */
/* Jobs for the writer's thread, and its answers. */
#include <stdio.h>

#include "base/attr.h"
#include "base/fault.h"
#include "daemon/net/server.h"
#include "daemon/ops/handler.h"
#include "daemon/write/disk.h"
#include "daemon/write/job.h"
#include "daemon/write/writer.h"

static chi_deliver deliver_answer, deliver_loss;
static const struct chi_job_delivery delivery = {deliver_answer, deliver_loss};

/* No pointer to the connection leaves this thread but in the call, which is this thread's. */
struct chi_job *chi_handler_job(const struct chi_conn *conn, uint64_t id, enum chi_op op,
				const struct chi_idempotency_key *idempotency_key)
{
	struct chi_conn_ref to = chi_ref_of_conn(conn);
	struct chi_job *job = chi_job_new(&to, id, op, &delivery);
	if (job != NULL) {
		job->idempotency_key = *idempotency_key;
		job->idempotency_key.peer = conn->peer;
	}
	return job;
}

int chi_handler_queue(struct chi_conn *conn, struct chi_served *served, struct chi_job *job,
		      struct chi_fault *fault)
{
	/* The job is the writer's once it is pushed; its answer comes by this thread's mailbox. */
	struct chi_call *call = &job->answer->call;
	bool is_async = job->durability == CHI_ASYNC;
	/* An empty batch is work, too: of those alone no group would be too large. */
	job->records = job->records > 0 ? job->records : 1;
	int status = chi_store_writer_push(served->writer, job);
	if (status < 0) {
		chi_job_free(job);
		return chi_fail(fault, status, "the write queue of store '%s' is full",
				served->name);
	}
	conn->pinned = conn->pinned || is_async;
	chi_call_add(conn, call);
	return CHI_OK;
}

/* Without a change: Compact, and Outcome where the writer has to be asked. */
int chi_handle_whole(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	struct chi_job *job =
		chi_handler_job(task->conn, request->id, request->op, &request->idempotency_key);
	return job == NULL ? -CHI_ENOMEM
			   : chi_handler_queue(task->conn, task->served, job, &task->fault);
}

/* After all writes that came before, so that what is not known by then is not to be done. */
int chi_handle_outcome(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	if (request->idempotency_key.sequence == 0) {
		task->field = "idempotency_key";
		return chi_fail(&task->fault, -CHI_EINVAL, "missing");
	}
	if (!chi_import_sessions_await(&task->worker->server->import_sessions, task->served,
				       &request->idempotency_key)) {
		return chi_handle_whole(task);
	}
	const struct chi_outcome outcome = {.running = true};
	struct chi_response response = {
		.id = request->id, .last = true, .op = CHI_OP_OUTCOME, .body = &outcome};
	chi_arena_reset(&task->worker->results);
	chi_conn_answer(task->conn, &response);
	return CHI_OK;
}

/* By the thread that reads the disk. Once the disk has failed that holds until a restart: it may
 * have lost what was in memory. */
int chi_handle_check_disk(struct chi_task *task)
{
	static const struct chi_idempotency_key none;
	struct chi_served *served = task->served;
	if (atomic_load(&served->disk_failed)) {
		return chi_fail(&task->fault, -CHI_EIO,
				"the disk of store '%s' has failed since the server was started",
				served->name);
	}
	struct chi_job *job =
		chi_handler_job(task->conn, task->request->id, CHI_OP_CHECK_DISK, &none);
	if (job == NULL) {
		return -CHI_ENOMEM;
	}
	struct chi_call *call = &job->answer->call;
	int status = chi_disk_watch_push(served->disk, job);
	if (status < 0) {
		chi_job_free(job);
		return chi_fail(&task->fault, status, "too many wait for the disk of store '%s'",
				served->name);
	}
	chi_call_add(task->conn, call);
	return CHI_OK;
}

/* The entry at fault is named if the writer knows it: it does when a put fails, not a commit. So is
 * the mark, if that is why nothing was done. */
static void answer_failure(struct chi_conn *conn, const struct chi_job_answer *answer)
{
	char field[CHI_FIELD_SIZE + 32];
	const char *name = chi_op_name(answer->call.op);
	(void)snprintf(field, sizeof(field), "%s%s%s", name, answer->field[0] == '[' ? "" : ".",
		       answer->field);
	chi_conn_fail(conn, answer->call.id, answer->call.op, answer->status,
		      answer->is_mark		 ? "idempotency_key"
		      : answer->field[0] != '\0' ? field
						 : NULL,
		      answer->fault.text);
}

static void answer_freep(struct chi_job_answer **answer)
{
	chi_job_answer_free(*answer);
}

static void deliver_answer(struct chi_mail *mail, void *owner)
{
	struct chi_worker *worker = owner;
	_cleanup_(answer_freep) struct chi_job_answer *answer = (struct chi_job_answer *)mail;
	struct chi_conn *conn = answer->call.conn;
	/* The client may have gone meanwhile; what it wrote is written all the same. */
	if (conn == NULL) {
		return;
	}
	chi_call_remove(&answer->call);
	if (answer->status < 0) {
		answer_failure(conn, answer);
		return;
	}
	struct chi_response response = {
		.id = answer->call.id, .last = true, .op = answer->call.op, .body = answer->result};
	chi_arena_reset(&worker->results);
	chi_conn_answer(conn, &response);
}

/* No answer can be taken back. What the client hears instead is nothing more: an OK to a later
 * write would seem to confirm this one. */
static void deliver_loss(struct chi_mail *mail, void *context)
{
	_cleanup_(chi_freep) struct chi_job_loss *loss = (struct chi_job_loss *)mail;
	struct chi_worker *worker = context;
	if (loss->to.serial == worker->lost) {
		/* Its batches are lost by the thousand, and all connections are looked through for
		 * one. */
		return;
	}
	worker->lost = loss->to.serial;
	struct chi_conn *conn = chi_worker_find(worker, &loss->to);
	if (conn != NULL) {
		chi_conn_drop(conn, "an ASYNC write was lost");
	}
}
