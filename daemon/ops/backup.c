/* SPDX-License-Identifier: MIT */
/*
 * Backup: a thread copies the store into a pipe, the worker reads the pipe as fast as the client
 * reads its answers. A client that stops reading fills the pipe, and the thread waits; one that
 * goes away closes it, and the thread's next write fails.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fault.h"
#include "daemon/events.h"
#include "daemon/ops/handler.h"
#include "daemon/server.h"
#include "daemon/net/worker.h"
#include "store/store.h"

/* Bytes of one response. */
#define CHUNK ((size_t)256 << 10)

struct backup {
	struct chi_call call; /* conn is NULL once the client has gone or canceled */
	struct chi_mail mail; /* posted by the thread as its last act */
	struct chi_worker *worker;
	struct chi_served *served;
	struct event *readable; /* on the pipe */
	struct event *stalled;	/* the client has not taken anything for too long */
	pthread_t thread;
	int from;      /* the pipe's end that the worker reads; -1 when closed */
	int to;	       /* the thread's */
	bool drained;  /* the pipe is empty and closed at its other end */
	bool finished; /* the thread has ended; status and fault may be read */
	int status;
	struct chi_fault fault;
};

/* The thread: touches only its end of the pipe, the store, and the verdict. */
static void *run(void *context)
{
	struct backup *backup = context;
	backup->status = chi_store_copy(backup->served->store, backup->to, &backup->fault);
	close(backup->to);
	chi_mailbox_post(&backup->worker->mailbox, &backup->mail);
	return NULL;
}

/* After this the thread's next write fails, if it is still at it. */
static void close_pipe(struct backup *backup)
{
	if (backup->readable != NULL) {
		event_free(backup->readable);
		backup->readable = NULL;
	}
	if (backup->stalled != NULL) {
		event_free(backup->stalled);
		backup->stalled = NULL;
	}
	if (backup->from >= 0) {
		close(backup->from);
		backup->from = -1;
	}
}

/* The last response, once there is nothing more to read and the thread's verdict is known. */
static void conclude(struct backup *backup)
{
	struct chi_conn *conn = backup->call.conn;
	if (conn == NULL || !backup->drained || !backup->finished) {
		return;
	}
	uint64_t id = backup->call.id;
	chi_call_remove(&backup->call);
	if (backup->status < 0) {
		const char *text = backup->fault.text;
		chi_conn_fail(conn, id, CHI_OP_BACKUP, backup->status, NULL,
			      text[0] != '\0' ? text : NULL);
		return;
	}
	struct chi_response response = {.id = id, .last = true, .op = CHI_OP_BACKUP};
	chi_conn_answer(conn, &response);
}

/* All bytes have been passed on and no more will come. Asked without reading, because the last
 * response needs no credit and a client may have granted none for it. */
static bool is_drained(const struct backup *backup)
{
	int left = 0;
	return backup->drained ||
	       (backup->finished && ioctl(backup->from, FIONREAD, &left) == 0 && left == 0);
}

/* The thread has ended: nothing else refers to the backup any more. */
static void deliver_end(struct chi_mail *mail, struct chi_worker *worker)
{
	struct backup *backup =
		(struct backup *)(void *)((char *)mail - offsetof(struct backup, mail));
	pthread_join(backup->thread, NULL);
	chi_server_task_end(worker->server);
	worker->n_tasks--;
	backup->finished = true;
	if (backup->call.conn == NULL) {
		free(backup);
		return;
	}
	/* Otherwise there may be bytes in the pipe still; who reads the last of them frees. */
	backup->drained = is_drained(backup);
	if (backup->drained) {
		conclude(backup);
		close_pipe(backup);
		free(backup);
	}
}

/* The client has gone or canceled. Until the thread has ended the backup is its. */
static void let_go(struct chi_call *call)
{
	struct backup *backup = (struct backup *)call;
	close_pipe(backup);
	if (backup->finished) {
		free(backup);
	}
}

/* Starts the clock of the client's patience anew, and reads on if it may be sent more. */
static void arm(struct backup *backup)
{
	uint64_t ms = backup->worker->server->config->limits.output_ms;
	struct timeval limit = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
	chi_event_add(backup->stalled, &limit);
	if (backup->drained) {
		return;
	}
	if (chi_call_may_send(&backup->call)) {
		chi_event_add(backup->readable, NULL);
	} else {
		event_del(backup->readable);
	}
}

static void resume(struct chi_call *call)
{
	struct backup *backup = (struct backup *)call;
	if (!backup->drained && chi_call_may_send(call)) {
		chi_event_add(backup->readable, NULL);
	}
}

static const struct chi_call_ops backup_ops = {.resume = resume, .close = let_go};

/* The thread has closed its end: all bytes have been passed on. */
static void at_end(struct backup *backup)
{
	backup->drained = true;
	event_del(backup->readable);
	bool over = backup->finished;
	conclude(backup);
	if (over) {
		close_pipe(backup);
		free(backup);
	}
}

/* The next bytes, as one response. */
static void on_readable(evutil_socket_t fd, short what, void *context)
{
	(void)what;
	struct backup *backup = context;
	struct chi_worker *worker = backup->worker;
	struct chi_conn *conn = backup->call.conn;
	if (!chi_call_may_send(&backup->call)) {
		event_del(backup->readable);
		return;
	}
	chi_arena_reset(&worker->results);
	uint8_t *bytes = chi_arena_alloc(&worker->results, CHUNK);
	if (bytes == NULL) {
		return;
	}
	ssize_t n = read(fd, bytes, CHUNK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n <= 0) {
		at_end(backup);
		return;
	}
	struct chi_response response = {.id = backup->call.id, .op = CHI_OP_BACKUP};
	response.u.backup.data = bytes;
	response.u.backup.len = (size_t)n;
	backup->call.credits--;
	chi_conn_answer(conn, &response);
	if (conn->state != CHI_CONN_DEAD && is_drained(backup)) {
		at_end(backup);
	} else if (conn->state != CHI_CONN_DEAD) {
		arm(backup);
	}
	chi_conn_reap(worker);
}

/* A stalled backup holds a snapshot, and the store's file grows with every write meanwhile. */
static void on_stalled(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct backup *backup = context;
	struct chi_conn *conn = backup->call.conn;
	uint64_t id = backup->call.id;
	if (chi_call_may_send(&backup->call)) {
		arm(backup);
		return;
	}
	chi_call_remove(&backup->call);
	let_go(&backup->call);
	chi_conn_fail(conn, id, CHI_OP_BACKUP, -CHI_ETIMEOUT, NULL,
		      "timed out: the client does not read the backup");
}

static int make_pipe(struct backup *backup, struct chi_fault *fault)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return chi_fault(fault, errno == EMFILE || errno == ENFILE ? -CHI_EBUSY : -CHI_EIO,
				 "cannot make a pipe (%s)", strerror(errno));
	}
	backup->from = ends[0];
	backup->to = ends[1];
	/* Only the reading end: the thread is meant to wait. A larger pipe is a favour. */
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fcntl(ends[0], F_SETPIPE_SZ, (int)CHUNK);
	backup->readable = event_new(backup->worker->base, backup->from, EV_READ | EV_PERSIST,
				     on_readable, backup);
	backup->stalled = evtimer_new(backup->worker->base, on_stalled, backup);
	return backup->readable == NULL || backup->stalled == NULL ? -CHI_ENOMEM : CHI_OK;
}

static int start(struct backup *backup, struct chi_fault *fault)
{
	int status = make_pipe(backup, fault);
	if (status < 0) {
		return status;
	}
	int error = pthread_create(&backup->thread, NULL, run, backup);
	if (error != 0) {
		return chi_fault(fault, -CHI_EBUSY, "cannot start a thread (%s)", strerror(error));
	}
	return CHI_OK;
}

int chi_handle_backup(struct chi_task *task)
{
	struct chi_worker *worker = task->worker;
	uint32_t window = task->request->u.backup.window;
	struct backup *backup = calloc(1, sizeof(*backup));
	if (backup == NULL) {
		return -CHI_ENOMEM;
	}
	backup->worker = worker;
	backup->served = task->served;
	backup->mail.deliver = deliver_end;
	backup->from = -1;
	backup->to = -1;
	backup->call.id = task->request->id;
	backup->call.op = CHI_OP_BACKUP;
	backup->call.ops = &backup_ops;
	backup->call.credits = chi_call_window(window);
	if (!chi_server_task_begin(worker->server)) {
		free(backup);
		return chi_fault(&task->fault, -CHI_EBUSY,
				 "%d backups and verifications are running already", CHI_TASKS_MAX);
	}
	int status = start(backup, &task->fault);
	if (status < 0) {
		chi_server_task_end(worker->server);
		close_pipe(backup);
		if (backup->to >= 0) {
			close(backup->to);
		}
		free(backup);
		return status;
	}
	worker->n_tasks++;
	chi_call_add(task->conn, &backup->call);
	arm(backup);
	return CHI_OK;
}
