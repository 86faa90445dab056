/* SPDX-License-Identifier: MIT */
/*
 * The daemon's bounds, each met exactly, missed by one and gone over by one. The clock is stopped
 * unless a test moves it, and what a client does not read is what a test says.
 */
#include "tests/daemon/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "ops/scan.h"
#include "daemon/ops/query.h"
#include "proto/wire/frame.h"
#include "tests/store/help.h"

#define HANDSHAKES 4

/* What the clock says. */
static int64_t now_ms = 1000000;

/* The socket whose client does not read, and how many bytes it takes all the same. */
static int stuck = -1;
static size_t takes;

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	if (clock != CLOCK_MONOTONIC) {
		return __real_clock_gettime(clock, out);
	}
	*out = (struct timespec){now_ms / 1000, now_ms % 1000 * 1000000};
	return 0;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
	if (fd != stuck) {
		return __real_send(fd, bytes, len, flags);
	}
	size_t n = len < takes ? len : takes;
	takes -= n;
	errno = EAGAIN;
	return n > 0 ? (ssize_t)n : -1;
}

/* The only client there is. */
static struct chi_conn *enter(struct loop_client *client)
{
	loop_enter(client);
	return TAILQ_FIRST(&loop_worker->conns);
}

static void leave(struct loop_client *client)
{
	stuck = -1;
	loop_leave(client);
	loop_all_left();
}

/* One that has so many bytes before it and reads none. */
static struct chi_conn *enter_unread(struct loop_client *client, size_t unread)
{
	struct chi_conn *conn = enter(client);
	stuck = conn->fd;
	takes = 0;
	assert_int_equal(conn->out.len, 0);
	assert_non_null(chi_buffer_reserve(&conn->out, unread));
	chi_buffer_added(&conn->out, unread);
	/* Nothing is sent, and the socket is watched. */
	chi_conn_flush(conn);
	return conn;
}

static size_t around(uint64_t limit, int over)
{
	return (size_t)((int64_t)limit + over);
}

/* Its client reads so many bytes. */
static void drain(struct chi_conn *conn, size_t n)
{
	takes = n;
	chi_conn_flush(conn);
	assert_int_equal(takes, 0);
}

/* ---- Time -------------------------------------------------------------------------------- */

CASE(begun_request_has_until_its_time)
{
	for (int over = -1; over <= 1; over++) {
		struct loop_client client;
		struct chi_buffer out;
		struct chi_conn *conn = enter(&client);
		now_ms += 5;
		chi_buffer_init(&out, 4096);
		loop_pack_probe(&out, 1);
		out.len--;
		loop_send(&client, &out);
		loop_turn();
		/* Ticks in between change nothing. */
		(void)chi_conn_tick(conn, now_ms);
		now_ms += (int64_t)loop_config.limits.frame_ms + over;
		(void)chi_conn_tick(conn, now_ms);
		assert_int_equal(conn->state, over < 0 ? CHI_CONN_OPEN : CHI_CONN_ENDING);
		leave(&client);
	}
}

CASE(hello_has_until_its_time)
{
	for (int over = -1; over <= 1; over++) {
		struct loop_client client;
		loop_connect(&client);
		struct chi_conn *conn = TAILQ_FIRST(&loop_worker->conns);
		now_ms += (int64_t)loop_config.limits.frame_ms + over;
		(void)chi_conn_tick(conn, now_ms);
		assert_int_equal(conn->state, over < 0 ? CHI_CONN_HELLO : CHI_CONN_ENDING);
		leave(&client);
	}
}

/* Counted from the answer, and again from each 64 KiB that are read; a byte now and then was enough
 * to hold answers for ever. */
CASE(unread_answers_are_kept_for_their_time)
{
	const int64_t limit = (int64_t)loop_config.limits.output_ms;
	for (int over = -1; over <= 1; over++) {
		struct loop_client client;
		struct chi_conn *conn = enter(&client);
		stuck = conn->fd;
		takes = 0;
		now_ms += 5;
		loop_send_probes(&client, 1);
		loop_turn();
		assert_true(conn->out.len > 1);
		now_ms += limit - 1;
		(void)chi_conn_tick(conn, now_ms);
		assert_int_equal(conn->state, CHI_CONN_OPEN);
		assert_non_null(chi_buffer_reserve(&conn->out, 2 * CHI_PROGRESS));
		chi_buffer_added(&conn->out, 2 * CHI_PROGRESS);
		drain(conn, CHI_PROGRESS);
		now_ms += limit - 1;
		drain(conn, CHI_PROGRESS - 1);
		now_ms += 1 + over;
		(void)chi_conn_tick(conn, now_ms);
		assert_int_equal(conn->state, over < 0 ? CHI_CONN_OPEN : CHI_CONN_DEAD);
		chi_conn_reap(loop_worker);
		leave(&client);
	}
}

static void send_spec(const struct loop_client *client, const struct chi_scan_spec *spec,
		      uint32_t window)
{
	struct chi_buffer out;
	const struct chi_scan_request scan = {.spec = *spec};
	const struct chi_request request = {
		.id = 1, .op = CHI_OP_SCAN, .store = {"large", 5}, .window = window, .body = &scan};
	chi_buffer_init(&out, 4096);
	loop_pack(&out, &request);
	loop_send(client, &out);
}

static void send_scan(const struct loop_client *client, struct chi_filter filter, uint64_t limit,
		      uint32_t window)
{
	const struct chi_scan_spec spec = {
		.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_KEYS, .filter = filter, .limit = limit};
	send_spec(client, &spec, window);
}

static struct chi_run *begun_scan(void)
{
	struct chi_run *run = NULL;
	for (unsigned i = 0; run == NULL || run->read == NULL; i++) {
		assert_in_range(i, 0, 100);
		loop_turn();
		run = TAILQ_FIRST(&loop_worker->runs);
	}
	return run;
}

CASE(snapshot_of_a_scan_that_stands_still)
{
	for (int over = -1; over <= 1; over++) {
		struct loop_client client;
		(void)enter(&client);
		send_scan(&client, (struct chi_filter){0}, 0, 1);
		const struct chi_run *run = begun_scan();
		while (run->is_runnable) {
			loop_turn();
		}
		assert_non_null(run->read);
		now_ms += (int64_t)loop_config.limits.snapshot_ms + over;
		(void)chi_run_tick(loop_worker, now_ms);
		assert_int_equal(run->read != NULL, over < 0);
		leave(&client);
	}
}

#define GAMES 30000u

static void fill_games(struct chi_dir *store)
{
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	for (uint32_t i = 0; i < GAMES; i++) {
		struct chi_game_id game = {.result = CHI_RESULT_DRAW};
		memcpy(game.id, &i, sizeof(i));
		ok(chi_write_game_id(write, &game));
	}
	ok(chi_write_commit(write, &fault));
}

/* A list of games kept its worker from all others until it was read to its end. */
CASE(games_were_read_in_one_go)
{
	struct loop_client client;
	struct chi_buffer out;
	const struct chi_game_ids_request all = {.limit = 0};
	struct chi_request request = {.id = 1,
				      .op = CHI_OP_GAME_IDS,
				      .body = &all,
				      .store = {.bytes = "large", .len = strlen("large")}};
	fill_games(loop_server->stores[1].copy->store);
	(void)enter(&client);
	chi_buffer_init(&out, 4096);
	loop_pack(&out, &request);
	loop_send(&client, &out);
	const size_t answers = client.answers;
	for (unsigned i = 0; loop_take(&client) == answers; i++) {
		assert_in_range(i, 0, 100);
		loop_turn();
	}
	/* Each with its number, and no more than others wait for. */
	const size_t most = CHI_GAME_IDS_MAX * (CHI_GAME_BYTES + sizeof(uint32_t));
	assert_true(CHI_GAME_IDS_MAX <= CHI_SLICE_STEPS && CHI_GAME_IDS_MAX < GAMES);
	assert_in_range(client.bytes, most, most + 200);
	leave(&client);
}

/* One that works looks at the clock by itself, between two slices. */
CASE(snapshot_of_a_scan_that_works)
{
	static const struct chi_filter nothing = {.pieces_min = 1, .pieces_max = 1};
	for (int over = -1; over <= 1; over++) {
		struct loop_client client;
		(void)enter(&client);
		send_scan(&client, nothing, 0, 1);
		const struct chi_run *run = begun_scan();
		assert_true(run->is_runnable);
		now_ms += (int64_t)loop_config.limits.snapshot_ms + over;
		chi_run_slice(loop_worker);
		assert_int_equal(run->read != NULL, over < 0);
		leave(&client);
	}
}

static void send_sorted(const struct loop_client *client, enum chi_want want)
{
	const struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX,
					   .descending = true,
					   .want = (uint8_t)want,
					   .sort = CHI_SORT_GAMES,
					   .limit = CHI_SORT_MAX};
	send_spec(client, &spec, CHI_WINDOW_MAX);
}

/* What is sorted is of one state, however long that takes. A compaction takes the snapshot away:
 * then it begins again, and what it says is the same. */
CASE(sorted_scan_is_of_one_snapshot)
{
	size_t bytes[2] = {0};
	for (unsigned i = 0; i < 4; i++) {
		struct loop_client client;
		const struct chi_conn *conn = enter(&client);
		client.bytes = 0;
		send_sorted(&client, i < 2 ? CHI_WANT_COUNTS : CHI_WANT_RECORDS);
		struct chi_run *run = begun_scan();
		struct chi_scan_query *scan = (void *)((struct chi_query_run *)run)->query;
		assert_false(chi_scan_collected(scan->scan));
		now_ms += 2 * (int64_t)loop_config.limits.snapshot_ms;
		assert_true(chi_run_tick(loop_worker, now_ms));
		chi_run_slice(loop_worker);
		assert_non_null(run->read);
		if (i % 2 == 1) {
			chi_run_release(loop_worker);
			assert_null(run->read);
			assert_null(scan->scan);
		}
		while (!TAILQ_EMPTY(&loop_worker->runs) || conn->out.len > 0) {
			loop_turn();
			(void)loop_take(&client);
		}
		(void)loop_take(&client);
		assert_true(client.bytes > CHI_SORT_MAX * CHI_KEY_MIN);
		assert_true(i % 2 == 0 || client.bytes == bytes[i / 2]);
		bytes[i / 2] = client.bytes;
		leave(&client);
	}
}

/* ---- Memory ------------------------------------------------------------------------------ */

/* The mark itself is allowed, in all of these. */
CASE(unread_answers_stop_reading_at_the_mark)
{
	for (int over = -1; over <= 1; over++) {
		struct loop_client client;
		const struct chi_conn *conn =
			enter_unread(&client, around(loop_config.limits.output_pause, over));
		loop_send_probes(&client, 1);
		loop_turn();
		assert_int_equal(conn->paused, over > 0);
		leave(&client);
	}
}

CASE(reading_goes_on_at_the_mark)
{
	struct loop_client client;
	struct chi_conn *conn = enter_unread(&client, around(loop_config.limits.output_pause, 2));
	loop_send_probes(&client, 1);
	loop_turn();
	assert_true(conn->paused);
	drain(conn, 1);
	assert_true(conn->paused);
	drain(conn, 1);
	assert_false(conn->paused);
	leave(&client);
}

CASE(unread_answers_cut_off_at_the_mark)
{
	const uint64_t pause = loop_config.limits.output_pause;
	struct loop_client client;
	(void)enter(&client);
	loop_send_probes(&client, 1);
	loop_turn();
	assert_int_equal(loop_take(&client), 1);
	size_t answer = client.bytes;
	leave(&client);
	loop_config.limits.output_pause = loop_config.limits.output_close;
	for (int over = -1; over <= 1; over++) {
		size_t whole = around(loop_config.limits.output_close, over);
		(void)enter_unread(&client, whole - answer);
		loop_send_probes(&client, 1);
		loop_turn();
		assert_int_equal(loop_worker->n_conns, over > 0 ? 0 : 1);
		leave(&client);
	}
	loop_config.limits.output_pause = pause;
}

/* The probes in front of a scan are answered first, which may end the connection. */
CASE(nothing_is_begun_for_one_that_its_probes_cut_off)
{
	const uint64_t pause = loop_config.limits.output_pause;
	const struct chi_scan_request scan = {.spec = {.chi2_max = CHI_CHI2_MAX}};
	const struct chi_request request = {
		.id = 2, .op = CHI_OP_SCAN, .store = {"large", 5}, .window = 1, .body = &scan};
	struct loop_client client;
	struct chi_buffer out;
	loop_config.limits.output_pause = loop_config.limits.output_close;
	(void)enter_unread(&client, around(loop_config.limits.output_close, 0));
	chi_buffer_init(&out, 4096);
	loop_pack_probe(&out, 1);
	loop_pack(&out, &request);
	loop_send(&client, &out);
	loop_turn();
	assert_int_equal(loop_worker->n_conns, 0);
	leave(&client);
	loop_config.limits.output_pause = pause;
}

CASE(buffers_are_full_above_the_mark)
{
	size_t before = atomic_load(&loop_server->buffered);
	for (int over = -1; over <= 1; over++) {
		atomic_store(&loop_server->buffered, around(loop_config.limits.buffer_bytes, over));
		assert_int_equal(chi_server_is_full(loop_server), over > 0);
	}
	atomic_store(&loop_server->buffered, before);
}

/* By its length, which is known when its first bytes have come. */
CASE(large_request_must_fit_the_buffers)
{
	static uint8_t bytes[100] = {0};
	const size_t body = 500000;
	/* Its number, and an unknown field and that takes the rest. */
	static const uint8_t start[] = {0x08, 5, 0xc2, 0x3e};
	size_t head = chi_frame_head(body, bytes);
	memcpy(bytes + head, start, sizeof(start));
	(void)chi_frame_head(body - sizeof(start) - 3, bytes + head + sizeof(start));
	for (int over = -1; over <= 1; over++) {
		struct loop_client client;
		const struct chi_conn *conn = enter(&client);
		size_t others = around(loop_config.limits.buffer_bytes, over) - head - body;
		assert_int_equal(conn->accounted, 0);
		atomic_fetch_add(&loop_server->buffered, others);
		assert_int_equal(atomic_load(&loop_server->buffered), others);
		assert_int_equal(__real_send(client.fd, bytes, sizeof(bytes), 0), sizeof(bytes));
		loop_turn();
		assert_int_equal(conn->skip > 0, over > 0);
		atomic_fetch_sub(&loop_server->buffered, others);
		leave(&client);
	}
}

CASE(request_must_fit_its_budget)
{
	struct chi_arena *arena = &loop_worker->requests;
	struct loop_client client;
	(void)enter(&client);
	assert_int_equal(arena->budget, 8 << 20);
	size_t used = 0;
	for (int round = 0; round < 3; round++) {
		struct chi_buffer out;
		struct chi_request request = {.id = 1, .op = CHI_OP_INFO};
		const chi_counter *answers = loop_worker->tally.answers[CHI_OP_INFO];
		uint64_t before = chi_counter_value(&answers[0]);
		/* First to learn what it takes. */
		arena->budget = round == 0 ? CHI_DECODE_BUDGET : used - (round - 1);
		request.store = (struct chi_text){"large", strlen("large")};
		chi_buffer_init(&out, 4096);
		loop_pack(&out, &request);
		loop_send(&client, &out);
		loop_turn();
		assert_int_equal(loop_take(&client), round + 1);
		assert_int_equal(chi_counter_value(&answers[0]) - before, round < 2 ? 1 : 0);
		used = round == 0 ? arena->used : used;
	}
	arena->budget = CHI_DECODE_BUDGET;
	leave(&client);
}

/* ---- Numbers ----------------------------------------------------------------------------- */

CASE(turn_serves_so_many_requests)
{
	struct loop_client client;
	struct chi_buffer out;
	const struct chi_conn *conn = enter(&client);
	size_t rest = 0;
	chi_buffer_init(&out, 1 << 20);
	for (uint64_t id = 1; id <= CHI_FRAMES_PER_WAKEUP + 1; id++) {
		size_t before = out.len;
		loop_pack_probe(&out, id);
		rest = out.len - before;
	}
	size_t all = out.len;
	loop_send(&client, &out);
	for (unsigned i = 0; conn->in.len == 0 || conn->in.len == all; i++) {
		assert_in_range(i, 0, 10);
		loop_turn();
	}
	assert_int_equal(conn->in.len, rest);
	leave(&client);
}

CASE(answer_of_a_scan_has_so_many_rows)
{
	for (int over = -1; over <= 1; over++) {
		struct loop_client client;
		(void)enter(&client);
		send_scan(&client, (struct chi_filter){0}, around(CHI_SCAN_ROWS_MAX, over),
			  CHI_WINDOW_MAX);
		for (unsigned i = 0; i < 5 || !TAILQ_EMPTY(&loop_worker->runs); i++) {
			assert_in_range(i, 0, 100);
			loop_turn();
			(void)loop_take(&client);
		}
		assert_int_equal(client.answers, over > 0 ? 2 : 1);
		leave(&client);
	}
}

CASE(page_is_full_at_its_bounds)
{
	struct chi_page page;
	chi_page_init(&page, sizeof(*page.rows), CHI_SCAN_ROWS_MAX);
	for (int over = -1; over <= 1; over++) {
		page.bytes = 0;
		page.n = around(CHI_SCAN_ROWS_MAX, over);
		assert_int_equal(chi_page_full(&page), over >= 0);
		page.n = 1;
		page.bytes = around(CHI_PAGE_BYTES, over);
		assert_int_equal(chi_page_full(&page), over >= 0);
	}
	chi_page_deinit(&page);
}

/* The record taken last may be as large as any, and the answer still has no more than it may. */
CASE(last_record_fits_the_answer)
{
	static struct chi_move_stat moves[CHI_MOVES_MAX];
	static struct chi_ply_stat plies[CHI_PLY_MAX + 1];
	static struct chi_eval evals[CHI_EVALS_MAX];
	static chi_move line[CHI_LINE_MAX];
	static char note[CHI_NOTE_MAX];
	const struct chi_counts most = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	memset(line, 0xff, sizeof(line));
	for (size_t i = 0; i < CHI_COUNT(moves); i++) {
		moves[i] = (struct chi_move_stat){0x7fff, most};
	}
	for (size_t i = 0; i < CHI_COUNT(plies); i++) {
		plies[i] = (struct chi_ply_stat){(uint16_t)i, UINT64_MAX};
	}
	for (size_t i = 0; i < CHI_COUNT(evals); i++) {
		evals[i] = (struct chi_eval){.engine = note,
					     .engine_len = CHI_ENGINE_MAX,
					     .score = -CHI_SCORE_MAX,
					     .depth = UINT16_MAX,
					     .nodes = UINT64_MAX,
					     .pv = line,
					     .n_pv = CHI_PV_MAX};
	}
	struct chi_entry entry = {.found = true, .key.len = CHI_KEY_MAX};
	entry.record = (struct chi_record){.chi2 = CHI_CHI2_MAX,
					   .counts = most,
					   .moves = moves,
					   .n_moves = CHI_COUNT(moves),
					   .plies = plies,
					   .n_plies = CHI_COUNT(plies),
					   .evals = evals,
					   .n_evals = CHI_COUNT(evals),
					   .line = line,
					   .n_line = CHI_COUNT(line),
					   .note = note,
					   .n_note = CHI_COUNT(note)};
	/* Before it there was room for a byte. */
	assert_in_range(CHI_PAGE_BYTES - 1 + chi_entry_size(&entry), CHI_PAGE_BYTES,
			CHI_SCAN_BYTES_MAX);
}

/* Not TAILQ_LAST, which breaks C's aliasing rules. */
static struct chi_conn *newest(void)
{
	struct chi_conn *last = NULL;
	struct chi_conn *each = NULL;
	TAILQ_FOREACH(each, &loop_worker->conns, all_link)
	{
		last = each;
	}
	return last;
}

/* Each worker has its share, rounded up; the oldest goes for one more. */
CASE(oldest_handshake_goes_for_one_more)
{
	const uint64_t threads = loop_config.threads;
	const uint64_t handshakes = loop_config.limits.handshakes;
	loop_config.limits.handshakes = HANDSHAKES;
	for (uint64_t of = 1; of <= 3; of++) {
		const size_t share = of == 1 ? HANDSHAKES : 2;
		struct loop_client clients[HANDSHAKES + 1];
		struct chi_conn *first = NULL;
		loop_config.threads = of;
		for (size_t i = 0; i <= share; i++) {
			loop_enter(&clients[i]);
			struct chi_conn *conn = newest();
			first = i == 0 ? conn : first;
			chi_worker_add_unauthenticated(loop_worker, conn);
			assert_int_equal(first->state, i < share ? CHI_CONN_OPEN : CHI_CONN_DEAD);
			assert_int_equal(loop_worker->n_unauthenticated, i < share ? i + 1 : share);
		}
		chi_conn_reap(loop_worker);
		for (size_t i = 0; i <= share; i++) {
			loop_leave(&clients[i]);
		}
		loop_all_left();
	}
	loop_config.threads = threads;
	loop_config.limits.handshakes = handshakes;
}

CASES_MAIN(loop_init, loop_deinit)
