/* SPDX-License-Identifier: MIT */
/* Queries (ops/query.h) as runs: their rows are sent in pages. One whose work cannot be done by
 * halves has it done by a thread first. */
#include "daemon/ops/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/ops/aside.h"
#include "daemon/ops/handler.h"
#include "proto/operations.h"
#include "store/store.h"

struct query_aside {
	struct chi_aside aside;
	struct chi_query *query;
};

static struct chi_query *query_of(const struct chi_run *run)
{
	return ((const struct chi_query_run *)run)->query;
}

/* ---- The run ------------------------------------------------------------------------------ */

static int open_run(struct chi_run *run, struct chi_fault *fault)
{
	return chi_query_attach(query_of(run), run->read, fault);
}

static void release_run(struct chi_run *run)
{
	chi_query_detach(query_of(run));
}

static int step_run(struct chi_run *run, struct chi_fault *fault)
{
	return chi_query_step(query_of(run), &run->page, fault);
}

static void fill_run(struct chi_run *run, struct chi_response *response)
{
	struct chi_query_run *query_run = (struct chi_query_run *)run;
	struct chi_query *query = query_run->query;
	const char *name = NULL;
	chi_query_result(query, &run->page, response->last, query_run->result);
	response->body = query_run->result;
	for (size_t i = 0; response->last && (name = chi_query_unknown(query, i)) != NULL; i++) {
		chi_run_tell_unknown(run, response, name);
	}
}

static bool may_move(const struct chi_run *run)
{
	return chi_query_may_detach(query_of(run));
}

static bool forget_run(struct chi_run *run)
{
	struct chi_query *query = query_of(run);
	bool may = query->ops->may_forget == NULL || query->ops->may_forget(query);
	if (may) {
		query->ops->forget(query, &run->page);
	}
	return may;
}

static size_t memory_of_run(const struct chi_run *run)
{
	return sizeof(struct chi_query_run) - sizeof(*run) + chi_query_memory(query_of(run));
}

static void free_run(struct chi_run *run)
{
	chi_query_close(query_of(run));
	free(run);
}

static const struct chi_run_ops run_ops = {
	.pages = true,
	.open = open_run,
	.release = release_run,
	.step = step_run,
	.fill = fill_run,
	.may_move = may_move,
	.forget = forget_run,
	.memory = memory_of_run,
	.free = free_run,
};

static struct chi_query_run *new_run(struct chi_query *query)
{
	struct chi_query_run *run = calloc(1, sizeof(*run));
	if (run != NULL) {
		run->query = query;
		chi_page_init_list(&run->run.page, chi_query_list(query->operation),
				   chi_query_row_size(query->op, query->request));
	}
	return run;
}

/* ---- Work by a thread --------------------------------------------------------------------- */

static size_t memory_of_aside(const struct chi_aside *aside)
{
	const struct chi_query *query = ((const struct query_aside *)aside)->query;
	return sizeof(struct query_aside) + (query != NULL ? chi_query_memory(query) : 0);
}

static void free_aside(struct chi_aside *aside)
{
	chi_query_close(((struct query_aside *)aside)->query);
	free(aside);
}

static int work(struct chi_aside *aside, struct chi_read *read)
{
	struct chi_query *query = ((struct query_aside *)aside)->query;
	int status = chi_query_attach(query, read, &aside->fault);
	while (status == CHI_OK && !query->is_ready) {
		status = chi_aside_hold(aside, memory_of_aside(aside));
		if (status == CHI_OK && atomic_load(&aside->stop)) {
			status = -CHI_ECANCELED;
		}
		status = status == CHI_OK ? chi_query_step(query, NULL, &aside->fault) : status;
	}
	chi_query_detach(query);
	return status == CHI_OK ? chi_aside_hold(aside, memory_of_aside(aside)) : status;
}

static struct chi_run *make_run(struct chi_aside *aside)
{
	struct query_aside *from = (struct query_aside *)aside;
	struct chi_query_run *run = new_run(from->query);
	if (run != NULL) {
		from->query = NULL;
	}
	return (struct chi_run *)run;
}

static const struct chi_aside_ops aside_ops = {
	.work = work,
	.make_run = make_run,
	.run_ops = &run_ops,
	.free = free_aside,
};

static int start_aside(struct chi_task *task, struct chi_query *query)
{
	struct query_aside *aside = calloc(1, sizeof(*aside));
	if (aside == NULL) {
		chi_query_close(query);
		return -CHI_ENOMEM;
	}
	aside->query = query;
	return chi_aside_start(&aside->aside, &aside_ops, task, task->request->window);
}

int chi_handle_query(struct chi_task *task)
{
	struct chi_request own;
	const struct chi_request *request = task->request;
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_query *query = NULL;
	const char *field = NULL;
	int status = chi_task_take_request(task, &arena, &own);
	status = status == CHI_OK ? chi_query_open(&own, &arena, &query, &field, &task->fault)
				  : status;
	if (status < 0) {
		return chi_task_name_field(task, status, field);
	}
	query->passing = &task->worker->results;
	if (query->ops->whole) {
		return start_aside(task, query);
	}
	struct chi_query_run *run = new_run(query);
	if (run == NULL) {
		chi_query_close(query);
		return -CHI_ENOMEM;
	}
	chi_run_start(&run->run, &run_ops, task, chi_call_window(request->window));
	return CHI_OK;
}
