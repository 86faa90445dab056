/* SPDX-License-Identifier: MIT */
/* The server's side of a verification: starts the child, passes its lines on, buries it. */
#include "daemon/verify.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "daemon/handler.h"
#include "daemon/log.h"
#include "daemon/server.h"
#include "daemon/worker.h"
#include "store/store.h"

/* Longer lines are passed on in parts. */
#define LINE_MAX_BYTES 1024

/* How often a child that has closed its output is looked after until it has ended. */
#define WAIT_MS 10

struct verify {
	struct chi_call call; /* conn is NULL once the client has gone or canceled */
	struct chi_worker *worker;
	struct chi_served *served;
	struct event *readable; /* on the child's output */
	struct event *waiting;	/* for the child's end */
	pid_t child;
	bool buried; /* waited for; its process id may be another's */
	int from;    /* -1 when closed */
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

static void wait_soon(struct verify *verify)
{
	static const struct timeval soon = {0, WAIT_MS * 1000L};
	event_add(verify->waiting, &soon);
}

/* Ends the child; what remains is to wait for that. */
static void let_go(struct chi_call *call)
{
	struct verify *verify = (struct verify *)call;
	close_output(verify);
	/* A child that has been buried has no process id any more. */
	if (!verify->buried) {
		kill(verify->child, SIGKILL);
		wait_soon(verify);
	}
}

static void resume(struct chi_call *call)
{
	struct verify *verify = (struct verify *)call;
	if (verify->readable != NULL && call->conn->out.len <= CHI_STREAM_MARK) {
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
		text = "a damage whose description is damaged too";
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
static void conclude(struct verify *verify, int how)
{
	struct chi_conn *conn = verify->call.conn;
	char text[128];
	int status = CHI_OK;
	text[0] = '\0';
	if (WIFSIGNALED(how)) {
		snprintf(text, sizeof(text),
			 "a damaged page stopped the verification (signal %d, %s)", WTERMSIG(how),
			 strsignal(WTERMSIG(how)));
		send_report(verify, text, strlen(text));
		verify->result.errors = verify->reports;
		status = -CHI_ECORRUPT;
	} else if (!verify->has_result) {
		snprintf(text, sizeof(text), "the verification could not be done");
		status = -CHI_EINTERNAL;
	} else if (verify->result.errors > 0 || WEXITSTATUS(how) != 0) {
		snprintf(text, sizeof(text), "the store is damaged in %" PRIu64 " places",
			 verify->result.errors);
		status = -CHI_ECORRUPT;
	}
	if (status == CHI_OK && verify->served->crashes.count > 0) {
		log_info("store.sound",
			 "store '{store}' is sound: what crashed before does not count any more",
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

/* Asks whether the child has ended; never waits for it. */
static void on_waiting(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct verify *verify = context;
	struct chi_worker *worker = verify->worker;
	int how = 0;
	if (waitpid(verify->child, &how, WNOHANG) == 0) {
		wait_soon(verify);
		return;
	}
	verify->buried = true;
	if (verify->call.conn != NULL) {
		conclude(verify, how);
	}
	chi_server_task_end(worker->server);
	worker->n_tasks--;
	event_free(verify->waiting);
	free(verify);
	chi_worker_wake(worker);
}

/* Reads on while the client reads; a child that is not read waits by itself. */
static void on_readable(evutil_socket_t fd, short what, void *context)
{
	(void)what;
	struct verify *verify = context;
	char bytes[4096];
	if (verify->call.conn->out.len > CHI_STREAM_MARK) {
		event_del(verify->readable);
		return;
	}
	ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n <= 0) {
		close_output(verify);
		take_line(verify);
		wait_soon(verify);
		chi_conn_reap(verify->worker);
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
	chi_conn_reap(verify->worker);
}

/* The child inherits standard error for what a sanitizer may say, and nothing else but the pipe. */
static int spawn(struct verify *verify, const char *path, uint64_t map_bytes, int to)
{
	char map[24];
	char program[] = "chistored";
	char verify_option[] = "--verify";
	char map_option[] = "--map-bytes";
	char *copy = strdup(path);
	char *arguments[] = {program, verify_option, copy, NULL, NULL, NULL};
	if (map_bytes > 0) {
		snprintf(map, sizeof(map), "%" PRIu64, map_bytes);
		arguments[3] = map_option;
		arguments[4] = map;
	}
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	int error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
	error = copy == NULL ? ENOMEM : error;
	if (error == 0) {
		error = posix_spawn(&verify->child, "/proc/self/exe", &actions, NULL, arguments,
				    environ);
	}
	posix_spawn_file_actions_destroy(&actions);
	free(copy);
	return error;
}

static int start(struct verify *verify, struct chi_task *task)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return chi_fault(&task->fault, -CHI_EBUSY, "cannot make a pipe (%s)",
				 strerror(errno));
	}
	verify->from = ends[0];
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	verify->readable = event_new(verify->worker->base, verify->from, EV_READ | EV_PERSIST,
				     on_readable, verify);
	verify->waiting = evtimer_new(verify->worker->base, on_waiting, verify);
	int error = ENOMEM;
	if (verify->readable != NULL && verify->waiting != NULL &&
	    event_add(verify->readable, NULL) == 0) {
		error = spawn(verify, chi_store_path(task->served->store),
			      verify->worker->server->config->map_bytes, ends[1]);
	}
	close(ends[1]);
	if (error != 0) {
		return chi_fault(&task->fault, -CHI_EBUSY, "cannot start a verification (%s)",
				 strerror(error));
	}
	return CHI_OK;
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
	verify->call.id = task->request->id;
	verify->call.op = CHI_OP_VERIFY;
	verify->call.ops = &verify_ops;
	if (!chi_server_task_begin(worker->server)) {
		free(verify);
		return chi_fault(&task->fault, -CHI_EBUSY,
				 "%d backups and verifications are running already", CHI_TASKS_MAX);
	}
	int status = start(verify, task);
	if (status < 0) {
		chi_server_task_end(worker->server);
		close_output(verify);
		if (verify->waiting != NULL) {
			event_free(verify->waiting);
		}
		free(verify);
		return status;
	}
	worker->n_tasks++;
	chi_call_add(task->conn, &verify->call);
	return CHI_OK;
}
