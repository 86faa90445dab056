/* SPDX-License-Identifier: MIT */
/* The server's side of a verification: has a child started, passes its lines on, hears of its
 * end. */
#include "daemon/ops/verify.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "base/signals.h"
#include "daemon/ops/handler.h"
#include "daemon/status/log.h"
#include "daemon/server.h"
#include "daemon/verifier.h"
#include "daemon/net/worker.h"
#include "store/store.h"

/* Longer lines are passed on in parts. */
#define LINE_MAX_BYTES 1024

struct verify {
	struct chi_call call; /* conn is NULL once the client has gone or canceled */
	struct chi_worker *worker;
	struct chi_served *served;
	struct event *readable; /* on the child's output; NULL when closed */
	struct event *ended;	/* on `control`: the child's end */
	int from;		/* -1 when closed */
	int control;		/* see chi_verifier_begin */
	bool has_ended;
	int how; /* it has ended, as waitpid says; -1: nobody knows */
	char line[LINE_MAX_BYTES];
	size_t len;
	bool has_result;
	uint64_t reports;
	struct chi_verify_result result;
};

/* Nothing more is read from the child. */
static void close_output(struct verify *verify)
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

/* Ends the child; what remains is to hear of that. */
static void let_go(struct chi_call *call)
{
	struct verify *verify = (struct verify *)call;
	close_output(verify);
	shutdown(verify->control, SHUT_WR);
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
static void send_report(struct verify *verify, const char *text, size_t len)
{
	struct chi_response response = {.id = verify->call.id, .op = CHI_OP_VERIFY};
	verify->reports++;
	if (!chi_utf8_valid(text, len)) {
		text = "damage without a readable description";
		len = strlen(text);
	}
	response.u.verify.report = (struct chi_text){text, len};
	chi_arena_reset(&verify->worker->results);
	chi_conn_answer(verify->call.conn, &response);
}

/* A whole line: a damage, or the numbers at the end. */
static void take_line(struct verify *verify)
{
	if (chi_verify_parse(verify->line, verify->len, &verify->result)) {
		verify->has_result = true;
	} else if (verify->len > 0) {
		send_report(verify, verify->line, verify->len);
	}
	verify->len = 0;
}

/* The last response; says by its status what the child's end means. */
static void conclude(struct verify *verify)
{
	struct chi_conn *conn = verify->call.conn;
	char text[CHI_VERDICT_SIZE];
	int how = verify->how;
	int status = chi_verify_verdict(how, verify->has_result ? &verify->result : NULL,
					verify->reports, text);
	if (how >= 0 && WIFSIGNALED(how)) {
		if (chi_signal_is_crash(WTERMSIG(how))) {
			send_report(verify, text, strlen(text));
		}
		verify->result.errors = verify->reports;
	}
	if (status == CHI_OK && verify->served->crashes.count > 0) {
		log_info("store.sound", "store '{store}' is sound: earlier crashes no longer count",
			 log_text("store", verify->served->name));
		chi_crashes_forget(&verify->served->crashes);
	}
	if (verify->call.conn == NULL) {
		return; /* the report could not be sent, and the connection was dropped */
	}
	struct chi_response response = {
		.id = verify->call.id, .op = CHI_OP_VERIFY, .last = true, .status = status};
	response.message = (struct chi_text){text, strlen(text)};
	response.u.verify.result = verify->result;
	chi_call_remove(&verify->call);
	chi_arena_reset(&verify->worker->results);
	chi_conn_answer(conn, &response);
}

static void free_verify(struct verify *verify)
{
	close_output(verify);
	if (verify->ended != NULL) {
		event_free(verify->ended);
	}
	if (verify->control >= 0) {
		close(verify->control);
	}
	free(verify);
}

/* Over when the child has ended and what it said is read, or wanted no more. */
static void finish(struct verify *verify)
{
	struct chi_worker *worker = verify->worker;
	if (!verify->has_ended || verify->readable != NULL) {
		return;
	}
	if (verify->call.conn != NULL) {
		conclude(verify);
	}
	chi_server_task_end(worker->server);
	worker->n_tasks--;
	free_verify(verify);
	chi_worker_wake(worker);
}

static void on_ended(evutil_socket_t fd, short what, void *context)
{
	(void)what;
	struct verify *verify = context;
	struct chi_worker *worker = verify->worker;
	ssize_t n = recv(fd, &verify->how, sizeof(verify->how), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n != sizeof(verify->how)) {
		verify->how = -1;
	}
	verify->has_ended = true;
	event_del(verify->ended);
	finish(verify);
	chi_conn_reap(worker);
}

/* Reads on while the client reads; a child that is not read waits by itself. */
static void on_readable(evutil_socket_t fd, short what, void *context)
{
	(void)what;
	struct verify *verify = context;
	char bytes[4096];
	if (verify->call.conn->out.len > CHI_STREAM_KEY) {
		event_del(verify->readable);
		return;
	}
	ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	struct chi_worker *worker = verify->worker;
	if (n <= 0) {
		close_output(verify);
		take_line(verify);
		finish(verify);
		chi_conn_reap(worker);
		return;
	}
	/* A report that cannot be sent drops the connection, and its calls with it. */
	for (ssize_t i = 0; i < n && verify->call.conn != NULL; i++) {
		if (bytes[i] == '\n' || verify->len == sizeof(verify->line)) {
			take_line(verify);
		}
		if (bytes[i] != '\n') {
			verify->line[verify->len++] = bytes[i];
		}
	}
	chi_conn_reap(worker);
}

/* The ends that the child and the verifier have are closed here in every case. */
static int start(struct verify *verify, struct chi_task *task)
{
	const struct chi_verifier *verifier = verify->worker->server->verifier;
	int output[2];
	int control[2];
	if (pipe2(output, O_CLOEXEC) < 0) {
		return chi_fault(&task->fault, -CHI_EBUSY, "cannot make a pipe (%s)",
				 strerror(errno));
	}
	verify->from = output[0];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0) {
		close(output[1]);
		return chi_fault(&task->fault, -CHI_EBUSY, "cannot make a socket (%s)",
				 strerror(errno));
	}
	verify->control = control[0];
	fcntl(verify->from, F_SETFL, O_NONBLOCK);
	fcntl(verify->control, F_SETFL, O_NONBLOCK);
	verify->readable = event_new(verify->worker->base, verify->from, EV_READ | EV_PERSIST,
				     on_readable, verify);
	verify->ended = event_new(verify->worker->base, verify->control, EV_READ | EV_PERSIST,
				  on_ended, verify);
	int status = verify->readable == NULL || verify->ended == NULL ||
				     event_add(verify->readable, NULL) < 0 ||
				     event_add(verify->ended, NULL) < 0
			     ? chi_fault_plain(&task->fault, -CHI_ENOMEM)
			     : chi_verifier_begin(verifier, task->served->index, output[1],
						  control[1], &task->fault);
	close(output[1]);
	close(control[1]);
	return status;
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
	verify->from = -1;
	verify->control = -1;
	verify->call.id = task->request->id;
	verify->call.op = CHI_OP_VERIFY;
	verify->call.ops = &verify_ops;
	if (!chi_server_task_begin(worker->server)) {
		free_verify(verify);
		return chi_fault(&task->fault, -CHI_EBUSY,
				 "%d backups and verifications are running already", CHI_TASKS_MAX);
	}
	int status = start(verify, task);
	if (status < 0) {
		chi_server_task_end(worker->server);
		free_verify(verify);
		return status;
	}
	worker->n_tasks++;
	chi_call_add(task->conn, &verify->call);
	return CHI_OK;
}
