/* SPDX-License-Identifier: MIT */
/*
 * Backup and Verify: a thread reads the store and writes into a pipe, the bytes of a copy or a
 * packet for each damage; the worker reads the pipe while the client reads its answers. A client
 * that stops reading fills the pipe, and the thread waits; one that goes away closes it, and the
 * thread's next write fails.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "ops/op.h"
#include "service/events.h"
#include "daemon/net/net.h"
#include "daemon/ops/handler.h"
#include "daemon/net/server.h"
#include "service/log.h"
#include "store/store.h"

/* Bytes of one response, and of the pipe. */
#define CHUNK ((size_t)256 << 10)

/* Bytes of a damage's description; a pipe takes a packet of 4096. */
#define REPORT_MAX 1024

struct pipe_task {
	struct chi_call call; /* conn is NULL once the client has gone or canceled */
	struct chi_mail mail; /* posted by the thread as its last act */
	struct chi_worker *worker;
	struct chi_served *served;
	struct chi_served_copy *copy; /* kept */
	struct event *readable;	      /* on the pipe */
	struct event *stalled;	      /* the client has not taken anything for too long */
	pthread_t thread;
	int from;	  /* the worker's end of the pipe; -1 when closed */
	int to;		  /* the thread's */
	atomic_bool stop; /* a verification is to end */
	bool finished;	  /* the thread has ended: what follows may be read */
	int status;
	struct chi_fault fault;
	struct chi_whole_part last;
};

/* ---- The thread --------------------------------------------------------------------------- */

/* Ends the verification if the pipe is closed. */
static void write_report(void *context, const char *text)
{
	struct pipe_task *task = context;
	ssize_t n = write(task->to, text, strnlen(text, REPORT_MAX));
	if (n < 0) {
		atomic_store(&task->stop, true);
	}
}

static void *run_pipe(void *context)
{
	struct pipe_task *task = context;
	const struct chi_sink sink = {
		.fd = task->to, .report = write_report, .context = task, .stop = &task->stop};
	task->status = chi_op_row_of(task->call.op)
			       ->whole(task->copy->store, &sink, &task->last.result, &task->fault);
	close(task->to);
	chi_loop_post(&task->worker->loop, &task->mail);
	return NULL;
}

/* ---- The worker --------------------------------------------------------------------------- */

/* After this the thread's next write fails, if it still runs. */
static void close_pipe(struct pipe_task *task)
{
	chi_event_drop(&task->readable);
	chi_event_drop(&task->stalled);
	if (task->from >= 0) {
		close(task->from);
		task->from = -1;
	}
}

static void free_task(struct pipe_task *task)
{
	close_pipe(task);
	chi_served_copy_leave(task->copy);
	free(task);
}

/* The last response. */
static void conclude(struct pipe_task *task)
{
	struct chi_conn *conn = task->call.conn;
	struct chi_served *served = task->served;
	const char *text = task->status < 0 && task->fault.text[0] == '\0'
				   ? chi_strerror(task->status)
				   : task->fault.text;
	struct chi_response response = {.id = task->call.id,
					.op = task->call.op,
					.last = true,
					.status = task->status,
					.message = {text, strlen(text)},
					.body = &task->last};
	if (task->call.op == CHI_OP_VERIFY && task->status == CHI_OK && served->crashes.count > 0) {
		log_info("store.sound", "store '{store}' is sound: earlier crashes no longer count",
			 log_text("store", served->name));
		chi_crashes_forget(&served->crashes);
	}
	chi_call_remove(&task->call);
	chi_arena_reset(&task->worker->results);
	chi_conn_answer(conn, &response);
	free_task(task);
}

/* Restarts the client's time, and reads on if it may be sent more. The end is found without
 * reading: the last response needs no credit, and a client may have granted none for it. */
static void go_on(struct pipe_task *task)
{
	int left = 0;
	if (task->finished && ioctl(task->from, FIONREAD, &left) == 0 && left == 0) {
		conclude(task);
		return;
	}
	struct timeval limit = chi_event_ms(task->worker->server->config->limits.output_ms);
	chi_event_add(task->stalled, &limit);
	if (chi_call_may_send(&task->call)) {
		chi_event_add(task->readable, NULL);
	} else {
		event_del(task->readable);
	}
}

/* The thread has ended: it refers to the task no more. */
static void deliver_end(struct chi_mail *mail, void *owner)
{
	struct chi_worker *worker = owner;
	struct pipe_task *task =
		(struct pipe_task *)(void *)((char *)mail - offsetof(struct pipe_task, mail));
	pthread_join(task->thread, NULL);
	chi_server_task_end(worker->server);
	worker->n_tasks--;
	task->finished = true;
	if (task->call.conn == NULL) {
		free_task(task);
	} else {
		go_on(task);
	}
}

/* The client has gone or canceled. Until the thread has ended the task is its. */
static void let_go(struct chi_call *call)
{
	struct pipe_task *task = (struct pipe_task *)call;
	atomic_store(&task->stop, true);
	close_pipe(task);
	if (task->finished) {
		free(task);
	}
}

static void resume(struct chi_call *call)
{
	struct pipe_task *task = (struct pipe_task *)call;
	if (chi_call_may_send(call)) {
		chi_event_add(task->readable, NULL);
	}
}

static const struct chi_call_ops task_ops = {.resume = resume, .close = let_go};

/* The next bytes, as one response. A verification has no window, the socket alone slows it down. */
static void send_bytes(struct pipe_task *task, const uint8_t *bytes, size_t len)
{
	static const char damaged[] = "damage without a readable description";
	const char *text = (const char *)bytes;
	struct chi_whole_part piece = {.len = 0};
	const struct chi_response response = {
		.id = task->call.id, .op = task->call.op, .body = &piece};
	if (response.op == CHI_OP_BACKUP) {
		piece.data = bytes;
		piece.len = len;
		task->call.credits--;
	} else {
		piece.report = chi_utf8_valid(text, len)
				       ? (struct chi_text){text, len}
				       : (struct chi_text){damaged, sizeof(damaged) - 1};
	}
	chi_conn_answer(task->call.conn, &response);
}

/* Fails the request before its end, as the last that an event does. */
static void give_up(struct pipe_task *task, int status, const char *text)
{
	struct chi_worker *worker = task->worker;
	struct chi_conn *conn = task->call.conn;
	uint64_t id = task->call.id;
	enum chi_op op = task->call.op;
	chi_call_remove(&task->call);
	let_go(&task->call);
	chi_conn_fail(conn, id, op, status, NULL, text);
	chi_conn_reap(worker);
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
	(void)what;
	struct pipe_task *task = context;
	struct chi_worker *worker = task->worker;
	struct chi_conn *conn = task->call.conn;
	if (!chi_call_may_send(&task->call)) {
		event_del(task->readable);
		return;
	}
	chi_arena_reset(&worker->results);
	uint8_t *bytes = chi_arena_alloc(&worker->results, CHUNK);
	if (bytes == NULL) {
		/* The pipe stays readable, and would wake the loop until there is memory. */
		give_up(task, -CHI_ENOMEM, NULL);
		return;
	}
	ssize_t n = read(fd, bytes, CHUNK);
	if (n == 0) {
		/* The thread has closed its end, and its mail is on its way. */
		event_del(task->readable);
	} else if (n > 0) {
		send_bytes(task, bytes, (size_t)n);
		if (conn->state != CHI_CONN_DEAD) {
			go_on(task);
		}
		chi_conn_reap(worker);
	}
}

/* A stalled task holds a snapshot, and the store's file grows with every write meanwhile. */
static void on_stalled(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct pipe_task *task = context;
	if (chi_call_may_send(&task->call)) {
		struct chi_worker *worker = task->worker;
		go_on(task);
		chi_conn_reap(worker);
	} else {
		give_up(task, -CHI_ETIMEOUT, "timed out: the client does not read the answers");
	}
}

/* Only the reading end does not block: the thread is meant to wait. A larger pipe is a favour. */
static int start_pipe(struct pipe_task *task, struct chi_fault *fault)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | (task->call.op == CHI_OP_VERIFY ? O_DIRECT : 0)) < 0) {
		return chi_fail(fault, -CHI_EBUSY, "cannot make a pipe (%s)", strerror(errno));
	}
	task->from = ends[0];
	task->to = ends[1];
	fcntl(task->from, F_SETFL, fcntl(task->from, F_GETFL) | O_NONBLOCK);
	fcntl(task->from, F_SETPIPE_SZ, (int)CHUNK);
	task->readable = event_new(task->worker->loop.base, task->from, EV_READ | EV_PERSIST,
				   on_readable, task);
	task->stalled = evtimer_new(task->worker->loop.base, on_stalled, task);
	int error = task->readable == NULL || task->stalled == NULL
			    ? ENOMEM
			    : pthread_create(&task->thread, NULL, run_pipe, task);
	if (error != 0) {
		close(task->to);
		return chi_fail(fault, -CHI_EBUSY, "cannot start a thread (%s)", strerror(error));
	}
	return CHI_OK;
}

int chi_handle_piped(struct chi_task *request)
{
	struct chi_worker *worker = request->worker;
	struct pipe_task *task = calloc(1, sizeof(*task));
	if (task == NULL) {
		return -CHI_ENOMEM;
	}
	task->worker = worker;
	task->served = request->served;
	task->copy = chi_served_copy_keep(request->copy);
	task->mail.deliver = deliver_end;
	task->from = -1;
	task->call.id = request->request->id;
	task->call.op = request->request->op;
	task->call.ops = &task_ops;
	task->call.credits = task->call.op == CHI_OP_BACKUP
				     ? chi_call_window(request->request->window)
				     : CHI_WINDOW_MAX;
	int status = chi_server_task_begin(worker->server, CHI_TASKS_MAX, &request->fault);
	if (status == CHI_OK) {
		status = start_pipe(task, &request->fault);
		if (status < 0) {
			chi_server_task_end(worker->server);
		}
	}
	if (status < 0) {
		free_task(task);
		return status;
	}
	worker->n_tasks++;
	chi_call_add(request->conn, &task->call);
	go_on(task);
	return CHI_OK;
}
