/* SPDX-License-Identifier: MIT */
/*
 * Changes (ops/change.h): checked here, on the worker, so that the writer's thread does nothing but
 * write. What one needs is made by a run before. A marked one for which that cannot be made goes to
 * the writer all the same: it may have been done when it was sent before.
 */
#include "ops/change.h"

#include <stdlib.h>

#include "base/fault.h"
#include "daemon/net/server.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "daemon/write/job.h"
#include "ops/op.h"

/* Steps between two looks at the clock. */
#define STEPS 1

struct making_run {
	struct chi_run run;
	const struct chi_making *making;
	struct chi_arena arena; /* of the request */
	void *request;		/* its own struct */
	struct chi_idempotency_key idempotency_key;
	void *made;
};

static struct making_run *making_of(struct chi_run *run)
{
	return (struct making_run *)run;
}

static int open_making(struct chi_run *run, struct chi_fault *fault)
{
	struct making_run *making = making_of(run);
	struct chi_ask ask = {.read = run->read, .fault = fault};
	int status = making->making->open(&ask, making->request);
	making->made = ask.made;
	return status;
}

static void release_making(struct chi_run *run)
{
	struct making_run *making = making_of(run);
	if (making->made != NULL) {
		making->making->close(making->made);
		making->made = NULL;
	}
}

/* It would begin again. */
static bool making_may_move(const struct chi_run *run)
{
	(void)run;
	return false;
}

static int step_making(struct chi_run *run, struct chi_fault *fault)
{
	struct making_run *making = making_of(run);
	(void)fault;
	return making->making->step(making->made, STEPS);
}

static int hand_on(struct chi_run *run, struct chi_conn *conn, int status, struct chi_fault *fault)
{
	struct making_run *making = making_of(run);
	if (status < 0 && making->idempotency_key.sequence == 0) {
		return status;
	}
	struct chi_job *job =
		chi_handler_job(conn, run->call.id, run->call.op, &making->idempotency_key);
	if (job == NULL) {
		return -CHI_ENOMEM;
	}
	chi_job_take_request(job, making->request, &making->arena);
	if (status == CHI_NONE) {
		job->made = making->made;
		making->made = NULL;
	} else {
		job->unmade = status;
		job->why_unmade = *fault;
	}
	return chi_handler_queue(conn, run->served, job, fault);
}

static size_t memory_of_making(const struct chi_run *run)
{
	const struct making_run *making = (const struct making_run *)run;
	return sizeof(*making) - sizeof(*run) + chi_arena_held(&making->arena);
}

static void free_making(struct chi_run *run)
{
	release_making(run);
	chi_arena_deinit(&making_of(run)->arena);
	free(run);
}

static const struct chi_run_ops making_ops = {
	.open = open_making,
	.release = release_making,
	.step = step_making,
	.may_move = making_may_move,
	.hand_on = hand_on,
	.memory = memory_of_making,
	.free = free_making,
};

static int start_making(struct chi_task *task, const struct chi_making *how,
			const struct chi_request *request, struct chi_arena *arena)
{
	struct making_run *making = calloc(1, sizeof(*making));
	if (making == NULL) {
		return -CHI_ENOMEM;
	}
	making->making = how;
	making->request = request->made;
	making->idempotency_key = request->idempotency_key;
	making->arena = *arena;
	chi_arena_init(arena, making->arena.budget);
	chi_page_init(&making->run.page, 1, 1);
	chi_run_start(&making->run, &making_ops, task, 1);
	return CHI_OK;
}

static int queue_change(struct chi_task *task, const struct chi_request *request,
			struct chi_arena *arena)
{
	struct chi_job *job =
		chi_handler_job(task->conn, request->id, request->op, &request->idempotency_key);
	if (job == NULL) {
		return -CHI_ENOMEM;
	}
	chi_job_take_request(job, request->made, arena);
	return chi_handler_queue(task->conn, task->served, job, &task->fault);
}

int chi_handle_change(struct chi_task *task)
{
	struct chi_request request;
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	const struct chi_change_ops *ops = chi_op_row_of(task->request->op)->change;
	struct chi_ask ask = {.arena = &task->worker->results,
			      .statistic = chi_dir_statistic(task->copy->store),
			      .fault = &task->fault};
	int status = chi_task_take_request(task, &arena, &request);
	status = status == CHI_OK ? chi_change_check(ops, &ask, request.made) : status;
	if (status < 0) {
		return chi_task_name_field(task, status, ask.field);
	}
	if (chi_change_is_trial(ops, request.made) && request.idempotency_key.sequence != 0) {
		task->field = "idempotency_key";
		return chi_fail(&task->fault, -CHI_EINVAL, "only of writes, not of a dry run");
	}
	return ops->making != NULL ? start_making(task, ops->making, &request, &arena)
				   : queue_change(task, &request, &arena);
}
