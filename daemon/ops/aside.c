/* SPDX-License-Identifier: MIT */
/* The thread, and the call that waits for it. */
#include "daemon/ops/aside.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/net/server.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "store/store.h"

int chi_aside_hold(struct chi_aside *aside, size_t bytes)
{
	struct chi_server *server = aside->worker->server;
	bool more = bytes > aside->held;
	atomic_fetch_add(&server->buffered, bytes);
	atomic_fetch_sub(&server->buffered, aside->held);
	aside->held = bytes;
	return more && chi_server_is_full(server)
		       ? chi_fault(&aside->fault, -CHI_EBUSY, "the server's buffers are full")
		       : CHI_OK;
}

static void *run_thread(void *context)
{
	struct chi_aside *aside = context;
	struct chi_read *read = NULL;
	aside->status = chi_read_begin(aside->served->store, &read);
	if (aside->status == CHI_OK) {
		aside->status = aside->ops->work(aside, read);
		chi_read_end(read);
	}
	/* What damage was met only this thread knows. */
	if (aside->status < 0 && aside->fault.text[0] == '\0') {
		(void)chi_fault(&aside->fault, aside->status, "%s", chi_store_error(aside->status));
	}
	chi_mailbox_post(&aside->worker->mailbox, &aside->mail);
	return NULL;
}

/* Its run takes the place of the call that has waited. */
static int start_run(struct chi_aside *aside, struct chi_conn *conn)
{
	struct chi_request request = {.id = aside->call.id, .op = aside->call.op};
	const struct chi_task task = {.worker = aside->worker,
				      .conn = conn,
				      .request = &request,
				      .served = aside->served};
	struct chi_run *run = aside->ops->make_run(aside);
	if (run == NULL) {
		return -CHI_ENOMEM;
	}
	uint32_t credits = aside->call.credits;
	int64_t since_us = aside->call.since_us;
	const struct chi_run_ops *ops = aside->ops->run_ops;
	aside->ops->free(aside);
	chi_run_start(run, ops, &task, credits);
	run->call.since_us = since_us;
	return CHI_OK;
}

/* The thread has ended: it refers to it no more. */
static void deliver_end(struct chi_mail *mail, struct chi_worker *worker)
{
	struct chi_aside *aside =
		(struct chi_aside *)(void *)((char *)mail - offsetof(struct chi_aside, mail));
	struct chi_conn *conn = aside->call.conn;
	pthread_join(aside->thread, NULL);
	chi_server_task_end(worker->server);
	worker->n_tasks--;
	atomic_fetch_sub(&worker->server->buffered, aside->held);
	if (conn == NULL) {
		aside->ops->free(aside);
		return;
	}
	uint64_t id = aside->call.id;
	enum chi_op op = aside->call.op;
	struct chi_fault fault = aside->fault;
	chi_call_remove(&aside->call);
	int status = aside->status;
	status = status == CHI_OK ? start_run(aside, conn) : status;
	if (status < 0) {
		aside->ops->free(aside);
		chi_conn_fail(conn, id, op, status, NULL, fault.text);
	}
}

/* The client has gone or canceled. Until the thread has ended it is the thread's. */
static void let_go(struct chi_call *call)
{
	struct chi_aside *aside = (struct chi_aside *)call;
	atomic_store(&aside->stop, true);
}

/* Credit is kept for the run. */
static void resume(struct chi_call *call)
{
	(void)call;
}

static const struct chi_call_ops call_ops = {.resume = resume, .close = let_go};

static int start_thread(struct chi_aside *aside, struct chi_fault *fault)
{
	int status = chi_server_task_begin(aside->worker->server, CHI_SEARCHES_MAX, fault);
	if (status < 0) {
		return status;
	}
	int error = pthread_create(&aside->thread, NULL, run_thread, aside);
	if (error != 0) {
		chi_server_task_end(aside->worker->server);
		return chi_fault(fault, -CHI_EBUSY, "cannot start a thread (%s)", strerror(error));
	}
	aside->worker->n_tasks++;
	return CHI_OK;
}

int chi_aside_start(struct chi_aside *aside, const struct chi_aside_ops *ops, struct chi_task *task,
		    uint32_t window)
{
	aside->ops = ops;
	aside->worker = task->worker;
	aside->served = task->served;
	aside->mail.deliver = deliver_end;
	aside->call.ops = &call_ops;
	aside->call.id = task->request->id;
	aside->call.op = task->request->op;
	aside->call.credits = chi_call_window(window);
	int status = start_thread(aside, &task->fault);
	if (status < 0) {
		ops->free(aside);
		return status;
	}
	chi_call_add(task->conn, &aside->call);
	return CHI_OK;
}
