/* SPDX-License-Identifier: MIT */
/*
 * Verification: a thread reads the store and writes a line for each damage into a pipe; the worker
 * passes the lines on while the client reads. A client that does not read fills the pipe, and the
 * thread waits. One that goes away stops the thread.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "daemon/net/worker.h"
#include "daemon/ops/handler.h"
#include "daemon/server.h"
#include "daemon/status/log.h"
#include "store/store.h"

/* Longer lines are passed on in parts. */
#define LINE_MAX_BYTES 1024

struct verify {
	struct chi_call call; /* conn is NULL once the client has gone or canceled */
	struct chi_mail mail; /* posted by the thread as its last act */
	struct chi_worker *worker;
	struct chi_served *served;
	struct event *readable; /* on the pipe; NULL when closed */
	pthread_t thread;
	int from;	  /* the worker's end of the pipe; -1 when closed */
	int to;		  /* the thread's */
	atomic_bool stop; /* the thread is to end */
	bool finished;	  /* the thread has ended: status and result may be read */
	int status;
	struct chi_verify_result result;
	char line[LINE_MAX_BYTES];
	size_t len;
};

/* ---- The thread --------------------------------------------------------------------------- */

/* Ends the verification if no one reads any more. */
static void write_report(void *context, const char *text)
{
	struct verify *verify = context;
	char line[LINE_MAX_BYTES];
	int len = snprintf(line, sizeof(line) - 1, "%s", text);
	size_t left = len < (int)sizeof(line) - 1 ? (size_t)len : sizeof(line) - 2;
	const char *at = line;
	line[left++] = '\n';
	while (left > 0 && !atomic_load(&verify->stop)) {
		ssize_t n = write(verify->to, at, left);
		if (n < 0 && errno != EINTR) {
			atomic_store(&verify->stop, true);
		} else if (n > 0) {
			at += n;
			left -= (size_t)n;
		}
	}
}

static void *run(void *context)
{
	struct verify *verify = context;
	verify->status = chi_store_verify_until(verify->served->store, &verify->stop, write_report,
						verify, &verify->result);
	close(verify->to);
	chi_mailbox_post(&verify->worker->mailbox, &verify->mail);
	return NULL;
}

/* ---- The worker --------------------------------------------------------------------------- */

static void close_pipe(struct verify *verify)
{
	if (verify->readable != NULL) {
		event_free(verify->readable);
		verify->readable = NULL;
	}
	if (verify->from >= 0) {
		close(verify->from);
		verify->from = -1;
	}
}

static void deliver_end(struct chi_mail *mail, struct chi_worker *worker);

/* Ends the thread; what remains is to hear of that. */
static void let_go(struct chi_call *call)
{
	struct verify *verify = (struct verify *)call;
	atomic_store(&verify->stop, true);
	close_pipe(verify);
	if (verify->finished) {
		/* Later: it may be in use right now. */
		chi_mailbox_post(&verify->worker->mailbox, &verify->mail);
	}
}

static void resume(struct chi_call *call)
{
	struct verify *verify = (struct verify *)call;
	if (verify->readable != NULL && call->conn->out.len <= CHI_STREAM_KEY) {
		event_add(verify->readable, NULL);
	}
}

static const struct chi_call_ops verify_ops = {.resume = resume, .close = let_go};

/* One damage; verification has no window, the socket alone slows it down. */
static void send_report(struct verify *verify)
{
	struct chi_response response = {.id = verify->call.id, .op = CHI_OP_VERIFY};
	static const char damaged[] = "damage without a readable description";
	bool sound = chi_utf8_valid(verify->line, verify->len);
	response.u.verify.report = sound ? (struct chi_text){verify->line, verify->len}
					 : (struct chi_text){damaged, sizeof(damaged) - 1};
	verify->len = 0;
	chi_arena_reset(&verify->worker->results);
	chi_conn_answer(verify->call.conn, &response);
}

/* The last response. */
static void conclude(struct verify *verify)
{
	struct chi_conn *conn = verify->call.conn;
	struct chi_served *served = verify->served;
	char text[64] = "";
	if (verify->status == -CHI_ECORRUPT) {
		(void)snprintf(text, sizeof(text), "the store is damaged in %" PRIu64 " places",
			       verify->result.errors);
	} else if (verify->status == CHI_OK && served->crashes.count > 0) {
		log_info("store.sound", "store '{store}' is sound: earlier crashes no longer count",
			 log_text("store", served->name));
		chi_crashes_forget(&served->crashes);
	}
	struct chi_response response = {
		.id = verify->call.id, .op = CHI_OP_VERIFY, .last = true, .status = verify->status};
	const char *message =
		text[0] != '\0' || verify->status == CHI_OK ? text : chi_strerror(verify->status);
	response.message = (struct chi_text){message, strlen(message)};
	response.u.verify.result = verify->result;
	chi_call_remove(&verify->call);
	chi_arena_reset(&verify->worker->results);
	chi_conn_answer(conn, &response);
}

/* Over when the thread has ended and what it said is read, or wanted no more. */
static void finish(struct verify *verify)
{
	struct chi_worker *worker = verify->worker;
	if (!verify->finished || verify->readable != NULL) {
		return;
	}
	if (verify->call.conn != NULL) {
		conclude(verify);
	}
	chi_server_task_end(worker->server);
	worker->n_tasks--;
	close_pipe(verify);
	free(verify);
}

static void deliver_end(struct chi_mail *mail, struct chi_worker *worker)
{
	struct verify *verify =
		(struct verify *)(void *)((char *)mail - offsetof(struct verify, mail));
	if (!verify->finished) {
		pthread_join(verify->thread, NULL);
		verify->finished = true;
	}
	finish(verify);
	chi_conn_reap(worker);
}

/* Reads on while the client reads. */
static void on_readable(evutil_socket_t fd, short what, void *context)
{
	(void)what;
	struct verify *verify = context;
	struct chi_worker *worker = verify->worker;
	char bytes[4096];
	if (verify->call.conn->out.len > CHI_STREAM_KEY) {
		event_del(verify->readable);
		return;
	}
	ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	/* A report that cannot be sent drops the connection, and its calls with it. */
	for (ssize_t i = 0; i < n && verify->call.conn != NULL; i++) {
		if (bytes[i] != '\n') {
			verify->line[verify->len++] = bytes[i];
		}
		if (bytes[i] == '\n' || verify->len == sizeof(verify->line)) {
			send_report(verify);
		}
	}
	if (n <= 0) {
		close_pipe(verify);
		finish(verify);
	}
	chi_conn_reap(worker);
}

static int start(struct verify *verify, struct chi_fault *fault)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return chi_fault(fault, -CHI_EBUSY, "cannot make a pipe (%s)", strerror(errno));
	}
	verify->from = ends[0];
	verify->to = ends[1];
	/* Only the reading end: the thread is meant to wait. */
	fcntl(verify->from, F_SETFL, O_NONBLOCK);
	verify->readable = event_new(verify->worker->base, verify->from, EV_READ | EV_PERSIST,
				     on_readable, verify);
	if (verify->readable == NULL || event_add(verify->readable, NULL) < 0) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int error = pthread_create(&verify->thread, NULL, run, verify);
	return error == 0 ? CHI_OK
			  : chi_fault(fault, -CHI_EBUSY, "cannot start a thread (%s)",
				      strerror(error));
}

int chi_handle_verify(struct chi_task *task)
{
	struct chi_worker *worker = task->worker;
	struct verify *verify = calloc(1, sizeof(*verify));
	if (verify == NULL) {
		return -CHI_ENOMEM;
	}
	verify->worker = worker;
	verify->served = task->served;
	verify->mail.deliver = deliver_end;
	verify->from = -1;
	verify->to = -1;
	verify->call.id = task->request->id;
	verify->call.op = CHI_OP_VERIFY;
	verify->call.ops = &verify_ops;
	if (!chi_server_task_begin(worker->server)) {
		free(verify);
		return chi_fault(&task->fault, -CHI_EBUSY,
				 "%d backups and verifications are running already", CHI_TASKS_MAX);
	}
	int status = start(verify, &task->fault);
	if (status < 0) {
		chi_server_task_end(worker->server);
		close_pipe(verify);
		if (verify->to >= 0) {
			close(verify->to);
		}
		free(verify);
		return status;
	}
	worker->n_tasks++;
	chi_call_add(task->conn, &verify->call);
	return CHI_OK;
}
