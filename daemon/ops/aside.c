/* SPDX-License-Identifier: MIT */
#include "daemon/ops/aside.h"

#include <stddef.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/net/server.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "store/store.h"

static void *run_thread(void *context)
{
	struct chi_aside *aside = context;
	struct chi_read *read = NULL;
	aside->status = chi_read_begin(aside->served->store, &read);
	if (aside->status == CHI_OK) {
		aside->status = aside->ops->work(aside, read);
		chi_read_end(read);
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
	struct chi_run *run = NULL;
	int64_t since = aside->call.since_us;
	int status = aside->ops->send(aside, &task, aside->call.credits, &run);
	if (status == CHI_OK) {
		run->call.since_us = since;
	}
	return status;
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

static int start(struct chi_aside *aside, struct chi_fault *fault)
{
	int status = chi_server_task_begin(aside->worker->server, fault);
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
	int status = start(aside, &task->fault);
	if (status < 0) {
		ops->free(aside);
		return status;
	}
	chi_call_add(task->conn, &aside->call);
	return CHI_OK;
}
