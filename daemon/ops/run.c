/* SPDX-License-Identifier: MIT */
/*
 * A run alternates between working (on the worker's list, a slice at a time, round robin) and
 * standing still (no credit, or too much unread output). What wakes it is credit, or output that
 * has drained. Its snapshot is independent of both: given up after its time or when a compaction
 * asks, and opened again by the next slice.
 *
 *           credit, output drained              credit used up, output unread
 *   still ----------------------------> running -----------------------------> still
 *                                          | end, failure, Cancel, client gone
 *                                          v
 *                                        freed
 */
#include "daemon/ops/run.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "service/events.h"
#include "daemon/net/server.h"
#include "daemon/ops/handler.h"
#include "daemon/settings/limits.h"
#include "store/store.h"

/* Work for a query that leaves a line in the log, if no less is allowed. */
#define SLOW_US 1000000
/* Of what has taken less when it gives up a snapshot, no plan is kept for that line. */
#define PLAN_US 100000

/* Between two responses that tell how far it is. */
#define PROGRESS_MS 200

/* Its memory counts among the buffers: thousands of runs may be on their way. */
static void account(struct chi_run *run)
{
	struct chi_server *server = run->worker->server;
	size_t now = sizeof(*run) + chi_page_memory(&run->page) + run->ops->memory(run) +
		     (run->plan != NULL ? strlen(run->plan) + 1 : 0);
	atomic_fetch_add(&server->buffered, now);
	atomic_fetch_sub(&server->buffered, run->accounted);
	run->accounted = now;
}

/* As it was at first: later less is left to do. */
static void keep_plan(struct chi_run *run)
{
	if (run->is_open && run->plan == NULL && run->ops->describe != NULL) {
		run->plan = run->ops->describe(run);
	}
}

static void release(struct chi_run *run)
{
	if (run->worked_us >= PLAN_US) {
		keep_plan(run);
	}
	if (run->is_open) {
		run->ops->release(run);
		run->is_open = false;
	}
	chi_read_end(run->read);
	run->read = NULL;
}

/* Its time with a snapshot is over. */
static bool is_old(const struct chi_run *run, int64_t now)
{
	const struct chi_limits *limits = &run->worker->server->config->limits;
	return now - run->read_since >= (int64_t)limits->snapshot_ms &&
	       (run->ops->may_move == NULL || run->ops->may_move(run));
}

/* What it holds may be much: one that has not begun must wait for better times. */
static int open_snapshot(struct chi_run *run, struct chi_fault *fault)
{
	if (run->is_open) {
		return CHI_OK;
	}
	if (!run->was_open && chi_server_is_full(run->worker->server)) {
		return chi_fail(fault, -CHI_EBUSY, "the server's buffers are full");
	}
	int status = chi_read_begin(run->copy->store, &run->read);
	if (status < 0) {
		return chi_fault_plain(fault, status);
	}
	run->read_since = chi_now_ms();
	status = run->ops->open(run, fault);
	run->is_open = status == CHI_OK;
	if (!run->is_open) {
		run->ops->release(run);
	}
	run->was_open = run->was_open || run->is_open;
	return status;
}

/* Puts it at the end of the worker's list, or takes it off. */
static void set_runnable(struct chi_run *run, bool on)
{
	static const struct timeval at_once = {0, 0};
	struct chi_worker *worker = run->worker;
	if (run->is_runnable == on) {
		return;
	}
	run->is_runnable = on;
	if (!on) {
		TAILQ_REMOVE(&worker->runnable, run, run_link);
		worker->n_runnable--;
		return;
	}
	TAILQ_INSERT_TAIL(&worker->runnable, run, run_link);
	worker->n_runnable++;
	if (!event_pending(worker->slice_event, EV_TIMEOUT, NULL)) {
		chi_event_add(worker->slice_event, &at_once);
	}
}

/* Off its connection already. */
static void close_run(struct chi_call *call)
{
	struct chi_run *run = (struct chi_run *)call;
	set_runnable(run, false);
	release(run);
	TAILQ_REMOVE(&run->worker->runs, run, all_link);
	atomic_fetch_sub(&run->worker->server->buffered, run->accounted);
	chi_page_deinit(&run->page);
	free(run->plan);
	chi_served_copy_leave(run->copy);
	run->ops->free(run);
}

static void resume_run(struct chi_call *call)
{
	if (chi_call_may_send(call)) {
		set_runnable((struct chi_run *)call, true);
	}
}

static const struct chi_call_ops call_ops = {.resume = resume_run, .close = close_run};

int chi_run_check_work(const struct chi_worker *worker, int64_t worked_us, struct chi_fault *fault)
{
	uint64_t most = worker->server->config->limits.query_ms;
	return most == 0 || worked_us / 1000 < (int64_t)most
		       ? CHI_OK
		       : chi_fail(fault, -CHI_ETIMEOUT,
				  "the query took more than %llu ms of work, which is as much as "
				  "the "
				  "server allows (--max-query-time)",
				  (unsigned long long)most);
}

static bool is_slow(int64_t worked_us, const struct chi_conn *conn)
{
	uint64_t most = conn->worker->server->config->limits.query_ms;
	return worked_us >= SLOW_US || (most > 0 && worked_us / 1000 >= (int64_t)most);
}

void chi_run_log_slow(enum chi_op op, int64_t worked_us, char *plan, const struct chi_conn *conn)
{
	if (!is_slow(worked_us, conn)) {
		return;
	}
	if (plan == NULL) {
		log_limited_info("query.slow", "{operation} of {peer} took {seconds} s of work",
				 log_text("operation", chi_op_name(op)),
				 log_text("peer", chi_conn_peer(conn).text),
				 log_seconds("seconds", (double)worked_us / 1e6));
		return;
	}
	for (char *end = plan; (end = strchr(end, '\n')) != NULL; end++) {
		*end = end[1] != '\0' ? ';' : '\0';
	}
	log_limited_info("query.slow", "{operation} of {peer} took {seconds} s of work ({plan})",
			 log_text("operation", chi_op_name(op)),
			 log_text("peer", chi_conn_peer(conn).text),
			 log_seconds("seconds", (double)worked_us / 1e6), log_text("plan", plan));
}

/* Takes the run off its connection and frees it. */
static void finish_run(struct chi_run *run)
{
	if (run->ops->bounded) {
		if (is_slow(run->worked_us, run->call.conn)) {
			keep_plan(run);
		}
		chi_run_log_slow(run->call.op, run->worked_us, run->plan, run->call.conn);
	}
	chi_call_remove(&run->call);
	close_run(&run->call);
}

/* One response, one credit. */
static void send_page(struct chi_run *run, bool last)
{
	struct chi_response response = {
		.id = run->call.id, .op = run->call.op, .last = last, .status = CHI_OK};
	chi_arena_reset(&run->worker->results);
	run->ops->fill(run, &response);
	run->told_at = chi_now_ms();
	run->call.credits--;
	chi_conn_answer(run->call.conn, &response);
}

static const char *failure_text(int status, const struct chi_fault *fault)
{
	return fault->text[0] != '\0' ? fault->text : chi_dir_error(status);
}

/* The rows found before the failure are good, and sent first. */
static void fail_run(struct chi_run *run, int status, const struct chi_fault *fault)
{
	uint64_t id = run->call.id;
	enum chi_op op = run->call.op;
	struct chi_conn *conn = run->call.conn;
	if (run->ops->pages && run->is_open && run->page.n > 0) {
		send_page(run, false);
	}
	/* A client that cannot be answered is gone, and the run with it. */
	if (conn->state == CHI_CONN_DEAD) {
		return;
	}
	finish_run(run);
	chi_conn_fail(conn, id, op, status, NULL, failure_text(status, fault));
}

static void hand_on(struct chi_run *run, int status, struct chi_fault *fault)
{
	uint64_t id = run->call.id;
	enum chi_op op = run->call.op;
	struct chi_conn *conn = run->call.conn;
	chi_call_remove(&run->call);
	status = run->ops->hand_on(run, conn, status, fault);
	close_run(&run->call);
	if (status < 0) {
		chi_conn_fail(conn, id, op, status, NULL, failure_text(status, fault));
	}
}

/* The response at hand is to be sent now. */
static bool is_due(const struct chi_run *run, int64_t now, bool short_of_memory)
{
	const struct chi_page *page = &run->page;
	if (run->tells && now - run->told_at >= PROGRESS_MS) {
		return true;
	}
	return run->ops->pages && page->n > 0 &&
	       (chi_page_full(page) || short_of_memory || now - page->since >= CHI_PAGE_AGE_MS);
}

/* Works until the page is full, the run over, or the time (chi_now_us) has come. */
static int work_on_run(struct chi_run *run, int64_t until, struct chi_fault *fault)
{
	int status = CHI_OK;
	for (unsigned steps = 0; steps < CHI_SLICE_HELPINGS; steps++) {
		status = run->ops->step(run, fault);
		if (status != CHI_OK || chi_page_full(&run->page) || chi_now_us() >= until) {
			break;
		}
	}
	return status;
}

/* After a slice that was not the last. */
static void pause_run(struct chi_run *run, int64_t now, bool short_of_memory)
{
	if (is_old(run, now)) {
		release(run);
	}
	set_runnable(run, chi_call_may_send(&run->call));
	if (run->page.n == 0 && (short_of_memory || !run->is_runnable)) {
		/* Clients may have thousands of runs wait for credit. */
		chi_page_release(&run->page);
	}
	account(run);
	chi_loop_watch(&run->worker->loop);
}

/* One turn of one run: at most one response, so that its output is looked at in between. */
static void slice(struct chi_run *run, int64_t until)
{
	struct chi_fault fault = {0};
	chi_dir_forget_damage();
	int64_t began = chi_now_us();
	int status = open_snapshot(run, &fault);
	if (status == CHI_OK) {
		status = work_on_run(run, until, &fault);
	}
	run->worked_us += chi_now_us() - began;
	if (status == CHI_OK && run->ops->bounded) {
		status = chi_run_check_work(run->worker, run->worked_us, &fault);
	}
	if (status != CHI_OK && run->ops->hand_on != NULL) {
		hand_on(run, status, &fault);
		return;
	}
	if (status < 0) {
		fail_run(run, status, &fault);
		return;
	}
	int64_t now = chi_now_ms();
	bool last = status == CHI_NONE;
	bool short_of_memory = chi_server_is_full(run->worker->server);
	if (last || is_due(run, now, short_of_memory)) {
		struct chi_conn *conn = run->call.conn;
		send_page(run, last);
		if (conn->state == CHI_CONN_DEAD) {
			return;
		}
		chi_page_clear(&run->page);
	}
	if (last) {
		finish_run(run);
		return;
	}
	pause_run(run, now, short_of_memory);
}

/* The runs share the time of one slice, each having one go at most: a thousand clients that take
 * a few rows each would wait a thousand turns of all others' probes if there were but one. */
void chi_run_slice(struct chi_worker *worker)
{
	static const struct timeval at_once = {0, 0};
	int64_t until = chi_now_us() + CHI_SLICE_US;
	size_t left = worker->n_runnable;
	while (left-- > 0 && !TAILQ_EMPTY(&worker->runnable)) {
		struct chi_run *run = TAILQ_FIRST(&worker->runnable);
		/* Off the list and, if it can go on, at its end again: round robin. */
		set_runnable(run, false);
		if (chi_call_may_send(&run->call)) {
			slice(run, until);
		}
		if (chi_now_us() >= until) {
			break;
		}
	}
	if (!TAILQ_EMPTY(&worker->runnable)) {
		chi_event_add(worker->slice_event, &at_once);
	}
}

/* Gives up what was collected and not sent: it is found again when the run goes on. */
static void forget_run(struct chi_run *run)
{
	release(run);
	if (run->ops->forget(run)) {
		chi_page_release(&run->page);
	}
	account(run);
}

void chi_run_tell_unknown(struct chi_run *run, struct chi_response *response, const char *name)
{
	if (response->unknown == NULL) {
		response->unknown = chi_arena_array(&run->worker->results, CHI_UNKNOWN_MAX,
						    sizeof(*response->unknown));
	}
	if (response->unknown != NULL && response->n_unknown < CHI_UNKNOWN_MAX) {
		response->unknown[response->n_unknown++] = (struct chi_text){name, strlen(name)};
	}
}

/* Older than the copy before the one that is served. */
static struct chi_run *find_left_behind(struct chi_worker *worker)
{
	struct chi_run *run = NULL;
	TAILQ_FOREACH(run, &worker->runs, all_link)
	{
		if (run->copy->number + 1 < run->served->copy->number) {
			break;
		}
	}
	return run;
}

/* Clients that ask and take no answers must not keep any number of copies open. What a run has not
 * sent is dropped, as it may not send. */
static void end_left_behind(struct chi_worker *worker)
{
	struct chi_fault fault = {{0}};
	struct chi_run *run = NULL;
	/* From the beginning each time: the end of one may be that of its connection. */
	while ((run = find_left_behind(worker)) != NULL) {
		chi_page_release(&run->page);
		(void)chi_fail(&fault, -CHI_ESTALE,
			       "two newer copies of the store have been moved to since it began");
		fail_run(run, -CHI_ESTALE, &fault);
	}
}

bool chi_run_tick(struct chi_worker *worker, int64_t now)
{
	bool watched = false;
	struct chi_run *run = NULL;
	end_left_behind(worker);
	TAILQ_FOREACH(run, &worker->runs, all_link)
	{
		if (run->page.n > 0 && !run->is_runnable && run->ops->pages &&
		    chi_server_is_full(worker->server)) {
			forget_run(run);
		}
		if (run->read != NULL && is_old(run, now)) {
			release(run);
		}
		watched = watched || run->read != NULL || run->page.n > 0;
	}
	return watched;
}

void chi_run_release(struct chi_worker *worker)
{
	struct chi_run *run = NULL;
	TAILQ_FOREACH(run, &worker->runs, all_link)
	{
		release(run);
	}
}

void chi_run_start(struct chi_run *run, const struct chi_run_ops *ops, const struct chi_task *task,
		   uint32_t credits)
{
	struct chi_conn *conn = task->conn;
	run->ops = ops;
	run->worker = conn->worker;
	run->served = task->served;
	run->copy = chi_served_copy_keep(task->copy);
	run->call.ops = &call_ops;
	run->call.id = task->request->id;
	run->call.op = task->request->op;
	run->call.credits = credits;
	run->told_at = chi_now_ms();
	TAILQ_INSERT_TAIL(&conn->worker->runs, run, all_link);
	chi_call_add(conn, &run->call);
	account(run);
	resume_run(&run->call);
}
