/* SPDX-License-Identifier: MIT */
/* Which worker serves a connection: workers without threads, which turn when the test has them. */
#include "tests/daemon/loop.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/ops/handler.h"
#include "tests/store/help.h"

#define WORKERS	  4
#define QUERIES	  13
#define STORM	  400
#define TURNS_MAX 10000
#define FULL	  64 /* connections, see spread.c */

static struct chi_worker *workers[WORKERS];
static const struct chi_listen listen_here = {.kind = CHI_LISTEN_UNIX, .role = CHI_ROLE_ADMIN};

static int init_workers(void **state)
{
	loop_init(state);
	workers[0] = loop_worker;
	for (size_t i = 1; i < WORKERS; i++) {
		ok(chi_worker_new(loop_server, i, &workers[i], &fault));
	}
	loop_server->workers = workers;
	loop_server->n_workers = WORKERS;
	return 0;
}

static int deinit_workers(void **state)
{
	for (size_t i = 1; i < WORKERS; i++) {
		chi_worker_free(workers[i]);
	}
	return loop_deinit(state);
}

static void turn_all(void)
{
	for (size_t i = 0; i < WORKERS; i++) {
		chi_loop_turn(&workers[i]->loop, false);
	}
}

static size_t conns_of(size_t i)
{
	return atomic_load(&workers[i]->n_conns);
}

static void all_left(void)
{
	for (unsigned i = 0; conns_of(0) + conns_of(1) + conns_of(2) + conns_of(3) > 0; i++) {
		assert_in_range(i, 0, TURNS_MAX);
		turn_all();
	}
}

static void set_busy(struct chi_worker *worker, unsigned percent)
{
	atomic_store(&worker->loop.share, percent);
	atomic_store(&worker->loop.share_us, chi_now_us());
}

static void set_conns(size_t a, size_t b, size_t c, size_t d)
{
	const size_t n[WORKERS] = {a, b, c, d};
	for (size_t i = 0; i < WORKERS; i++) {
		atomic_store(&workers[i]->n_conns, n[i]);
		set_busy(workers[i], 0);
	}
}

/* A scan that takes many turns and finds nothing: the kings alone are two pieces. */
static void send_scan(const struct loop_client *client)
{
	const struct chi_scan_request scan = {
		.spec = {.chi2_max = CHI_CHI2_MAX,
			 .want = CHI_WANT_COUNTS,
			 .filter = {.pieces_min = 1, .pieces_max = 1}}};
	const struct chi_request request = {.id = 1,
					    .op = CHI_OP_SCAN,
					    .body = &scan,
					    .store = {"large", 5},
					    .window = CHI_WINDOW_MAX};
	struct chi_buffer out;
	chi_buffer_init(&out, 4096);
	loop_pack(&out, &request);
	loop_send(client, &out);
}

/* Clients of the first worker. */
static void enter(struct loop_client *clients, size_t n)
{
	set_conns(0, 0, 0, 0);
	for (size_t i = 0; i < n; i++) {
		loop_enter(&clients[i]);
	}
}

static void leave(struct loop_client *clients, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		loop_leave(&clients[i]);
	}
	all_left();
	for (size_t i = 0; i < WORKERS; i++) {
		assert_int_equal(atomic_load(&workers[i]->n_coming), 0);
		assert_int_equal(atomic_load(&workers[i]->n_runnable), 0);
	}
}

/* ---- New connections --------------------------------------------------------------------- */

CASE(new_connections_go_to_the_first_with_room_that_is_not_busy)
{
	set_conns(FULL - 1, 0, 0, 0);
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[0]);
	set_conns(FULL, 2, 0, 0);
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[1]);
	set_busy(workers[1], 69);
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[1]);
	set_busy(workers[1], 70);
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[2]);
	atomic_store(&workers[1]->loop.share_us, chi_now_us() - 300000); /* it has waited since */
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[1]);
	set_conns(0, 0, 0, 0);
}

/* Fifty clients that came after fifty others had gone were spread over two workers. */
CASE(worker_without_connections_is_not_busy)
{
	set_conns(0, 0, 0, 0);
	set_busy(workers[0], 100);
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[0]);
	set_conns(0, 0, 0, 0);
}

CASE(worker_that_does_not_come_back_is_busy)
{
	set_conns(1, 0, 0, 0);
	atomic_store(&workers[0]->loop.turn_us, chi_now_us() - 20000);
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[0]);
	atomic_store(&workers[0]->loop.turn_us, chi_now_us() - 60000);
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[1]);
	atomic_store(&workers[0]->loop.turn_us, 0);
}

CASE(where_all_are_full_or_busy_the_one_with_fewest_takes_it)
{
	set_conns(FULL + 3, FULL, FULL + 1, FULL);
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[1]);
	set_conns(7, 6, 5, 9);
	for (size_t i = 0; i < WORKERS; i++) {
		set_busy(workers[i], 100);
	}
	assert_ptr_equal(chi_spread_pick(loop_server, false), workers[2]);
	set_conns(0, 0, 0, 0);
}

CASE(handshakes_take_turns)
{
	struct chi_worker *last = chi_spread_pick(loop_server, true);
	for (size_t i = 0; i < 2 * WORKERS; i++) {
		struct chi_worker *next = chi_spread_pick(loop_server, true);
		assert_int_equal(next->index, (last->index + 1) % WORKERS);
		last = next;
	}
}

/* As they come at once, before any worker has looked into its mail. */
CASE(storm_of_connections_is_spread)
{
	int fds[STORM][2];
	set_conns(0, 0, 0, 0);
	for (size_t i = 0; i < STORM; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds[i]), 0);
		atomic_fetch_add(&loop_server->connections, 1);
		ok(chi_worker_give(chi_spread_pick(loop_server, false), fds[i][1], &listen_here));
	}
	turn_all();
	for (size_t i = 0; i < WORKERS; i++) {
		assert_int_equal(conns_of(i), STORM / WORKERS);
	}
	for (size_t i = 0; i < STORM; i++) {
		close(fds[i][0]);
	}
	all_left();
}

/* ---- Queries ----------------------------------------------------------------------------- */

CASE(queries_of_one_turn_are_spread)
{
	struct loop_client clients[QUERIES];
	enter(clients, QUERIES);
	for (size_t i = 0; i < QUERIES; i++) {
		send_scan(&clients[i]);
	}
	loop_turn();
	turn_all();
	for (size_t i = 0; i < WORKERS; i++) {
		print_message("# worker %zu: %zu queries\n", i,
			      atomic_load(&workers[i]->n_runnable));
		assert_in_range(atomic_load(&workers[i]->n_runnable), 3, 4);
		assert_int_equal(atomic_load(&workers[i]->n_coming), 0);
	}
	/* They work, and end, where they are. */
	for (size_t answered = 0; answered < QUERIES;) {
		turn_all();
		answered = 0;
		for (size_t i = 0; i < QUERIES; i++) {
			answered += loop_take(&clients[i]) > 0;
		}
	}
	leave(clients, QUERIES);
}

CASE(query_stays_where_one_more_runs)
{
	struct loop_client clients[3];
	enter(clients, 3);
	send_scan(&clients[0]);
	loop_turn();
	send_scan(&clients[1]);
	loop_turn();
	assert_int_equal(conns_of(0), 3);
	assert_int_equal(atomic_load(&loop_worker->n_runnable), 2);
	atomic_store(&workers[1]->n_coming, 1);
	atomic_store(&workers[2]->n_coming, 2);
	atomic_store(&workers[3]->n_coming, 1);
	send_scan(&clients[2]);
	loop_turn();
	assert_int_equal(conns_of(0), 3); /* it does not follow those on their way */
	for (size_t i = 1; i < WORKERS; i++) {
		atomic_store(&workers[i]->n_coming, 0);
	}
	leave(clients, 3);
}

/* Two queries run, and a third client's connection is about to be moved for one. */
static struct chi_conn *crowd(struct loop_client clients[3])
{
	struct chi_conn *conn = NULL;
	enter(clients, 3);
	send_scan(&clients[0]);
	send_scan(&clients[1]);
	loop_turn();
	TAILQ_FOREACH(conn, &loop_worker->conns, all_link)
	{
		if (conn->n_calls == 0) {
			break;
		}
	}
	assert_non_null(conn);
	send_scan(&clients[2]);
	return conn;
}

CASE(moved_connection_brings_its_request_and_its_name)
{
	struct loop_client clients[3];
	struct chi_conn *conn = crowd(clients);
	struct chi_conn_name before = chi_name_of_conn(conn);
	conn->frame_by = 1; /* long ago: a tick would refuse a request that was not whole */
	loop_turn();
	assert_int_equal(conns_of(1), 1);
	assert_int_equal(atomic_load(&workers[1]->n_coming), 1);
	assert_int_equal(conn->frame_by, 0);
	while (loop_take(&clients[2]) == 0) {
		chi_loop_turn(&workers[1]->loop, false);
	}
	assert_ptr_equal(conn->worker, workers[1]);
	assert_string_equal(chi_name_of_conn(conn).text, before.text);
	assert_int_equal(workers[1]->tally.moved_for_query, 0);
	leave(clients, 3);
}

CASE(connections_with_anything_on_the_way_stay)
{
	struct loop_client clients[3];
	struct chi_conn *conn = crowd(clients);
	conn->pinned = true; /* ASYNC writes */
	loop_turn();
	assert_int_equal(conns_of(0), 3);
	leave(clients, 3);
}

CASE(connection_that_ends_on_its_way_is_not_waited_for)
{
	struct loop_client clients[3];
	struct chi_conn *conn = crowd(clients);
	loop_turn();
	assert_int_equal(atomic_load(&workers[1]->n_coming), 1);
	conn->role = CHI_ROLE_NONE; /* the query is refused */
	chi_loop_turn(&workers[1]->loop, false);
	assert_int_equal(atomic_load(&workers[1]->n_coming), 0);
	leave(clients, 3);
}

CASE(role_of_a_moved_connection_is_judged_again)
{
	static const struct chi_listen less = {.kind = CHI_LISTEN_UNIX, .role = CHI_ROLE_READ};
	for (unsigned changed = 0; changed < 2; changed++) {
		struct loop_client clients[3];
		struct chi_conn *conn = crowd(clients);
		conn->listen = &less;
		loop_turn();
		atomic_fetch_add(&loop_server->guard.changes, changed);
		chi_loop_turn(&workers[1]->loop, false);
		assert_int_equal(workers[1]->tally.connections[CHI_CONN_OPEN], changed ? 0 : 1);
		assert_int_equal(atomic_load(&workers[1]->n_coming), 0);
		leave(clients, 3);
	}
}

/* ---- Stopping, with the callbacks that a test wants ---------------------------------------- */

static struct chi_worker_ops ops;
static pthread_t stopper;

static void *stop(void *context)
{
	chi_worker_quiesce_all(context);
	return NULL;
}

/* The others learn of the stop while the first worker is at a request. */
static void dispatch_while_others_stop(struct chi_conn *conn, const uint8_t *body, size_t len)
{
	assert_int_equal(pthread_create(&stopper, NULL, stop, loop_server), 0);
	for (size_t i = 1; i < WORKERS; i++) {
		while (!workers[i]->stopping) {
			chi_loop_turn(&workers[i]->loop, false);
		}
	}
	chi_worker_ops.dispatch(conn, body, len);
}

CASE(stop_answers_a_connection_on_its_way)
{
	struct loop_client clients[3];
	struct chi_conn *conn = crowd(clients);
	ops = chi_worker_ops;
	ops.dispatch = dispatch_while_others_stop;
	loop_server->ops = &ops;
	loop_turn();
	loop_server->ops = &chi_worker_ops;
	assert_int_equal(conns_of(1), 1);
	for (unsigned i = 0; pthread_tryjoin_np(stopper, NULL) != 0; i++) {
		assert_in_range(i, 0, TURNS_MAX);
		usleep(1000);
		turn_all();
	}
	turn_all();
	assert_ptr_equal(conn->worker, workers[1]);
	for (size_t i = 0; i < WORKERS; i++) {
		assert_true(TAILQ_EMPTY(&workers[i]->runs));
	}
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(loop_take(&clients[i]), 1);
	}
	for (size_t i = 0; i < WORKERS; i++) {
		while (!TAILQ_EMPTY(&workers[i]->conns)) {
			chi_conn_drop(TAILQ_FIRST(&workers[i]->conns), "the test has ended");
		}
		chi_conn_reap(workers[i]);
		workers[i]->stopping = false;
	}
	leave(clients, 3);
}

/* ---- Looking for the next request without sleeping ----------------------------------------- */

static void dispatch_slowly(struct chi_conn *conn, const uint8_t *body, size_t len)
{
	usleep(20000);
	chi_worker_ops.dispatch(conn, body, len);
}

/* The time begins when the last request has been served, and what is spent so is not work. */
CASE(spinning_begins_after_work_and_is_none)
{
	struct loop_client client;
	loop_enter(&client);
	ops = chi_worker_ops;
	ops.dispatch = dispatch_slowly;
	loop_server->ops = &ops;
	loop_config.spin_us = 15000;
	loop_worker->loop.turned_us = 0;
	atomic_store(&loop_worker->loop.share_us, chi_now_us());
	loop_send_probes(&client, 1);
	loop_turn();
	assert_true(loop_worker->serving);
	int64_t worked = loop_worker->loop.turned_us;
	assert_true(worked >= 20000);
	while (loop_worker->serving) {
		loop_turn();
	}
	assert_true(chi_now_us() - loop_worker->asked_us >= 15000);
	/* A timer may have had some microseconds of work. */
	assert_true(loop_worker->loop.turned_us - worked < 15000 / 2);
	loop_config.spin_us = 0;
	loop_server->ops = &chi_worker_ops;
	loop_leave(&client);
	loop_all_left();
}

CASES_MAIN(init_workers, deinit_workers)
