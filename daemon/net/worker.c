/* SPDX-License-Identifier: MIT */
/*
 * A turn of the loop: sockets that are readable are read and their connections listed as ready;
 * then on_serve serves them all, ends the turn's snapshots, and sends what they were answered.
 * Mail and timers list connections as dirty and have on_serve send for them too. Connections that
 * were dropped on the way are freed at the end of each callback, so that no code in between
 * finds its connection freed under it.
 */
#include "daemon/net/net.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/clock.h"
#include "service/events.h"
#include "service/log.h"
#include "daemon/net/server.h"
#include "proto/msg.h"
#include "store/store.h"

/* Scratch for the results of one request: a response of 4 MiB, unpacked. */
#define RESULTS_BUDGET ((size_t)64 << 20)

struct give_mail {
	struct chi_mail mail;
	int fd;
	const struct chi_listen *listen;
};

/* The turn is over: its snapshots must not hold old pages while the loop waits. */
static void end_reads(struct chi_worker *worker)
{
	for (size_t i = 0; i < worker->server->n_stores; i++) {
		chi_read_end(worker->reads[i]);
		worker->reads[i] = NULL;
	}
}

int chi_worker_read(struct chi_worker *worker, struct chi_served *served, struct chi_read **out)
{
	struct chi_read **read = &worker->reads[served->index];
	int status = *read == NULL ? chi_read_begin(served->copy->store, read) : CHI_OK;
	*out = *read;
	return status;
}

/* Serves every connection that has input, once; those with more are served in the next turn, so
 * that others come between. */
static void serve_ready(struct chi_worker *worker)
{
	struct chi_conn *last = NULL;
	struct chi_conn *each = NULL;
	/* Not TAILQ_LAST, which breaks C's aliasing rules. */
	TAILQ_FOREACH(each, &worker->ready, ready_link)
	{
		last = each;
	}
	bool done = last == NULL;
	worker->turn_us = chi_now_us();
	while (!done) {
		struct chi_conn *conn = TAILQ_FIRST(&worker->ready);
		done = conn == last;
		TAILQ_REMOVE(&worker->ready, conn, ready_link);
		conn->is_ready = false;
		if (chi_conn_serve(conn)) {
			conn->is_ready = true;
			TAILQ_INSERT_TAIL(&worker->ready, conn, ready_link);
		}
	}
	chi_probe_batch_answer(worker);
}

/* A client with more requests at hand is served again in the next turn, which is due: a few answers
 * wait for those to come, so that a pipeline is answered by one send and not by many. */
static bool may_wait(const struct chi_conn *conn)
{
	return conn->is_ready && conn->out.len < CHI_SEND_BYTES;
}

/* Each that is listed now, once. What is listed on the way, or waits, is for the next turn. */
static void flush_dirty(struct chi_worker *worker)
{
	size_t n = 0;
	struct chi_conn *each = NULL;
	TAILQ_FOREACH(each, &worker->dirty, dirty_link)
	{
		n++;
	}
	for (; n > 0 && !TAILQ_EMPTY(&worker->dirty); n--) {
		struct chi_conn *conn = TAILQ_FIRST(&worker->dirty);
		TAILQ_REMOVE(&worker->dirty, conn, dirty_link);
		if (may_wait(conn)) {
			TAILQ_INSERT_TAIL(&worker->dirty, conn, dirty_link);
			continue;
		}
		conn->is_dirty = false;
		chi_conn_flush(conn);
	}
}

/* With --spin the loop looks for input without sleeping for so long after the last request. */
static bool spins(struct chi_worker *worker, bool asked)
{
	int64_t most = (int64_t)worker->server->config->spin_us;
	if (most == 0 || worker->stopping) {
		return false;
	}
	int64_t now = chi_now_us();
	worker->asked_us = asked ? now : worker->asked_us;
	return now - worker->asked_us < most;
}

static void on_serve(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_worker *worker = context;
	bool asked = !TAILQ_EMPTY(&worker->ready);
	if (asked || !TAILQ_EMPTY(&worker->dirty)) {
		chi_loop_enter(&worker->loop);
	}
	serve_ready(worker);
	end_reads(worker);
	flush_dirty(worker);
	chi_conn_reap(worker);
	worker->serving = false;
	worker->n_shakes = 0;
	if (!TAILQ_EMPTY(&worker->ready) || !TAILQ_EMPTY(&worker->dirty) || spins(worker, asked)) {
		/* By way of the timer, not at once: the loop looks for other input first. */
		static const struct timeval at_once = {0, 0};
		worker->serving = true;
		chi_event_add(worker->serve_event, &at_once);
	}
	chi_loop_settle(&worker->loop);
}

void chi_worker_wake(struct chi_worker *worker)
{
	if (!worker->serving) {
		worker->serving = true;
		event_active(worker->serve_event, EV_TIMEOUT, 0);
	}
}

/* All clients are gone, and every thread and child that has to be waited for. */
static bool settle_worker(void *owner)
{
	struct chi_worker *worker = owner;
	chi_conn_reap(worker);
	return atomic_load(&worker->n_conns) == 0 && worker->n_tasks == 0;
}

static void on_slice(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_worker *worker = context;
	chi_loop_enter(&worker->loop);
	worker->server->ops->run_slice(worker);
	chi_conn_reap(worker);
}

/* Deadlines are looked at four times in the shortest of them, within reason. */
static uint64_t tick_of(const struct chi_limits *limits)
{
	uint64_t ms = limits->frame_ms;
	ms = limits->output_ms < ms ? limits->output_ms : ms;
	ms = limits->snapshot_ms < ms ? limits->snapshot_ms : ms;
	ms /= 4;
	return ms < 5 ? 5 : ms > 250 ? 250 : ms;
}

/* Deadlines of connections and scans; the end of patience when the server stops. */
static bool tick_worker(void *owner, int64_t now, bool late)
{
	struct chi_worker *worker = owner;
	bool watched = false;
	struct chi_conn *next = NULL;
	for (struct chi_conn *conn = TAILQ_FIRST(&worker->conns); conn != NULL; conn = next) {
		next = TAILQ_NEXT(conn, all_link);
		if (late) {
			chi_conn_drop(conn, "the server stops");
		} else {
			watched = chi_conn_tick(conn, now) || watched;
		}
	}
	return worker->server->ops->run_tick(worker, now) || watched;
}

/* ---- Connections ------------------------------------------------------------------------- */

struct chi_conn *chi_worker_find(struct chi_worker *worker, const struct chi_conn_ref *ref)
{
	struct chi_conn *conn = TAILQ_FIRST(&worker->conns);
	while (conn != NULL && conn->serial != ref->serial) {
		conn = TAILQ_NEXT(conn, all_link);
	}
	return conn;
}

/* Of all workers together as many as allowed; each has its share. */
static size_t unauthenticated_max(const struct chi_worker *worker)
{
	const struct chi_config *config = worker->server->config;
	return (config->limits.handshakes + config->threads - 1) / config->threads;
}

void chi_worker_add_unauthenticated(struct chi_worker *worker, struct chi_conn *conn)
{
	size_t most = unauthenticated_max(worker);
	conn->is_unauthenticated = true;
	TAILQ_INSERT_TAIL(&worker->unauthenticated, conn, unauthenticated_link);
	worker->n_unauthenticated++;
	if (worker->n_unauthenticated <= most) {
		return;
	}
	if (!worker->crowded) {
		log_limited_warning("listen.strangers",
				    "{clients} TLS clients have not said hello: closing the oldest",
				    log_number("clients", most));
		worker->crowded = true;
	}
	chi_conn_drop(TAILQ_FIRST(&worker->unauthenticated), "too many handshakes");
}

void chi_worker_remove_unauthenticated(struct chi_worker *worker, struct chi_conn *conn)
{
	if (conn->is_unauthenticated) {
		conn->is_unauthenticated = false;
		TAILQ_REMOVE(&worker->unauthenticated, conn, unauthenticated_link);
		worker->n_unauthenticated--;
		worker->crowded = worker->crowded &&
				  worker->n_unauthenticated > unauthenticated_max(worker) / 2;
	}
}

/* A new client, from the main thread. */
static void deliver_give(struct chi_mail *mail, void *worker)
{
	struct give_mail *give = (struct give_mail *)mail;
	chi_conn_new(worker, give->fd, give->listen);
	free(give);
}

int chi_worker_give(struct chi_worker *worker, int fd, const struct chi_listen *listen)
{
	struct give_mail *give = malloc(sizeof(*give));
	if (give == NULL) {
		return -CHI_ENOMEM;
	}
	*give = (struct give_mail){{.deliver = deliver_give}, fd, listen};
	atomic_fetch_add(&worker->n_conns, 1);
	chi_loop_post(&worker->loop, &give->mail);
	return CHI_OK;
}

/* A client's role is judged when it says hello; one that has said it already is judged again. */
static void deliver_authorize(struct chi_mail *mail, void *owner)
{
	struct chi_worker *worker = owner;
	(void)mail;
	struct chi_conn *next = NULL;
	/* First: what changes from now on needs another mail. */
	atomic_store(&worker->authorizing, false);
	for (struct chi_conn *conn = TAILQ_FIRST(&worker->conns); conn != NULL; conn = next) {
		/* Telling may drop it, and takes it to another list. */
		next = TAILQ_NEXT(conn, all_link);
		chi_conn_authorize(conn);
	}
}

void chi_worker_authorize(struct chi_worker *worker)
{
	if (!atomic_exchange(&worker->authorizing, true)) {
		worker->authorize_mail.deliver = deliver_authorize;
		chi_loop_post(&worker->loop, &worker->authorize_mail);
	}
}

/* ---- A standstill of all ----------------------------------------------------------------- */

/* On the worker's thread. The barrier lives until `gone` counts this worker too. */
static void pass_barrier(struct chi_mail *mail, void *owner)
{
	struct chi_worker *worker = owner;
	struct chi_worker_barrier *barrier = worker->barrier;
	(void)mail;
	barrier->action(worker);
	pthread_mutex_lock(&barrier->lock);
	barrier->arrived++;
	pthread_cond_broadcast(&barrier->changed);
	while (!barrier->open) {
		pthread_cond_wait(&barrier->changed, &barrier->lock);
	}
	barrier->gone++;
	pthread_cond_broadcast(&barrier->changed);
	pthread_mutex_unlock(&barrier->lock);
}

void chi_worker_barrier_close(struct chi_worker_barrier *barrier, struct chi_server *server,
			      void (*action)(struct chi_worker *worker), bool hold)
{
	*barrier = (struct chi_worker_barrier){
		.action = action, .expected = server->n_workers, .open = !hold};
	pthread_mutex_init(&barrier->lock, NULL);
	pthread_cond_init(&barrier->changed, NULL);
	for (size_t i = 0; i < server->n_workers; i++) {
		struct chi_worker *worker = server->workers[i];
		worker->barrier = barrier;
		worker->barrier_mail.deliver = pass_barrier;
		chi_loop_post(&worker->loop, &worker->barrier_mail);
	}
	pthread_mutex_lock(&barrier->lock);
	while (barrier->arrived < barrier->expected) {
		pthread_cond_wait(&barrier->changed, &barrier->lock);
	}
	pthread_mutex_unlock(&barrier->lock);
}

void chi_worker_barrier_open(struct chi_worker_barrier *barrier)
{
	pthread_mutex_lock(&barrier->lock);
	barrier->open = true;
	pthread_cond_broadcast(&barrier->changed);
	while (barrier->gone < barrier->expected) {
		pthread_cond_wait(&barrier->changed, &barrier->lock);
	}
	pthread_mutex_unlock(&barrier->lock);
	pthread_cond_destroy(&barrier->changed);
	pthread_mutex_destroy(&barrier->lock);
}

/* ---- Stopping ---------------------------------------------------------------------------- */

void chi_worker_change_copy(struct chi_worker *worker)
{
	end_reads(worker);
	/* Runs on copies that are too old are ended at its next tick. */
	chi_loop_watch(&worker->loop);
}

void chi_worker_release_reads(struct chi_worker *worker)
{
	end_reads(worker);
	worker->server->ops->run_release(worker);
}

/* Within the first barrier: no connection is given to another worker any more. */
static void stay(struct chi_worker *worker)
{
	worker->stopping = true;
}

/* Within the second: once all workers have done this, no job can reach a writer, and the writers
 * may be stopped. */
static void quiesce(struct chi_worker *worker)
{
	struct chi_conn *next = NULL;
	while (!TAILQ_EMPTY(&worker->ready)) {
		serve_ready(worker);
	}
	end_reads(worker);
	for (struct chi_conn *conn = TAILQ_FIRST(&worker->conns); conn != NULL; conn = next) {
		next = TAILQ_NEXT(conn, all_link);
		chi_conn_cancel_streams(conn, true);
		chi_conn_stop_reading(conn);
	}
}

void chi_worker_quiesce_all(struct chi_server *server)
{
	struct chi_worker_barrier barrier;
	chi_worker_barrier_close(&barrier, server, stay, false);
	chi_worker_barrier_open(&barrier);
	/* Connections that were on their way to another worker are in its mail before this. */
	chi_worker_barrier_close(&barrier, server, quiesce, false);
	chi_worker_barrier_open(&barrier);
}

/* The writers have ended and their answers have been delivered before this: mail keeps its order.
 */
static void end_conns(void *owner)
{
	struct chi_worker *worker = owner;
	struct chi_conn *conn = NULL;
	worker->stopping = true;
	TAILQ_FOREACH(conn, &worker->conns, all_link)
	{
		chi_conn_end(conn);
	}
}

/* ---- Life -------------------------------------------------------------------------------- */

static const struct chi_loop_ops loop_ops = {
	.leave = end_conns, .tick = tick_worker, .settle = settle_worker};

int chi_worker_new(struct chi_server *server, size_t index, struct chi_worker **out,
		   struct chi_fault *fault)
{
	struct chi_worker *worker = calloc(1, sizeof(*worker));
	if (worker == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	worker->server = server;
	worker->index = index;
	TAILQ_INIT(&worker->conns);
	TAILQ_INIT(&worker->ready);
	TAILQ_INIT(&worker->dirty);
	TAILQ_INIT(&worker->dead);
	TAILQ_INIT(&worker->unauthenticated);
	TAILQ_INIT(&worker->runs);
	TAILQ_INIT(&worker->runnable);
	chi_arena_init(&worker->requests, CHI_DECODE_BUDGET);
	chi_arena_init(&worker->results, RESULTS_BUDGET);
	int status = chi_loop_init(&worker->loop, &loop_ops, worker,
				   tick_of(&server->config->limits), fault);
	if (status == CHI_OK) {
		worker->serve_event = evtimer_new(worker->loop.base, on_serve, worker);
		worker->slice_event = evtimer_new(worker->loop.base, on_slice, worker);
	}
	if (status == CHI_OK && (worker->serve_event == NULL || worker->slice_event == NULL)) {
		status = chi_fault_plain(fault, -CHI_ENOMEM);
	}
	if (status < 0) {
		chi_worker_free(worker);
		return status;
	}
	*out = worker;
	return CHI_OK;
}

void chi_worker_free(struct chi_worker *worker)
{
	if (worker == NULL) {
		return;
	}
	chi_loop_join(&worker->loop);
	chi_event_drop(&worker->serve_event);
	chi_event_drop(&worker->slice_event);
	chi_loop_deinit(&worker->loop);
	chi_arena_deinit(&worker->requests);
	chi_arena_deinit(&worker->results);
	chi_buffer_pool_deinit(&worker->buffer_pool);
	free(worker);
}
