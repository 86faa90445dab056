/* SPDX-License-Identifier: MIT */
/* The queue of positions: changes go to the writer. */
#include "store/queue.h"

#include "base/fault.h"
#include "daemon/ops/handler.h"
#include "daemon/write/job.h"

/* A job of the positions, if the request is good so far. */
static int start_job(struct chi_task *task, int status, struct chi_positions *positions,
		     const struct chi_queue_job *queue, const char *holder)
{
	const struct chi_request *request = task->request;
	const char *name = chi_op_name(request->op);
	if (status < 0) {
		task->field = name;
		return status;
	}
	status = chi_task_keys(task, positions, name);
	if (status < 0) {
		return status;
	}
	struct chi_job *job =
		chi_handler_job(task->conn, request->id, request->op, &request->idempotency_key);
	if (job == NULL) {
		return -CHI_ENOMEM;
	}
	chi_job_set_queue(job, queue, holder);
	status = chi_job_copy_keys(job, positions->keys, positions->n);
	if (status != CHI_OK) {
		chi_job_free(job);
		return status;
	}
	chi_job_count_queue(job);
	return chi_handler_queue(task->conn, task->served, job, &task->fault);
}

int chi_handle_queue_add(struct chi_task *task)
{
	struct chi_positions *positions = &task->request->u.queue_add.positions;
	const struct chi_queue_job queue = {.priority = task->request->u.queue_add.priority};
	return start_job(task, CHI_OK, positions, &queue, "");
}

int chi_handle_queue_take(struct chi_task *task)
{
	struct chi_request *request = task->request;
	struct chi_positions *positions = &request->u.queue_take.positions;
	const struct chi_queue_take take = {.holder = request->u.queue_take.holder,
					    .lease_ms = request->u.queue_take.lease_ms,
					    .limit = request->u.queue_take.limit,
					    .keys = positions->n > 0 ? positions->keys : NULL,
					    .n_keys = positions->n};
	const struct chi_queue_job queue = {.lease_ms = take.lease_ms, .limit = take.limit};
	return start_job(task, chi_queue_take_check(&take, &task->fault), positions, &queue,
			 take.holder);
}

int chi_handle_queue_settle(struct chi_task *task)
{
	struct chi_request *request = task->request;
	struct chi_positions *positions = &request->u.queue_settle.positions;
	const struct chi_queue_job queue = {.lease = request->u.queue_settle.lease,
					    .action = request->u.queue_settle.action,
					    .lease_ms = request->u.queue_settle.lease_ms};
	int status = queue.action == CHI_QUEUE_DROP
			     ? CHI_OK
			     : chi_queue_settle_check(queue.action, positions->n, queue.lease_ms,
						      &task->fault);
	return start_job(task, status, positions, &queue, "");
}
