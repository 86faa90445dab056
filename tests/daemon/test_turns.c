/* SPDX-License-Identifier: MIT */
/*
 * Fairness, counted in turns of a worker's loop and not in time: a worker without its thread, whose
 * turns are taken one by one. Clients with long pipelines and scans have many turns of work before
 * them; one that asks a single question is answered within the next two all the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "base/attr.h"
#include "daemon/conn.h"
#include "daemon/limits.h"
#include "daemon/server.h"
#include "daemon/worker.h"
#include "proto/frame.h"
#include "tests/store/trees.h"

#define POSITIONS   500
#define LARGE	    120000 /* of the store "large": many turns to look at each */
#define UNREAD	    8
#define POLITE	    8
#define PIPELINE    1000
#define SHORT_SCANS 100
#define TURNS_MAX   2 /* until a single question is answered */

struct client {
	int fd;
	struct chi_buffer in;
	size_t answers;
	size_t bytes; /* of theirs */
};

static struct chi_key keys[POSITIONS];
static struct chi_key large[LARGE];
static struct chi_config config;
static struct chi_server *server;
static struct chi_worker *worker;
static const struct chi_listen listen_here = {.kind = CHI_LISTEN_UNIX, .role = CHI_ROLE_ADMIN};

static int init(void **state)
{
	(void)state;
	chi_config_init(&config);
	server = calloc(1, sizeof(*server));
	assert_non_null(server);
	server->config = &config;
	server->n_stores = 2;
	server->stores[0] = (struct chi_served){
		.server = server,
		.name = "default",
		.store = help_store("turns", CHI_STATISTIC_EXTERNAL),
		.statistic = CHI_STATISTIC_EXTERNAL,
	};
	server->stores[1] = server->stores[0];
	server->stores[1].name = "large";
	server->stores[1].store = help_store("large", CHI_STATISTIC_EXTERNAL);
	trees_keys(large, LARGE);
	trees_fill(server->stores[1].store, large, LARGE, false);
	help_keys(keys, POSITIONS);
	help_fill(server->stores[0].store, keys, POSITIONS);
	ok(chi_guard_init(&server->guard, &config, &fault));
	ok(chi_worker_new(server, 0, &worker, &fault));
	return 0;
}

static int deinit(void **state)
{
	(void)state;
	chi_worker_free(worker);
	chi_store_close(server->stores[0].store);
	chi_store_close(server->stores[1].store);
	free(server);
	help_clean();
	return 0;
}

static void turn(void)
{
	assert_true(event_base_loop(worker->base, EVLOOP_ONCE | EVLOOP_NONBLOCK) >= 0);
}

static void pack(struct chi_buffer *out, const struct chi_request *request)
{
	assert_int_equal(chi_request_pack(request, out), CHI_OK);
}

static void pack_probe(struct chi_buffer *out, uint64_t id)
{
	struct chi_request request = {.id = id, .op = CHI_OP_PROBE};
	request.u.positions.keys = &keys[id % POSITIONS];
	request.u.positions.n = 1;
	pack(out, &request);
}

static void send_all(const struct client *client, struct chi_buffer *out)
{
	ssize_t n = send(client->fd, chi_buffer_bytes(out), out->len, 0);
	assert_int_equal(n, out->len);
	chi_buffer_deinit(out);
}

static void send_probes(const struct client *client, unsigned n)
{
	struct chi_buffer out;
	chi_buffer_init(&out, 1 << 20);
	for (unsigned i = 1; i <= n; i++) {
		pack_probe(&out, i);
	}
	send_all(client, &out);
}

/* Counts the answers that have come since. */
static size_t take_answers(struct client *client)
{
	const uint8_t *body = NULL;
	size_t body_len = 0;
	size_t len = 0;
	uint8_t bytes[65536];
	ssize_t n = 0;
	while ((n = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		assert_int_equal(chi_buffer_append(&client->in, bytes, (size_t)n), CHI_OK);
	}
	while (chi_frame_take(chi_buffer_bytes(&client->in), client->in.len, CHI_FRAME_RESPONSE_MAX,
			      &body, &body_len, &len) == CHI_OK) {
		chi_buffer_consume(&client->in, len);
		client->answers++;
		client->bytes += len;
	}
	return client->answers;
}

static void enter(struct client *client)
{
	struct chi_buffer out;
	struct chi_request hello = {.id = 1, .op = CHI_OP_HELLO};
	int fds[2];
	hello.u.hello.version = CHI_PROTOCOL_VERSION;
	*client = (struct client){0};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	client->fd = fds[0];
	chi_buffer_init(&client->in, (size_t)16 << 20);
	atomic_fetch_add(&server->connections, 1);
	chi_conn_new(worker, fds[1], &listen_here);
	chi_buffer_init(&out, 4096);
	pack(&out, &hello);
	send_all(client, &out);
	turn();
	assert_int_equal(take_answers(client), 1);
	client->answers = 0;
}

static void leave(struct client *client)
{
	close(client->fd);
	chi_buffer_deinit(&client->in);
}

static void all_left(void)
{
	for (unsigned i = 0; worker->n_conns > 0; i++) {
		assert_in_range(i, 0, PIPELINE);
		turn();
	}
}

static void pipelines_let_others_through(void **state)
{
	struct client rude;
	struct client polite[POLITE];
	size_t turns = 0;
	(void)state;
	enter(&rude);
	for (size_t i = 0; i < POLITE; i++) {
		enter(&polite[i]);
	}
	send_probes(&rude, PIPELINE);
	/* Whatever the order in which they are seen, and while it lasts. */
	while (take_answers(&rude) < PIPELINE) {
		size_t slowest = 0;
		for (size_t i = 0; i < POLITE; i++) {
			polite[i].answers = 0;
			send_probes(&polite[i], 1);
		}
		for (size_t i = 0; i < POLITE; i++) {
			size_t taken = 0;
			while (take_answers(&polite[i]) == 0) {
				turn();
				turns++;
				taken++;
				assert_in_range(taken, 1, TURNS_MAX);
			}
			slowest = taken > slowest ? taken : slowest;
		}
		assert_in_range(slowest, 1, TURNS_MAX);
		assert_in_range(take_answers(&rude), 0, turns * CHI_FRAMES_PER_WAKEUP);
		assert_in_range(turns, 1, PIPELINE);
	}
	print_message("# a pipeline of %d took %zu turns, each with a probe of %d others\n",
		      PIPELINE, turns, POLITE);
	assert_true(turns >= PIPELINE / CHI_FRAMES_PER_WAKEUP);
	leave(&rude);
	for (size_t i = 0; i < POLITE; i++) {
		leave(&polite[i]);
	}
	all_left();
}

static void scans_let_others_through(void **state)
{
	struct client rude;
	struct client polite;
	struct chi_buffer out;
	size_t most = 0;
	(void)state;
	enter(&rude);
	enter(&polite);
	chi_buffer_init(&out, 1 << 20);
	for (unsigned i = 1; i <= 50; i++) {
		struct chi_request request = {.id = i, .op = CHI_OP_SCAN};
		request.u.scan.spec =
			(struct chi_scan_spec){.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_COUNTS};
		request.u.scan.window = CHI_WINDOW_MAX;
		pack(&out, &request);
	}
	send_all(&rude, &out);
	for (unsigned i = 0; i < 40; i++) {
		size_t taken = 0;
		polite.answers = 0;
		send_probes(&polite, 1);
		while (take_answers(&polite) == 0) {
			turn();
			taken++;
			assert_in_range(taken, 1, TURNS_MAX);
		}
		most = taken > most ? taken : most;
	}
	print_message("# beside 50 scans a probe was answered after %zu turns at most, "
		      "%zu pages of rows between 40 of them\n",
		      most, take_answers(&rude));
	assert_in_range(take_answers(&rude), 1, 50 + 40 * TURNS_MAX);
	leave(&rude);
	leave(&polite);
	all_left();
}

/* One scan a turn let a thousand clients wait for seconds, each for a hundred rows, while everybody
 * else's probes were answered between any two of them. */
static void short_scans_share_a_turn(void **state)
{
	struct client many[SHORT_SCANS];
	struct chi_buffer out;
	size_t answered = 0;
	size_t turns = 0;
	(void)state;
	for (size_t i = 0; i < SHORT_SCANS; i++) {
		enter(&many[i]);
	}
	for (size_t i = 0; i < SHORT_SCANS; i++) {
		struct chi_request request = {.id = i + 1, .op = CHI_OP_SCAN};
		request.u.scan.spec = (struct chi_scan_spec){
			.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_COUNTS, .limit = 1};
		request.u.scan.window = CHI_WINDOW_MAX;
		chi_buffer_init(&out, 4096);
		pack(&out, &request);
		send_all(&many[i], &out);
	}
	while (answered < SHORT_SCANS) {
		turn();
		turns++;
		answered = 0;
		for (size_t i = 0; i < SHORT_SCANS; i++) {
			answered += take_answers(&many[i]) > 0;
		}
		assert_in_range(turns, 1, SHORT_SCANS / 2);
	}
	print_message("# %d scans of one row took %zu turns\n", SHORT_SCANS, turns);
	for (size_t i = 0; i < SHORT_SCANS; i++) {
		leave(&many[i]);
	}
	all_left();
}

/* A scan or count of all of the large store. */
static void send_walk(const struct client *client, uint64_t id, enum chi_op op,
		      struct chi_filter filter)
{
	struct chi_buffer out;
	struct chi_request request = {
		.id = id, .op = op, .store = {.bytes = "large", .len = strlen("large")}};
	request.u.scan.spec = (struct chi_scan_spec){
		.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_KEYS, .filter = filter};
	request.u.scan.window = op == CHI_OP_SCAN ? CHI_WINDOW_MAX : 0;
	chi_buffer_init(&out, 4096);
	pack(&out, &request);
	send_all(client, &out);
}

/* No position of the large store passes: their kings alone are two pieces. */
static const struct chi_filter nothing = {.pieces_min = 1, .pieces_max = 1};
static const struct chi_filter anything = {0};

/* Turns that it took until a single question of the client's was answered. */
static size_t probe_through(struct client *client)
{
	size_t taken = 0;
	client->answers = 0;
	send_probes(client, 1);
	while (take_answers(client) == 0) {
		turn();
		taken++;
		assert_in_range(taken, 1, TURNS_MAX);
	}
	return taken;
}

static void what_finds_nothing_lets_others_through(void **state)
{
	struct client rude;
	struct client polite;
	size_t turns = 0;
	(void)state;
	enter(&rude);
	enter(&polite);
	send_walk(&rude, 1, CHI_OP_SCAN, nothing);
	send_walk(&rude, 2, CHI_OP_COUNT, nothing);
	while (take_answers(&rude) < 2) {
		turns += probe_through(&polite);
		assert_in_range(turns, 1, LARGE);
	}
	print_message("# a scan and a count that find nothing in %d positions took %zu turns\n",
		      LARGE, turns);
	/* Or else the probes have shown nothing. */
	assert_true(turns >= LARGE / CHI_SLICE_STEPS);
	leave(&rude);
	leave(&polite);
	all_left();
}

/* Takes what is on its way to a client whose requests are done. */
static void drain(struct client *client)
{
	for (size_t before = SIZE_MAX; before != client->answers;) {
		before = client->answers;
		turn();
		(void)take_answers(client);
	}
}

static void two_scans_go_on_side_by_side(void **state)
{
	struct client clients[2];
	size_t apart = 0;
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		enter(&clients[i]);
		clients[i].bytes = 0;
		send_walk(&clients[i], 1, CHI_OP_SCAN, anything);
	}
	for (size_t turns = 0; turns < 3 || !TAILQ_EMPTY(&worker->scans); turns++) {
		turn();
		for (size_t i = 0; i < 2; i++) {
			(void)take_answers(&clients[i]);
		}
		size_t a = clients[0].bytes;
		size_t b = clients[1].bytes;
		size_t distance = a > b ? a - b : b - a;
		apart = distance > apart ? distance : apart;
		assert_in_range(turns, 0, LARGE);
	}
	for (size_t i = 0; i < 2; i++) {
		drain(&clients[i]);
	}
	print_message("# two scans of %zu bytes were %zu apart at most\n", clients[0].bytes, apart);
	/* One after the other, they would be apart by the whole. They take turns, but how much is
	 * done in each is a matter of time. */
	assert_true(clients[0].bytes > LARGE && apart < clients[0].bytes / 10 * 9);
	leave(&clients[0]);
	leave(&clients[1]);
	all_left();
}

static void cancel_ends_scans_that_work(void **state)
{
	struct client client;
	size_t taken = 0;
	(void)state;
	enter(&client);
	send_walk(&client, 1, CHI_OP_SCAN, nothing);
	send_walk(&client, 2, CHI_OP_COUNT, nothing);
	while (worker->n_runnable < 2) {
		turn();
		assert_in_range(++taken, 1, TURNS_MAX);
	}
	for (uint64_t id = 1; id <= 2; id++) {
		struct chi_buffer out;
		struct chi_request cancel = {.id = id, .op = CHI_OP_CANCEL};
		chi_buffer_init(&out, 4096);
		pack(&out, &cancel);
		send_all(&client, &out);
	}
	for (taken = 0; take_answers(&client) < 2;) {
		turn();
		assert_in_range(++taken, 1, TURNS_MAX);
	}
	assert_true(TAILQ_EMPTY(&worker->scans));
	assert_int_equal(worker->n_runnable, 0);
	leave(&client);
	all_left();
}

/* Each may have a page of rows that waits, and all together what was appended to their client's
 * output before it was too long. */
static void unread_scans_are_not_buffered(void **state)
{
	const size_t bound = UNREAD * CHI_SCAN_ROWS_MAX * sizeof(struct chi_row) + CHI_STREAM_MARK +
			     CHI_SCAN_BYTES_MAX + 2 * CHI_READ_CHUNK;
	struct client unread;
	struct client polite;
	size_t most = 0;
	(void)state;
	enter(&unread);
	enter(&polite);
	for (unsigned i = 1; i <= UNREAD; i++) {
		send_walk(&unread, i, CHI_OP_SCAN, anything);
	}
	for (unsigned i = 0; i < 50 || worker->n_runnable > 0; i++) {
		(void)probe_through(&polite);
		size_t now = atomic_load(&server->buffered);
		most = now > most ? now : most;
		assert_in_range(i, 0, LARGE);
	}
	size_t stands = atomic_load(&server->buffered);
	for (unsigned i = 0; i < 50; i++) {
		(void)probe_through(&polite);
	}
	assert_int_equal(atomic_load(&server->buffered), stands);
	assert_in_range(most, 1, bound);
	unread.bytes = 0;
	for (size_t turns = 0; !TAILQ_EMPTY(&worker->scans); turns++) {
		(void)take_answers(&unread);
		turn();
		assert_in_range(turns, 0, LARGE);
	}
	drain(&unread);
	print_message("# %d scans of %zu bytes in all, unread, took %zu bytes of memory\n", UNREAD,
		      unread.bytes, most);
	assert_true(unread.bytes > 2 * bound);
	leave(&unread);
	leave(&polite);
	all_left();
}

/* The roles of all are judged anew, also behind one whose unread answers leave no room to tell it
 * so, and who is therefore dropped on the way. */
static void judging_reaches_all(void **state)
{
	static const struct chi_listen less = {.kind = CHI_LISTEN_UNIX, .role = CHI_ROLE_READ};
	struct client clients[3];
	struct chi_conn *conn = NULL;
	(void)state;
	for (size_t i = 0; i < CHI_COUNT(clients); i++) {
		enter(&clients[i]);
	}
	TAILQ_FOREACH(conn, &worker->conns, all_link)
	{
		assert_int_equal(conn->role, CHI_ROLE_ADMIN);
		conn->listen = &less;
	}
	conn = TAILQ_FIRST(&worker->conns);
	assert_non_null(chi_buffer_reserve(&conn->out, config.limits.output_close));
	chi_buffer_added(&conn->out, config.limits.output_close);
	chi_worker_judge(worker);
	turn();
	TAILQ_FOREACH(conn, &worker->conns, all_link)
	{
		assert_int_equal(conn->role, CHI_ROLE_NONE);
	}
	for (size_t i = 0; i < CHI_COUNT(clients); i++) {
		leave(&clients[i]);
	}
	all_left();
}

/* The only client there is, with so many bytes that it has not read and that cannot be sent. */
static struct chi_conn *enter_unread(struct client *client, size_t unread)
{
	static const uint8_t bytes[4096];
	enter(client);
	struct chi_conn *conn = TAILQ_FIRST(&worker->conns);
	while (send(conn->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
	}
	assert_int_equal(conn->out.len, 0);
	assert_non_null(chi_buffer_reserve(&conn->out, unread));
	chi_buffer_added(&conn->out, unread);
	chi_conn_flush(conn);
	assert_int_equal(conn->out.len, unread);
	return conn;
}

/* The mark itself is allowed, in both. */
static void unread_answers_stop_reading_at_the_mark(void **state)
{
	(void)state;
	for (int over = -1; over <= 1; over++) {
		struct client client;
		const struct chi_conn *conn =
			enter_unread(&client, (size_t)((int64_t)config.limits.output_pause + over));
		send_probes(&client, 1);
		turn();
		assert_int_equal(conn->paused, over > 0);
		leave(&client);
		all_left();
	}
}

static void unread_answers_cut_off_at_the_mark(void **state)
{
	(void)state;
	const uint64_t pause = config.limits.output_pause;
	struct client client;
	enter(&client);
	client.bytes = 0;
	send_probes(&client, 1);
	turn();
	assert_int_equal(take_answers(&client), 1);
	size_t answer = client.bytes;
	leave(&client);
	all_left();
	config.limits.output_pause = config.limits.output_close;
	for (int over = -1; over <= 1; over++) {
		size_t whole = (size_t)((int64_t)config.limits.output_close + over);
		(void)enter_unread(&client, whole - answer);
		send_probes(&client, 1);
		turn();
		assert_int_equal(worker->n_conns, over > 0 ? 0 : 1);
		leave(&client);
		all_left();
	}
	config.limits.output_pause = pause;
}

static void buffers_are_full_above_the_mark(void **state)
{
	(void)state;
	size_t before = atomic_load(&server->buffered);
	for (int over = -1; over <= 1; over++) {
		atomic_store(&server->buffered,
			     (size_t)((int64_t)config.limits.buffer_bytes + over));
		assert_int_equal(chi_server_is_full(server), over > 0);
	}
	atomic_store(&server->buffered, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipelines_let_others_through),
		cmocka_unit_test(scans_let_others_through),
		cmocka_unit_test(short_scans_share_a_turn),
		cmocka_unit_test(what_finds_nothing_lets_others_through),
		cmocka_unit_test(two_scans_go_on_side_by_side),
		cmocka_unit_test(cancel_ends_scans_that_work),
		cmocka_unit_test(unread_scans_are_not_buffered),
		cmocka_unit_test(judging_reaches_all),
		cmocka_unit_test(unread_answers_stop_reading_at_the_mark),
		cmocka_unit_test(unread_answers_cut_off_at_the_mark),
		cmocka_unit_test(buffers_are_full_above_the_mark),
	};
	return cmocka_run_group_tests(tests, init, deinit);
}
