/* SPDX-License-Identifier: MIT */
/*
 * Which worker serves a connection. Two workers without threads; how busy they are is said by the
 * test, as measured.
 */
#include "tests/daemon/loop.h"

#include <event2/event.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/store/help.h"

#define CLIENTS 6

static struct chi_worker *second;
static struct chi_worker *workers[2];

static int init_two(void **state)
{
	loop_init(state);
	ok(chi_worker_new(loop_server, 1, &second, &fault));
	workers[0] = loop_worker;
	workers[1] = second;
	loop_server->workers = workers;
	loop_server->n_workers = 2;
	loop_server->cpu_fd = -1;
	return 0;
}

static int deinit_two(void **state)
{
	chi_worker_free(second);
	return loop_deinit(state);
}

static void turn_second(void)
{
	assert_true(event_base_loop(second->loop.base, EVLOOP_ONCE | EVLOOP_NONBLOCK) >= 0);
}

static void turn_both(void)
{
	loop_turn();
	turn_second();
}

static void set_busy(struct chi_worker *worker, unsigned percent)
{
	atomic_store(&worker->busy, percent);
	atomic_store(&worker->busy_us, chi_now_us());
}

static void forget_load(void)
{
	for (size_t i = 0; i < 2; i++) {
		atomic_store(&workers[i]->busy, 0);
		atomic_store(&workers[i]->busy_us, 0);
		workers[i]->full_us = 0;
	}
}

/* Measures a worker that has had no time left since `us` ago, and has just served all its
 * connections but those marked with 0. */
static void note_full(int64_t us)
{
	int64_t now = chi_now_us();
	struct chi_conn *conn = NULL;
	TAILQ_FOREACH(conn, &loop_worker->conns, all_link)
	{
		conn->served_us = conn->served_us != 0 ? now : 0;
	}
	atomic_store(&loop_worker->busy_us, now - 150000);
	loop_worker->used_us = -1000000000;
	loop_worker->full_us = now - us;
	chi_spread_note(loop_worker, now);
	turn_second();
}

static void enter_all(struct loop_client clients[CLIENTS])
{
	forget_load();
	for (size_t i = 0; i < CLIENTS; i++) {
		loop_enter(&clients[i]);
		loop_send_probes(&clients[i], 1);
	}
	loop_turn();
}

static void leave_all(struct loop_client clients[CLIENTS])
{
	for (size_t i = 0; i < CLIENTS; i++) {
		loop_leave(&clients[i]);
	}
	while (loop_worker->n_conns + second->n_conns > 0) {
		turn_both();
	}
}

static void send_scan(const struct loop_client *client, unsigned n)
{
	static const struct chi_text large = {"large", 5};
	const struct chi_scan_request scan = {
		.spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_COUNTS}};
	struct chi_buffer out;
	chi_buffer_init(&out, 1 << 20);
	for (unsigned i = 1; i <= n; i++) {
		const struct chi_request request = {.id = i,
						    .op = CHI_OP_SCAN,
						    .body = &scan,
						    .store = large,
						    .window = CHI_WINDOW_MAX};
		loop_pack(&out, &request);
	}
	loop_send(client, &out);
}

CASE(new_connections_go_to_the_first_that_is_not_busy)
{
	forget_load();
	for (size_t i = 0; i < 3; i++) {
		assert_ptr_equal(chi_spread_pick(loop_server, false), loop_worker);
	}
	set_busy(loop_worker, 69);
	assert_ptr_equal(chi_spread_pick(loop_server, false), loop_worker);
	set_busy(loop_worker, 70);
	assert_ptr_equal(chi_spread_pick(loop_server, false), second);
	atomic_store(&loop_worker->busy_us, chi_now_us() - 500000); /* it sleeps since */
	assert_ptr_equal(chi_spread_pick(loop_server, false), loop_worker);
	atomic_store(&loop_worker->n_runnable, 1);
	assert_ptr_equal(chi_spread_pick(loop_server, false), second);
	atomic_store(&loop_worker->n_runnable, 0);
}

CASE(busy_workers_and_handshakes_take_turns)
{
	for (unsigned evenly = 0; evenly < 2; evenly++) {
		forget_load();
		set_busy(loop_worker, evenly ? 0 : 100);
		set_busy(second, evenly ? 0 : 100);
		struct chi_worker *one = chi_spread_pick(loop_server, evenly);
		assert_ptr_not_equal(chi_spread_pick(loop_server, evenly), one);
		assert_ptr_equal(chi_spread_pick(loop_server, evenly), one);
	}
}

CASE(query_goes_where_fewer_run)
{
	struct loop_client first;
	struct loop_client other;
	forget_load();
	loop_enter(&first);
	loop_enter(&other);
	send_scan(&first, 10);
	loop_turn();
	assert_true(atomic_load(&loop_worker->n_runnable) > 0);
	send_scan(&other, 1);
	loop_turn();
	assert_int_equal(loop_worker->n_conns, 1);
	while (loop_take(&other) == 0) {
		turn_second();
	}
	assert_int_equal(second->n_conns, 1);
	/* A connection that has come for a query is not sent on for it. */
	assert_int_equal(second->tally.moved, 0);
	loop_leave(&first);
	loop_leave(&other);
	while (loop_worker->n_conns + second->n_conns > 0) {
		turn_both();
	}
}

CASE(full_worker_gives_half_of_its_connections)
{
	struct loop_client clients[CLIENTS];
	enter_all(clients);
	note_full(900000);
	assert_int_equal(second->n_conns, 0); /* not for a second yet */
	note_full(1100000);
	assert_int_equal(second->n_conns, CLIENTS / 2);
	for (size_t i = 0; i < CLIENTS; i++) {
		size_t before = loop_take(&clients[i]);
		loop_send_probes(&clients[i], 3);
		turn_both();
		assert_int_equal(loop_take(&clients[i]), before + 3);
	}
	leave_all(clients);
}

CASE(idle_half_busy_and_querying_workers_decide)
{
	struct loop_client clients[CLIENTS];
	enter_all(clients);
	set_busy(second, 60);
	note_full(1100000);
	assert_int_equal(second->n_conns, 0);
	set_busy(second, 0);
	atomic_store(&second->n_runnable, 1);
	note_full(1100000);
	assert_int_equal(second->n_conns, 0);
	atomic_store(&second->n_runnable, 0);
	leave_all(clients);
}

CASE(machine_without_a_processor_to_spare_keeps_them_together)
{
	struct loop_client clients[CLIENTS];
	static const char before[] = "cpu  1 2 3 100 50 6 7\n";
	static const char after[] = "cpu  1 2 3 900 50 6 7\n";
	int fd = memfd_create("stat", 0);
	assert_int_equal(pwrite(fd, before, sizeof(before), 0), sizeof(before));
	enter_all(clients);
	loop_server->cpu_fd = fd;
	loop_worker->full_idle_us = 1500000; /* as it is still */
	note_full(1100000);
	assert_int_equal(second->n_conns, 0);
	assert_int_equal(pwrite(fd, after, sizeof(after), 0), sizeof(after));
	loop_worker->full_idle_us = 1500000;
	note_full(1100000);
	assert_int_equal(second->n_conns, CLIENTS / 2);
	loop_server->cpu_fd = -1;
	close(fd);
	leave_all(clients);
}

CASE(connections_with_anything_on_the_way_stay)
{
	struct loop_client clients[CLIENTS];
	struct chi_buffer out;
	struct chi_conn *conn = NULL;
	enter_all(clients);
	send_scan(&clients[0], 1); /* a query runs */
	chi_buffer_init(&out, 4096);
	loop_pack_probe(&out, 1);
	assert_int_equal(send(clients[1].fd, chi_buffer_bytes(&out), 5, 0), 5); /* half a request */
	chi_buffer_deinit(&out);
	loop_turn();
	TAILQ_FOREACH(conn, &loop_worker->conns, all_link)
	{
		/* ASYNC writes, or not served of late. */
		bool other = conn->n_calls == 0 && conn->in.len == 0;
		conn->pinned = other && conn->serial % 2 == 0;
		conn->served_us = other && !conn->pinned ? 0 : conn->served_us;
	}
	note_full(1100000);
	assert_int_equal(second->n_conns, 0);
	leave_all(clients);
}

CASE(role_of_a_moved_connection_is_judged_again)
{
	static const struct chi_listen less = {.kind = CHI_LISTEN_UNIX, .role = CHI_ROLE_READ};
	struct loop_client clients[CLIENTS];
	struct chi_conn *conn = NULL;
	enter_all(clients);
	TAILQ_FOREACH(conn, &loop_worker->conns, all_link)
	{
		conn->listen = &less;
	}
	note_full(1100000);
	for (size_t i = 0; i < 10; i++) {
		turn_both();
	}
	assert_int_equal(second->tally.connections[CHI_CONN_OPEN], 0);
	assert_int_equal(loop_worker->tally.connections[CHI_CONN_OPEN], CLIENTS / 2);
	leave_all(clients);
}

CASE(spinning_ends_after_its_time)
{
	struct loop_client client;
	loop_config.spin_us = 1000000;
	loop_enter(&client);
	loop_send_probes(&client, 1);
	loop_turn();
	assert_true(loop_worker->spins);
	int64_t spun = loop_worker->spun_us;
	usleep(2000);
	loop_turn();
	assert_true(loop_worker->spins);
	assert_true(loop_worker->spun_us >= spun + 2000);
	loop_worker->asked_us -= 1000000;
	loop_turn();
	assert_false(loop_worker->spins);
	loop_config.spin_us = 0;
	loop_leave(&client);
	loop_all_left();
}

CASES_MAIN(init_two, deinit_two)
