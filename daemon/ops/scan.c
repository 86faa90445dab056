/* SPDX-License-Identifier: MIT */
/*
 * A scan alternates between running (on the worker's list, a slice at a time, round robin) and
 * standing still (no credit, or too much unread output). What wakes it is credit, or output that
 * has drained. Its snapshot is independent of both: given up after its time or when a compaction
 * asks, and opened again, after the cursor, by the next slice.
 *
 *           credit, output drained              credit used up, output unread
 *   still ----------------------------> running -----------------------------> still
 *                                          | end, failure, Cancel, client gone
 *                                          v
 *                                        freed
 */
#include "service/events.h"
#include "daemon/ops/scan.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "chess/material.h"
#include "base/clock.h"
#include "daemon/settings/limits.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/page.h"
#include "daemon/net/server.h"
#include "store/store.h"

/* Entries looked at between two looks at the clock. */
#define STEPS 500

/* A scan's page counts among the buffers: thousands of scans may be open. */
static void account(struct chi_scan_run *run)
{
	struct chi_server *server = run->worker->server;
	size_t now = sizeof(*run) + chi_page_memory(&run->page) +
		     (run->scan != NULL ? chi_scan_memory(run->scan) : 0);
	atomic_fetch_add(&server->buffered, now);
	atomic_fetch_sub(&server->buffered, run->accounted);
	run->accounted = now;
}

/* A sorted scan that has all its rows. */
static bool is_collected(const struct chi_scan_run *run)
{
	return run->scan != NULL && chi_scan_collected(run->scan);
}

/* Remembers where the scan is and lets go of its snapshot. A sorted scan goes on with the rows that
 * it has, if it has all; else it begins again. */
static void release(struct chi_scan_run *run)
{
	if (run->scan != NULL && !is_collected(run)) {
		chi_scan_where(run->scan, &run->spec.after);
		run->spec.limit = run->left;
		run->has_sequence = run->has_sequence && run->spec.sort == CHI_SORT_NONE;
		chi_scan_close(run->scan);
		run->scan = NULL;
	}
	chi_read_end(run->read);
	run->read = NULL;
}

/* A scan's time with a snapshot is over; of a sorted one, which waits for no one while it collects,
 * only then. */
static bool is_old(const struct chi_scan_run *run, int64_t now)
{
	const struct chi_limits *limits = &run->worker->server->config->limits;
	return now - run->read_since >= (int64_t)limits->snapshot_ms &&
	       (run->spec.sort == CHI_SORT_NONE || is_collected(run));
}

/* Gives up what was collected and not sent: the scan finds it again when it goes on. */
static void forget(struct chi_scan_run *run)
{
	release(run);
	run->left += run->spec.limit > 0 ? run->page.n : 0;
	run->spec.limit = run->left;
	run->spec.after = run->sent;
	chi_page_release(&run->page);
	account(run);
}

/* The scan goes on where it stood, on the state of now. Two snapshots of the same sequence
 * number show the same, so only another number makes the result a mixed one. */
static int open_snapshot(struct chi_scan_run *run, struct chi_fault *fault)
{
	if (run->read != NULL) {
		return CHI_OK;
	}
	int status = chi_read_begin(run->served->store, &run->read);
	if (status < 0) {
		return chi_fault_plain(fault, status);
	}
	uint64_t sequence = chi_read_sequence(run->read);
	bool needed = !is_collected(run) || run->spec.want == CHI_WANT_RECORDS;
	run->mixed = run->mixed || (run->has_sequence && sequence != run->sequence && needed);
	run->sequence = run->has_sequence ? run->sequence : sequence;
	run->has_sequence = true;
	run->read_since = chi_now_ms();
	if (run->scan != NULL) {
		chi_scan_attach(run->scan, run->read);
		return CHI_OK;
	}
	return run->call.op == CHI_OP_GAME_IDS
		       ? CHI_OK
		       : chi_scan_open(run->read, &run->spec, &run->scan, fault);
}

/* Puts the scan at the end of the worker's list, or takes it off. */
static void set_runnable(struct chi_scan_run *run, bool on)
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
	struct chi_scan_run *run = (struct chi_scan_run *)call;
	set_runnable(run, false);
	release(run);
	chi_scan_close(run->scan);
	TAILQ_REMOVE(&run->worker->scans, run, all_link);
	atomic_fetch_sub(&run->worker->server->buffered, run->accounted);
	chi_page_deinit(&run->page);
	free(run);
}

static void resume_run(struct chi_call *call)
{
	if (chi_call_may_send(call)) {
		set_runnable((struct chi_scan_run *)call, true);
	}
}

static const struct chi_call_ops scan_ops = {.resume = resume_run, .close = close_run};

/* Takes the run off its connection and frees it. */
static void finish(struct chi_scan_run *run)
{
	chi_call_remove(&run->call);
	close_run(&run->call);
}

/* One response, one credit. The cursor is after the last row of the page. */
static void send_page(struct chi_scan_run *run, bool last)
{
	struct chi_response response = {
		.id = run->call.id, .op = run->call.op, .last = last, .status = CHI_OK};
	if (run->call.op == CHI_OP_COUNT) {
		response.u.count.count = run->count;
		response.u.count.mixed = run->mixed;
	} else if (run->call.op == CHI_OP_GAME_IDS) {
		response.u.games.games = run->page.games;
		response.u.games.n = run->page.n;
	} else {
		response.u.scan.want = run->spec.want;
		response.u.scan.rows = run->page.rows;
		response.u.scan.entries = run->page.entries;
		response.u.scan.n = run->page.n;
		response.u.scan.mixed = last && run->mixed;
		chi_scan_where(run->scan, &response.u.scan.cursor);
		run->sent = response.u.scan.cursor;
	}
	run->call.credits--;
	chi_arena_reset(&run->worker->results);
	chi_conn_answer(run->call.conn, &response);
}

/* The rows found before the failure are good, and sent first. */
static void fail(struct chi_scan_run *run, int status, const struct chi_fault *fault)
{
	uint64_t id = run->call.id;
	enum chi_op op = run->call.op;
	struct chi_conn *conn = run->call.conn;
	if (run->page.n > 0 && run->scan != NULL) {
		send_page(run, false);
	}
	/* A client that cannot be answered is gone, and the run with it. */
	if (conn->state == CHI_CONN_DEAD) {
		return;
	}
	finish(run);
	chi_conn_fail(conn, id, op, status, NULL, fault->text);
}

/* One helping of the scan's work. */
static int step(struct chi_scan_run *run)
{
	if (run->call.op == CHI_OP_COUNT) {
		return chi_scan_count(run->scan, STEPS, &run->count);
	}
	size_t before = run->page.n;
	int status = run->call.op == CHI_OP_GAME_IDS
			     ? chi_page_fill_games(&run->page, run->read,
						   run->has_after ? run->after : NULL,
						   run->left < STEPS ? run->left : STEPS)
			     : chi_page_fill(&run->page, run->scan, run->spec.want, STEPS);
	if (run->spec.limit > 0) {
		/* A scan opened again must deliver the rest only; the store never exceeds it. */
		run->left -= run->page.n - before;
	}
	return status == CHI_OK && run->spec.limit > 0 && run->left == 0 ? CHI_NONE : status;
}

/* Works until the page is full, the scan over, or the time (chi_now_us) has come. */
static int work(struct chi_scan_run *run, int64_t until)
{
	int status = CHI_OK;
	for (unsigned steps = 0; steps < CHI_SLICE_STEPS / STEPS; steps++) {
		status = step(run);
		if (status != CHI_OK || chi_page_full(&run->page) || chi_now_us() >= until) {
			break;
		}
	}
	return status;
}

/* One turn of one scan: at most one response, so that its output is looked at in between. */
static void slice(struct chi_scan_run *run, int64_t until)
{
	struct chi_fault fault = {0};
	int status = open_snapshot(run, &fault);
	if (status == CHI_OK) {
		status = work(run, until);
	}
	if (status < 0) {
		fail(run, status, &fault);
		return;
	}
	int64_t now = chi_now_ms();
	bool last = status == CHI_NONE;
	bool short_of_memory = chi_server_is_full(run->worker->server);
	/* Of games there is one response: fewer than were asked for are the last. */
	bool due = run->call.op != CHI_OP_GAME_IDS && run->page.n > 0 &&
		   (chi_page_full(&run->page) || short_of_memory ||
		    now - run->page.since >= CHI_PAGE_AGE_MS);
	if (last || due) {
		struct chi_conn *conn = run->call.conn;
		send_page(run, last);
		if (conn->state == CHI_CONN_DEAD) {
			return;
		}
		chi_page_clear(&run->page);
	}
	if (last) {
		finish(run);
		return;
	}
	if (is_old(run, now)) {
		release(run);
	}
	set_runnable(run, chi_call_may_send(&run->call));
	if (run->page.n == 0 && (short_of_memory || !run->is_runnable)) {
		/* Clients may have thousands of scans wait for credit. */
		chi_page_release(&run->page);
	}
	account(run);
	chi_worker_watch(run->worker);
}

/* The scans share the time of one slice, each having one go at most: a thousand clients that take
 * a few rows each would wait a thousand turns of all others' probes if there were but one. */
void chi_scan_slice(struct chi_worker *worker)
{
	static const struct timeval at_once = {0, 0};
	int64_t until = chi_now_us() + CHI_SLICE_US;
	size_t left = worker->n_runnable;
	while (left-- > 0 && !TAILQ_EMPTY(&worker->runnable)) {
		struct chi_scan_run *run = TAILQ_FIRST(&worker->runnable);
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

bool chi_scan_tick(struct chi_worker *worker, int64_t now)
{
	bool watched = false;
	struct chi_scan_run *run = NULL;
	TAILQ_FOREACH(run, &worker->scans, all_link)
	{
		if (run->page.n > 0 && !run->is_runnable && run->spec.sort == CHI_SORT_NONE &&
		    chi_server_is_full(worker->server)) {
			forget(run);
		}
		if (run->read != NULL && is_old(run, now)) {
			release(run);
		}
		watched = watched || run->read != NULL || run->page.n > 0;
	}
	return watched;
}

void chi_scan_release(struct chi_worker *worker)
{
	struct chi_scan_run *run = NULL;
	TAILQ_FOREACH(run, &worker->scans, all_link)
	{
		release(run);
	}
}

/* `spec` has been checked; of a list of games it has but the limit. */
static int start(struct chi_conn *conn, struct chi_served *served,
		 const struct chi_request *request, const struct chi_scan_spec *spec)
{
	struct chi_scan_run *run = calloc(1, sizeof(*run));
	if (run == NULL) {
		return -CHI_ENOMEM;
	}
	run->worker = conn->worker;
	run->served = served;
	run->spec = *spec;
	run->sent = spec->after;
	run->left = spec->limit;
	run->call.ops = &scan_ops;
	run->call.id = request->id;
	run->call.op = request->op;
	if (request->op == CHI_OP_GAME_IDS) {
		run->has_after = request->u.games.after_set;
		memcpy(run->after, request->u.games.after, sizeof(run->after));
		run->call.credits = 1;
		chi_page_init(&run->page, sizeof(*run->page.games), CHI_GAME_IDS_MAX);
	} else {
		run->call.credits = chi_call_window(request->u.scan.window);
		chi_page_init(&run->page,
			      spec->want == CHI_WANT_RECORDS ? sizeof(*run->page.entries)
							     : sizeof(*run->page.rows),
			      CHI_SCAN_ROWS_MAX);
	}
	TAILQ_INSERT_TAIL(&conn->worker->scans, run, all_link);
	chi_call_add(conn, &run->call);
	account(run);
	resume_run(&run->call);
	return CHI_OK;
}

/* ---- Scan, Count and Games ---------------------------------------------------------------- */

/* The filter's material comes as text, because the room of the protocol knows no chess. */
static int begin(struct chi_task *task, const char *name)
{
	struct chi_request *request = task->request;
	struct chi_scan_spec spec = request->u.scan.spec;
	const struct chi_text *material = &request->u.scan.material;
	int status = CHI_OK;
	if (material->len > 0) {
		status = chi_material_parse(material->bytes, material->len, &spec.filter.material,
					    &task->fault);
		spec.filter.has_material = true;
	}
	if (status < 0) {
		return chi_task_field(task, status, "%s.filter.material", name);
	}
	status = chi_scan_check(&spec, &task->fault);
	if (status < 0) {
		return chi_task_field(task, status, "%s", name);
	}
	return start(task->conn, task->served, request, &spec);
}

int chi_handle_scan(struct chi_task *task)
{
	return begin(task, "scan");
}

int chi_handle_count(struct chi_task *task)
{
	/* A count walks the band forwards and delivers nothing but a number. */
	task->request->u.scan.spec.limit = 0;
	task->request->u.scan.spec.want = CHI_WANT_KEYS;
	task->request->u.scan.window = 1;
	return begin(task, "count");
}

int chi_handle_game_ids(struct chi_task *task)
{
	uint32_t limit = task->request->u.games.limit;
	struct chi_scan_spec spec = {
		.limit = limit == 0 || limit > CHI_GAME_IDS_MAX ? CHI_GAME_IDS_MAX : limit,
	};
	return start(task->conn, task->served, task->request, &spec);
}
