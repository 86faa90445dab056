/* SPDX-License-Identifier: MIT */
/*
 * Gamesets are made by a run, which looks at all games, and then stored by the writer. A marked one
 * that cannot be made goes to the writer all the same: it may have been made when it was sent
 * before.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "daemon/write/job.h"
#include "search/filter/terms.h"
#include "search/gamesets.h"

_Static_assert(CHI_GAMESET_TEXT_MAX == CHI_GAMESET_NAME_MAX &&
		       CHI_FILTER_MAX == CHI_TERMS_TEXT_MAX &&
		       CHI_FILTER_PRINT_MAX == CHI_TERMS_PRINT_SIZE,
	       "the protocol's limits are the search's");

/* Steps between two looks at the clock. */
#define STEPS 1

static int check_name(struct chi_task *task)
{
	const char *name = task->request->u.gameset.name;
	int status = chi_gameset_name_check(name, strlen(name), &task->fault);
	task->field = status < 0 ? "make_gameset.name" : task->field;
	return status;
}

struct gameset_run {
	struct chi_run run;
	struct chi_idempotency_key idempotency_key;
	char name[CHI_GAMESET_TEXT_MAX + 1];
	char *filter;
	struct chi_gameset_job *job;
};

static struct gameset_run *gameset_of(struct chi_run *run)
{
	return (struct gameset_run *)run;
}

static int open_gameset(struct chi_run *run, struct chi_fault *fault)
{
	struct gameset_run *gameset = gameset_of(run);
	return chi_gameset_open(run->read, gameset->name, gameset->filter, strlen(gameset->filter),
				&gameset->job, fault);
}

static void close_job(struct gameset_run *gameset)
{
	if (gameset->job != NULL) {
		chi_gameset_close(gameset->job);
		gameset->job = NULL;
	}
}

static void release(struct chi_run *run)
{
	close_job(gameset_of(run));
}

/* It would begin again. */
static bool may_move(const struct chi_run *run)
{
	(void)run;
	return false;
}

static int step_gamesets(struct chi_run *run, struct chi_fault *fault)
{
	(void)fault;
	return chi_gameset_step(gameset_of(run)->job, STEPS);
}

static int hand_on(struct chi_run *run, struct chi_conn *conn, int status, struct chi_fault *fault)
{
	struct gameset_run *gameset = gameset_of(run);
	bool marked = gameset->idempotency_key.sequence != 0;
	if (status < 0 && !marked) {
		return status;
	}
	struct chi_job *job =
		chi_handler_job(conn, run->call.id, run->call.op, &gameset->idempotency_key);
	if (job == NULL) {
		return -CHI_ENOMEM;
	}
	chi_job_set_gameset(job, gameset->name);
	if (status == CHI_NONE) {
		job->bitmap = gameset->job;
		gameset->job = NULL;
	} else {
		job->unmade = status;
		job->why_unmade = *fault;
	}
	return chi_handler_queue(conn, run->served, job, fault);
}

static size_t memory_of(const struct chi_run *run)
{
	return sizeof(struct gameset_run) - sizeof(*run);
}

static void free_run(struct chi_run *run)
{
	close_job(gameset_of(run));
	free(gameset_of(run)->filter);
	free(run);
}

static const struct chi_run_ops ops = {
	.open = open_gameset,
	.release = release,
	.step = step_gamesets,
	.may_move = may_move,
	.hand_on = hand_on,
	.memory = memory_of,
	.free = free_run,
};

int chi_handle_make_gameset(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	int status = check_name(task);
	if (status < 0) {
		return status;
	}
	struct gameset_run *gameset = calloc(1, sizeof(*gameset));
	if (gameset == NULL) {
		return -CHI_ENOMEM;
	}
	gameset->filter = strdup(request->u.gameset.filter);
	if (gameset->filter == NULL) {
		free(gameset);
		return -CHI_ENOMEM;
	}
	gameset->idempotency_key = request->idempotency_key;
	memcpy(gameset->name, request->u.gameset.name, strlen(request->u.gameset.name));
	chi_page_init(&gameset->run.page, 1, 1);
	chi_run_start(&gameset->run, &ops, task, 1);
	return CHI_OK;
}
