/* SPDX-License-Identifier: MIT */
/*
 * Fairness, counted in turns of a worker's loop and not in time. Clients with long pipelines and
 * scans have many turns of work before them; one that asks a single question is answered within
 * the next two all the same.
 */
#include "tests/daemon/loop.h"

#include <string.h>

#include "tests/store/help.h"

#define UNREAD	    8
#define POLITE	    8
#define PIPELINE    1000
#define SHORT_SCANS 100
#define TURNS_MAX   2 /* until a single question is answered */

CASE(pipelines_let_others_through)
{
	struct loop_client rude;
	struct loop_client polite[POLITE];
	size_t turns = 0;
	loop_enter(&rude);
	for (size_t i = 0; i < POLITE; i++) {
		loop_enter(&polite[i]);
	}
	loop_send_probes(&rude, PIPELINE);
	/* Whatever the order in which they are seen, and while it lasts. */
	while (loop_take(&rude) < PIPELINE) {
		size_t slowest = 0;
		for (size_t i = 0; i < POLITE; i++) {
			polite[i].answers = 0;
			loop_send_probes(&polite[i], 1);
		}
		for (size_t i = 0; i < POLITE; i++) {
			size_t taken = 0;
			while (loop_take(&polite[i]) == 0) {
				loop_turn();
				turns++;
				taken++;
				assert_in_range(taken, 1, TURNS_MAX);
			}
			slowest = taken > slowest ? taken : slowest;
		}
		assert_in_range(slowest, 1, TURNS_MAX);
		assert_in_range(loop_take(&rude), 0, turns * CHI_FRAMES_PER_WAKEUP);
		assert_in_range(turns, 1, PIPELINE);
	}
	print_message("# a pipeline of %d took %zu turns, each with a probe of %d others\n",
		      PIPELINE, turns, POLITE);
	assert_true(turns >= PIPELINE / CHI_FRAMES_PER_WAKEUP);
	loop_leave(&rude);
	for (size_t i = 0; i < POLITE; i++) {
		loop_leave(&polite[i]);
	}
	loop_all_left();
}

CASE(scans_let_others_through)
{
	struct loop_client rude;
	struct loop_client polite;
	struct chi_buffer out;
	size_t most = 0;
	loop_enter(&rude);
	loop_enter(&polite);
	chi_buffer_init(&out, 1 << 20);
	for (unsigned i = 1; i <= 50; i++) {
		struct chi_request request = {.id = i, .op = CHI_OP_SCAN};
		const struct chi_scan_request scan = {
			.spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_COUNTS}};
		request.body = &scan;
		request.window = CHI_WINDOW_MAX;
		loop_pack(&out, &request);
	}
	loop_send(&rude, &out);
	/* On a machine that is busy a page takes more turns. */
	for (unsigned i = 0; i < 40 || (i < 4000 && loop_take(&rude) == 0); i++) {
		size_t taken = 0;
		polite.answers = 0;
		loop_send_probes(&polite, 1);
		while (loop_take(&polite) == 0) {
			loop_turn();
			taken++;
			assert_in_range(taken, 1, TURNS_MAX);
		}
		most = taken > most ? taken : most;
	}
	print_message("# beside 50 scans a probe was answered after %zu turns at most, "
		      "%zu pages of rows between 40 of them or more\n",
		      most, loop_take(&rude));
	assert_in_range(loop_take(&rude), 1, 50 + 40 * TURNS_MAX);
	loop_leave(&rude);
	loop_leave(&polite);
	loop_all_left();
}

/* One scan a turn let a thousand clients wait for seconds, each for a hundred rows, while everyone
 * else's probes were answered between any two of them. */
CASE(short_scans_share_a_turn)
{
	struct loop_client many[SHORT_SCANS];
	struct chi_buffer out;
	size_t answered = 0;
	size_t turns = 0;
	for (size_t i = 0; i < SHORT_SCANS; i++) {
		loop_enter(&many[i]);
	}
	for (size_t i = 0; i < SHORT_SCANS; i++) {
		struct chi_request request = {.id = i + 1, .op = CHI_OP_SCAN};
		const struct chi_scan_request scan = {
			.spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_COUNTS, .limit = 1}};
		request.body = &scan;
		request.window = CHI_WINDOW_MAX;
		chi_buffer_init(&out, 4096);
		loop_pack(&out, &request);
		loop_send(&many[i], &out);
	}
	while (answered < SHORT_SCANS) {
		loop_turn();
		turns++;
		answered = 0;
		for (size_t i = 0; i < SHORT_SCANS; i++) {
			answered += loop_take(&many[i]) > 0;
		}
		assert_in_range(turns, 1, SHORT_SCANS / 2);
	}
	print_message("# %d scans of one row took %zu turns\n", SHORT_SCANS, turns);
	for (size_t i = 0; i < SHORT_SCANS; i++) {
		loop_leave(&many[i]);
	}
	loop_all_left();
}

/* A scan or count of all of the large store. */
static void send_walk(const struct loop_client *client, uint64_t id, enum chi_op op,
		      struct chi_filter filter)
{
	struct chi_buffer out;
	struct chi_request request = {
		.id = id, .op = op, .store = {.bytes = "large", .len = strlen("large")}};
	const struct chi_scan_request scan = {
		.spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_KEYS, .filter = filter}};
	request.body = &scan;
	request.window = op == CHI_OP_SCAN ? CHI_WINDOW_MAX : 0;
	chi_buffer_init(&out, 4096);
	loop_pack(&out, &request);
	loop_send(client, &out);
}

/* No position of the large store passes: their kings alone are two pieces. */
static const struct chi_filter nothing = {.pieces_min = 1, .pieces_max = 1};
static const struct chi_filter anything = {0};

/* Turns that it took until a single question of the client's was answered. */
static size_t probe_through(struct loop_client *client)
{
	size_t taken = 0;
	client->answers = 0;
	loop_send_probes(client, 1);
	while (loop_take(client) == 0) {
		loop_turn();
		taken++;
		assert_in_range(taken, 1, TURNS_MAX);
	}
	return taken;
}

CASE(what_finds_nothing_lets_others_through)
{
	struct loop_client rude;
	struct loop_client polite;
	size_t turns = 0;
	loop_enter(&rude);
	loop_enter(&polite);
	send_walk(&rude, 1, CHI_OP_SCAN, nothing);
	send_walk(&rude, 2, CHI_OP_COUNT, nothing);
	while (loop_take(&rude) < 2) {
		turns += probe_through(&polite);
		assert_in_range(turns, 1, LOOP_LARGE);
	}
	print_message("# a scan and a count that find nothing in %d positions took %zu turns\n",
		      LOOP_LARGE, turns);
	/* Or else the probes have shown nothing. */
	assert_true(turns >= LOOP_LARGE / CHI_SLICE_STEPS);
	loop_leave(&rude);
	loop_leave(&polite);
	loop_all_left();
}

/* Takes what is on its way to a client whose requests are done. */
static void drain(struct loop_client *client)
{
	for (size_t before = SIZE_MAX; before != client->answers;) {
		before = client->answers;
		loop_turn();
		(void)loop_take(client);
	}
}

CASE(two_scans_go_on_side_by_side)
{
	struct loop_client clients[2];
	size_t apart = 0;
	for (size_t i = 0; i < 2; i++) {
		loop_enter(&clients[i]);
		clients[i].bytes = 0;
		send_walk(&clients[i], 1, CHI_OP_SCAN, anything);
	}
	for (size_t turns = 0; turns < 3 || !TAILQ_EMPTY(&loop_worker->runs); turns++) {
		loop_turn();
		for (size_t i = 0; i < 2; i++) {
			(void)loop_take(&clients[i]);
		}
		size_t a = clients[0].bytes;
		size_t b = clients[1].bytes;
		size_t distance = a > b ? a - b : b - a;
		apart = distance > apart ? distance : apart;
		assert_in_range(turns, 0, LOOP_LARGE);
	}
	for (size_t i = 0; i < 2; i++) {
		drain(&clients[i]);
	}
	print_message("# two scans of %zu bytes were %zu apart at most\n", clients[0].bytes, apart);
	/* One after the other, they would be apart by the whole. They take turns, but how much is
	 * done in each is a matter of time. */
	assert_true(clients[0].bytes > LOOP_LARGE && apart < clients[0].bytes / 10 * 9);
	loop_leave(&clients[0]);
	loop_leave(&clients[1]);
	loop_all_left();
}

CASE(cancel_ends_scans_that_work)
{
	struct loop_client client;
	size_t taken = 0;
	loop_enter(&client);
	send_walk(&client, 1, CHI_OP_SCAN, nothing);
	send_walk(&client, 2, CHI_OP_COUNT, nothing);
	while (loop_worker->n_runnable < 2) {
		loop_turn();
		assert_in_range(++taken, 1, TURNS_MAX);
	}
	for (uint64_t id = 1; id <= 2; id++) {
		struct chi_buffer out;
		struct chi_request cancel = {.id = id, .op = CHI_OP_CANCEL};
		chi_buffer_init(&out, 4096);
		loop_pack(&out, &cancel);
		loop_send(&client, &out);
	}
	for (taken = 0; loop_take(&client) < 2;) {
		loop_turn();
		assert_in_range(++taken, 1, TURNS_MAX);
	}
	assert_true(TAILQ_EMPTY(&loop_worker->runs));
	assert_int_equal(loop_worker->n_runnable, 0);
	loop_leave(&client);
	loop_all_left();
}

/* Each may have a page of rows that waits, and all together what was appended to their client's
 * output before it was too long. */
CASE(unread_scans_are_not_buffered)
{
	const size_t bound = UNREAD * CHI_SCAN_ROWS_MAX * sizeof(struct chi_row) + CHI_STREAM_MARK +
			     CHI_SCAN_BYTES_MAX + 2 * CHI_READ_CHUNK;
	struct loop_client unread;
	struct loop_client polite;
	size_t most = 0;
	loop_enter(&unread);
	loop_enter(&polite);
	for (unsigned i = 1; i <= UNREAD; i++) {
		send_walk(&unread, i, CHI_OP_SCAN, anything);
	}
	for (unsigned i = 0; i < 50 || loop_worker->n_runnable > 0; i++) {
		(void)probe_through(&polite);
		size_t now = atomic_load(&loop_server->buffered);
		most = now > most ? now : most;
		assert_in_range(i, 0, LOOP_LARGE);
	}
	size_t before = atomic_load(&loop_server->buffered);
	for (unsigned i = 0; i < 50; i++) {
		(void)probe_through(&polite);
	}
	assert_int_equal(atomic_load(&loop_server->buffered), before);
	assert_in_range(most, 1, bound);
	unread.bytes = 0;
	for (size_t turns = 0; !TAILQ_EMPTY(&loop_worker->runs); turns++) {
		(void)loop_take(&unread);
		loop_turn();
		assert_in_range(turns, 0, LOOP_LARGE);
	}
	drain(&unread);
	print_message("# %d scans of %zu bytes in all, unread, took %zu bytes of memory\n", UNREAD,
		      unread.bytes, most);
	assert_true(unread.bytes > 2 * bound);
	loop_leave(&unread);
	loop_leave(&polite);
	loop_all_left();
}

/* Before each came a large request, whose memory the worker keeps for the next. */
CASE(small_queries_keep_no_large_blocks)
{
	enum {
		QUERIES = 4,
		KEYS = 1000
	};
	static struct chi_key keys[KEYS];
	const struct chi_stats_spec spec = {.by = CHI_STATS_PIECES};
	const size_t before = atomic_load(&loop_server->buffered);
	struct loop_client client;
	struct chi_buffer out;
	loop_enter(&client);
	help_keys(keys, KEYS);
	chi_buffer_init(&out, 1 << 20);
	for (unsigned i = 1; i <= QUERIES; i++) {
		const struct chi_request large = {
			.id = 100 + i,
			.op = CHI_OP_GET,
			.body = &(const struct chi_positions){.keys = keys, .n = KEYS}};
		const struct chi_request small = {
			.id = i,
			.op = CHI_OP_STATS,
			.store = {.bytes = "large", .len = strlen("large")},
			.body = &spec};
		loop_pack(&out, &large);
		loop_pack(&out, &small);
	}
	loop_send(&client, &out);
	for (size_t turns = 0; loop_worker->n_runnable < QUERIES; turns++) {
		loop_turn();
		(void)loop_take(&client);
		assert_in_range(turns, 0, QUERIES);
	}
	for (size_t turns = 0; loop_take(&client) < QUERIES; turns++) {
		loop_turn();
		assert_in_range(turns, 0, LOOP_LARGE);
	}
	assert_in_range(atomic_load(&loop_server->buffered) - before, QUERIES,
			QUERIES * ((size_t)20 << 10));
	loop_leave(&client);
	loop_all_left();
}

/* The roles of all are judged again, also after one whose unread answers leave no room to tell it
 * so, and who is therefore dropped on the way. */
CASE(judging_reaches_all)
{
	static const struct chi_listen less = {.kind = CHI_LISTEN_UNIX, .role = CHI_ROLE_READ};
	struct loop_client clients[3];
	struct chi_conn *conn = NULL;
	for (size_t i = 0; i < CHI_COUNT(clients); i++) {
		loop_enter(&clients[i]);
	}
	TAILQ_FOREACH(conn, &loop_worker->conns, all_link)
	{
		assert_int_equal(conn->role, CHI_ROLE_ADMIN);
		conn->listen = &less;
	}
	conn = TAILQ_FIRST(&loop_worker->conns);
	assert_non_null(chi_buffer_reserve(&conn->out, loop_config.limits.output_close));
	chi_buffer_added(&conn->out, loop_config.limits.output_close);
	chi_worker_authorize(loop_worker);
	loop_turn();
	TAILQ_FOREACH(conn, &loop_worker->conns, all_link)
	{
		assert_int_equal(conn->role, CHI_ROLE_NONE);
	}
	for (size_t i = 0; i < CHI_COUNT(clients); i++) {
		loop_leave(&clients[i]);
	}
	loop_all_left();
}

CASES_MAIN(loop_init, loop_deinit)
