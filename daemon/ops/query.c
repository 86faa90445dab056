/* SPDX-License-Identifier: MIT */
/*
 * Queries (ops/query.h) as runs: their rows are sent in pages. One whose work cannot be done by
 * halves has it done by a thread first, on a snapshot of its own.
 *
 *          thread ends                all is sent
 *   waiting ---------> run on its way ---------> freed
 *      | client gone, Cancel: freed when the thread ends
 */
#include "daemon/ops/query.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "daemon/net/server.h"
#include "daemon/ops/handler.h"
#include "proto/operations.h"
#include "store/store.h"

/* A query while a thread works for it. */
struct aside {
	struct chi_call call; /* conn NULL: no one waits for it */
	struct chi_mail mail; /* posted by the thread as its last act */
	struct chi_query *query;
	struct chi_worker *worker;
	struct chi_served *served;
	struct chi_served_copy *copy; /* kept */
	bool tells;		      /* the run that follows */
	int64_t worked_us;
	pthread_t thread;
	atomic_bool stop;
	size_t held; /* bytes of the thread's that count among the server's buffers */
	int status;
	struct chi_fault fault; /* of the thread */
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
	if (run->tells && run->is_open && !response->last) {
		response->thousandths = (uint16_t)chi_query_progress(query);
	}
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
	return chi_query_forget(query_of(run), &run->page);
}

static size_t memory_of_run(const struct chi_run *run)
{
	return sizeof(struct chi_query_run) - sizeof(*run) + chi_query_memory(query_of(run));
}

static char *describe_run(const struct chi_run *run)
{
	return chi_query_describe(query_of(run));
}

static void free_run(struct chi_run *run)
{
	chi_query_close(query_of(run));
	free(run);
}

static const struct chi_run_ops run_ops = {
	.pages = true,
	.bounded = true,
	.open = open_run,
	.release = release_run,
	.step = step_run,
	.fill = fill_run,
	.may_move = may_move,
	.forget = forget_run,
	.memory = memory_of_run,
	.describe = describe_run,
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

static void free_aside(struct aside *aside)
{
	chi_query_close(aside->query);
	chi_served_copy_leave(aside->copy);
	free(aside);
}

/* By the thread: what it holds is counted. */
static int hold_memory(struct aside *aside)
{
	struct chi_server *server = aside->worker->server;
	size_t bytes = sizeof(*aside) + chi_query_memory(aside->query);
	bool more = bytes > aside->held;
	atomic_fetch_add(&server->buffered, bytes);
	atomic_fetch_sub(&server->buffered, aside->held);
	aside->held = bytes;
	return more && chi_server_is_full(server)
		       ? chi_fail(&aside->fault, -CHI_EBUSY, "the server's buffers are full")
		       : CHI_OK;
}

static int work_aside(struct aside *aside, struct chi_read *read)
{
	struct chi_query *query = aside->query;
	int64_t began = chi_now_us();
	int status = chi_query_attach(query, read, &aside->fault);
	while (status == CHI_OK && !query->is_ready) {
		status = hold_memory(aside);
		aside->worked_us = chi_now_us() - began;
		status = status == CHI_OK ? chi_run_check_work(aside->worker, aside->worked_us,
							       &aside->fault)
					  : status;
		if (status == CHI_OK && atomic_load(&aside->stop)) {
			status = -CHI_ECANCELED;
		}
		status = status == CHI_OK ? chi_query_step(query, NULL, &aside->fault) : status;
	}
	chi_query_detach(query);
	return status == CHI_OK ? hold_memory(aside) : status;
}

static void *run_thread(void *context)
{
	struct aside *aside = context;
	struct chi_read *read = NULL;
	aside->status = chi_read_begin(aside->copy->store, &read);
	if (aside->status == CHI_OK) {
		aside->status = work_aside(aside, read);
		chi_read_end(read);
	}
	/* What damage was met only this thread knows. */
	if (aside->status < 0 && aside->fault.text[0] == '\0') {
		(void)chi_fail(&aside->fault, aside->status, "%s", chi_dir_error(aside->status));
	}
	chi_loop_post(&aside->worker->loop, &aside->mail);
	return NULL;
}

/* Its run takes the place of the call that has waited, and the query. */
static int start_run(struct aside *aside, struct chi_conn *conn)
{
	struct chi_request request = {.id = aside->call.id, .op = aside->call.op};
	const struct chi_task task = {.worker = aside->worker,
				      .conn = conn,
				      .request = &request,
				      .served = aside->served,
				      .copy = aside->copy};
	struct chi_query_run *run = new_run(aside->query);
	if (run == NULL) {
		return -CHI_ENOMEM;
	}
	aside->query = NULL;
	run->run.tells = aside->tells;
	chi_run_start(&run->run, &run_ops, &task, aside->call.credits);
	run->run.call.since_us = aside->call.since_us;
	run->run.worked_us = aside->worked_us;
	return CHI_OK;
}

/* The thread has ended: it refers to it no more. */
static void deliver_aside(struct chi_mail *mail, void *owner)
{
	struct chi_worker *worker = owner;
	struct aside *aside = (struct aside *)(void *)((char *)mail - offsetof(struct aside, mail));
	struct chi_conn *conn = aside->call.conn;
	pthread_join(aside->thread, NULL);
	chi_server_task_end(worker->server);
	worker->n_tasks--;
	atomic_fetch_sub(&worker->server->buffered, aside->held);
	if (conn != NULL) {
		chi_call_remove(&aside->call);
		int status = aside->status;
		status = status == CHI_OK ? start_run(aside, conn) : status;
		if (status < 0) {
			chi_run_log_slow(aside->call.op, aside->worked_us, NULL, conn);
			chi_conn_fail(conn, aside->call.id, aside->call.op, status, NULL,
				      aside->fault.text);
		}
	}
	free_aside(aside);
}

/* The client has gone or canceled. Until the thread has ended it is the thread's. */
static void let_go(struct chi_call *call)
{
	atomic_store(&((struct aside *)call)->stop, true);
}

/* Credit is kept for the run. */
static void keep_credit(struct chi_call *call)
{
	(void)call;
}

static const struct chi_call_ops aside_call = {.resume = keep_credit, .close = let_go};

static int start_thread(struct aside *aside, struct chi_fault *fault)
{
	int status = chi_server_task_begin(aside->worker->server, CHI_SEARCHES_MAX, fault);
	if (status < 0) {
		return status;
	}
	int error = pthread_create(&aside->thread, NULL, run_thread, aside);
	if (error != 0) {
		chi_server_task_end(aside->worker->server);
		return chi_fail(fault, -CHI_EBUSY, "cannot start a thread (%s)", strerror(error));
	}
	aside->worker->n_tasks++;
	return CHI_OK;
}

static int start_aside(struct chi_task *task, struct chi_query *query)
{
	struct aside *aside = calloc(1, sizeof(*aside));
	if (aside == NULL) {
		chi_query_close(query);
		return -CHI_ENOMEM;
	}
	aside->query = query;
	aside->worker = task->worker;
	aside->served = task->served;
	aside->copy = chi_served_copy_keep(task->copy);
	aside->tells = task->request->progress;
	aside->mail.deliver = deliver_aside;
	aside->call.ops = &aside_call;
	aside->call.id = task->request->id;
	aside->call.op = task->request->op;
	aside->call.credits = chi_call_window(task->request->window);
	int status = start_thread(aside, &task->fault);
	if (status < 0) {
		free_aside(aside);
		return status;
	}
	chi_call_add(task->conn, &aside->call);
	return CHI_OK;
}

int chi_handle_query(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	if (!chi_op_is_query(request)) {
		return chi_handle_answer(task);
	}
	if (chi_spread_query(task->conn)) {
		return CHI_OK;
	}
	struct chi_request own;
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
	run->run.tells = request->progress;
	chi_run_start(&run->run, &run_ops, task, chi_call_window(request->window));
	return CHI_OK;
}
