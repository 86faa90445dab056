/* SPDX-License-Identifier: MIT */
/*
 * Pipelines get over connections that break: cut after any number of bytes, with the daemon killed
 * between doing and answering, and with another store in the place of theirs. Whatever is added is
 * added once, and answers come in the order queued. The controls add again by hand, and must count
 * too much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "tests/base/seed.h"
#include "tests/client/relay.h"
#include "tests/client/server.h"
#include "tests/client/world.h"

#define INCREMENTS 1000

static void add(struct chi_client *client, enum chi_durability durability)
{
	struct chi_put put = {.key = world_key(0), .parts = CHI_PUT_ADD, .record.counts.white = 1};
	world_ok(client, chi_pipe_put(client, &put, 1, durability));
}

/* The next answer, which must be that to an addition. */
static void take_added(struct chi_client *client)
{
	struct chi_answer answer;
	assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
	world_ok(client, answer.status);
	assert_int_equal(answer.put.added + answer.put.updated, 1);
}

/* An addition, a probe of what is not stored, another addition. */
static uint64_t three(struct chi_client *client)
{
	struct chi_key keys[2] = {world_key(5), world_key(6)};
	struct chi_answer answer;
	add(client, CHI_SYNC);
	world_ok(client, chi_pipe_probe(client, keys, 2));
	add(client, CHI_SYNC);
	take_added(client);
	assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
	world_ok(client, answer.status);
	assert_int_equal(answer.n_rows, 2);
	assert_memory_equal(&answer.rows[1].key, &keys[1], sizeof(keys[1]));
	assert_false(answer.rows[0].found);
	take_added(client);
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	return 2;
}

/* Cut anywhere in the requests and in their answers, until nothing is left to cut. */
static void cut_anywhere(void **state)
{
	struct seed seed = seed_start("pipe repeat");
	const long step = relay_step();
	const struct world *world = *state;
	struct chi_client *client = relay_open(0);
	relay.grace_ms = 1;
	for (int way = TO_SERVER; way <= TO_CLIENT; way++) {
		long first = (long)seed_below(&seed, (size_t)step);
		assert_true(relay_cut_all(world, client, (enum relay_way)way, first, step, three) >
			    30);
	}
	chi_close(client);
}

/* Several connections in a row, also within the handshake. */
static void cut_again_and_again(void **state)
{
	const struct world *world = *state;
	struct chi_client *client = relay_open(0);
	uint64_t added = 0;
	const long step = relay_step();
	for (long bytes = 0; bytes < 400; bytes += 12 * step) {
		relay_cut(added % 4 == 0 ? TO_SERVER : TO_CLIENT, bytes, 3);
		three(client);
		added += 2;
		(void)relay_was_cut();
		assert_int_equal(world_games(world), added);
	}
	chi_close(client);
}

/* The control: who repeats without marks counts twice. */
static void without_marks(void **state)
{
	const struct world *world = *state;
	struct chi_client *client = relay_open(CHI_NO_REPEAT);
	struct chi_answer answer;
	for (int i = 0; i < 8; i++) {
		add(client, CHI_SYNC);
	}
	relay_cut(TO_CLIENT, 0, 1);
	world_refused(client, chi_pipe_next(client, &answer), -CHI_ECONNECT, "may or may not");
	assert_true(relay_was_cut());
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	/* What was on the way is done by the time this is. */
	for (int i = 0; i < 8; i++) {
		add(client, CHI_SYNC);
	}
	for (int i = 0; i < 8; i++) {
		take_added(client);
	}
	assert_int_equal(world_games(world), 16);
	chi_close(client);
}

static void kill_daemon(void *context)
{
	world_kill_daemon(context);
	world_start_daemon(context);
}

/* kill -9 when it has written and before it is heard, many times. */
static void killed_before_the_answer(void **state)
{
	struct world *world = *state;
	struct chi_client *client = relay_open(0);
	unsigned queued = 0;
	uint64_t added = 0;
	uint64_t updated = 0;
	relay.on_cut = kill_daemon;
	relay.context = world;
	/* Hello, and some of the answers. */
	const long step = relay_step();
	relay_cut(TO_CLIENT, 500, step == 1 ? 16 : (int)(32 / step));
	for (unsigned taken = 0; taken < INCREMENTS; taken++) {
		struct chi_answer answer;
		for (; queued < INCREMENTS && queued - taken < 64; queued++) {
			add(client, CHI_SYNC);
		}
		assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
		world_ok(client, answer.status);
		added += answer.put.added;
		updated += answer.put.updated;
	}
	assert_true(relay_was_cut());
	assert_int_equal(added, 1);
	assert_int_equal(updated, INCREMENTS - 1);
	assert_int_equal(world_games(world), INCREMENTS);
	chi_close(client);
}

/* What was answered before it was durable nobody vouches for, once; the rest goes on. */
static void unsynced(void **state)
{
	const struct world *world = *state;
	struct chi_client *client = relay_open(0);
	struct chi_answer answer;
	for (int i = 0; i < 10; i++) {
		add(client, CHI_ASYNC);
	}
	/* Two answers. */
	relay_cut(TO_CLIENT, 22, 1);
	for (int i = 0; i < 10; i++) {
		take_added(client);
	}
	assert_true(relay_was_cut());
	world_refused(client, chi_flush(client), -CHI_ECONNECT, "2 written records");
	world_ok(client, chi_flush(client));
	assert_int_equal(world_games(world), 10);
	/* A synced one behind them would vouch for them. */
	add(client, CHI_ASYNC);
	add(client, CHI_ASYNC);
	add(client, CHI_SYNC);
	add(client, CHI_SYNC);
	relay_cut(TO_CLIENT, 22, 1);
	take_added(client);
	take_added(client);
	assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
	world_refused(client, answer.status, -CHI_ECONNECT, "and so may this write");
	take_added(client);
	assert_true(relay_was_cut());
	world_ok(client, chi_flush(client));
	chi_close(client);
}

/* Another store, that holds what was written to the first but no memory of it. */
static void swap_store(void *context)
{
	struct world *world = context;
	char old[100];
	struct chi_options options = {.writable = true};
	struct chi_put put = {.key = world_key(0), .parts = CHI_PUT_ADD, .record.counts.white = 3};
	struct chi_client *client = NULL;
	struct chi_fault fault;
	world_kill_daemon(world);
	(void)snprintf(old, sizeof(old), "%s.old", world->store);
	assert_int_equal(rename(world->store, old), 0);
	assert_int_equal(chi_create(world->store, CHI_STATISTIC_CONTROL, &fault), CHI_OK);
	assert_int_equal(chi_open(world->store, &options, &client, &fault), CHI_OK);
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	chi_close(client);
	world_start_daemon(world);
}

static void into_another_store(void **state)
{
	struct world *world = *state;
	struct chi_client *client = relay_open(0);
	struct chi_key key = world_key(0);
	struct chi_answer answer;
	relay.on_cut = swap_store;
	relay.context = world;
	add(client, CHI_SYNC);
	world_ok(client, chi_pipe_probe(client, &key, 1));
	add(client, CHI_SYNC);
	relay_cut(TO_CLIENT, 0, 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
		if (i == 1) {
			world_ok(client, answer.status);
			assert_int_equal(answer.rows[0].counts.white, 3);
		} else {
			world_refused(client, answer.status, -CHI_EFORGOTTEN, "another store");
			assert_non_null(strstr(chi_error(client), "may or may not"));
		}
	}
	assert_true(relay_was_cut());
	assert_int_equal(world_games(world), 3);
	/* What is written now is for this one. */
	relay.on_cut = NULL;
	three(client);
	assert_int_equal(world_games(world), 5);
	chi_close(client);
}

/* The same of a single write. */
static void one_into_another_store(void **state)
{
	struct world *world = *state;
	struct chi_put put = {.key = world_key(0), .parts = CHI_PUT_ADD, .record.counts.white = 1};
	struct chi_client *client = relay_open(0);
	relay.on_cut = swap_store;
	relay.context = world;
	relay_cut(TO_CLIENT, 0, 1);
	int status = chi_put(client, &put, 1, CHI_SYNC, NULL);
	world_refused(client, status, -CHI_EFORGOTTEN, "another store");
	assert_non_null(strstr(chi_error(client), "may or may not"));
	assert_true(relay_was_cut());
	assert_int_equal(world_games(world), 3);
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	assert_int_equal(world_games(world), 4);
	chi_close(client);
}

/* ---- What only a server that misbehaves shows ---------------------------------------------- */

static void answer_put(struct conn *conn, uint64_t id, int status)
{
	struct chi_response put = {.id = id, .status = status, .last = true, .op = CHI_OP_PUT};
	put.u.put.added = status == CHI_OK;
	server_answer(conn, &put);
}

static struct chi_client *open_scripted(struct server *server, server_script *script,
					uint32_t repeat_ms)
{
	struct chi_options options = {.call_ms = LONG_MS, .repeat_ms = repeat_ms};
	struct chi_client *client = NULL;
	struct chi_fault fault;
	server_start(server, script);
	if (chi_open(server->address, &options, &client, &fault) != CHI_OK) {
		fail_msg("%s", fault.text);
	}
	return client;
}

/* Has forgotten whoever comes first, and tells a newcomer what he needs. */
static void forget_the_first(struct conn *conn)
{
	struct chi_request request;
	static uint8_t first[CHI_IDEMPOTENCY_CLIENT];
	bool known = false;
	conn->remembers = 64;
	if (!server_greet(conn)) {
		return;
	}
	while (server_next(conn, &request)) {
		if (request.op == CHI_OP_INFO) {
			struct chi_response info = {
				.id = request.id, .last = true, .op = CHI_OP_INFO};
			info.u.info.sequence = 77;
			info.u.info.statistic = CHI_STATISTIC_EXTERNAL;
			server_answer(conn, &info);
			continue;
		}
		if (!known) {
			memcpy(first, request.idempotency_key.client, sizeof(first));
			known = true;
		}
		bool gone = memcmp(first, request.idempotency_key.client, sizeof(first)) == 0;
		/* Numbers of the identity that was given up are none of the new one's. */
		bool right = gone || (request.idempotency_key.since == 77 &&
				      request.idempotency_key.unanswered == 1);
		answer_put(conn, request.id,
			   !right ? -CHI_EINTERNAL
			   : gone ? -CHI_EFORGOTTEN
				  : CHI_OK);
	}
}

static void forgotten_at_first(void **state)
{
	(void)state;
	struct server server;
	struct chi_client *client = open_scripted(&server, forget_the_first, 0);
	for (int i = 0; i < 3; i++) {
		add(client, CHI_SYNC);
	}
	for (int i = 0; i < 3; i++) {
		take_added(client);
	}
	assert_int_equal(atomic_load(&server.connections), 1);
	chi_close(client);
	server_stop(&server);
}

#define SHUFFLED   500
#define ON_THE_WAY 16 /* what a scripted server takes */

/* The writes of a pipeline by their numbers, which begin with 1. */
static struct {
	struct seed seed;
	int status; /* what the server answers */
	uint64_t ids[SHUFFLED + 1];
	atomic_bool answered[SHUFFLED + 1];
} shuffled;

static uint64_t lowest_open(void)
{
	uint64_t number = 1;
	while (number <= SHUFFLED && atomic_load(&shuffled.answered[number])) {
		number++;
	}
	return number;
}

/* Some of those up to `last`, and behind them the lowest, which the client waits for. */
static void answer_some(struct conn *conn, uint64_t last)
{
	uint64_t lowest = lowest_open();
	for (uint64_t n = last; n >= lowest; n--) {
		if (!atomic_load(&shuffled.answered[n]) &&
		    (n == lowest || seed_below(&shuffled.seed, 4) == 0)) {
			atomic_store(&shuffled.answered[n], true);
			answer_put(conn, shuffled.ids[n], shuffled.status);
		}
	}
}

static void answer_in_any_order(struct conn *conn)
{
	struct chi_request request;
	conn->remembers = 64;
	if (!server_greet(conn)) {
		return;
	}
	for (uint64_t number = 1; number <= SHUFFLED; number++) {
		if (!server_next(conn, &request)) {
			return;
		}
		uint64_t lowest = lowest_open();
		if (request.idempotency_key.sequence != number ||
		    request.idempotency_key.unanswered != lowest) {
			shuffled.status = -CHI_EINTERNAL;
		}
		shuffled.ids[number] = request.id;
		if (number + 1 - lowest == ON_THE_WAY) {
			answer_some(conn, number);
		}
	}
	while (lowest_open() <= SHUFFLED) {
		answer_some(conn, SHUFFLED);
	}
	server_wait_end(conn);
}

/* A server may forget what is below the number that a mark says, and nothing else. */
static void tells_the_lowest_unanswered(void **state)
{
	(void)state;
	struct server server;
	memset(&shuffled, 0, sizeof(shuffled));
	shuffled.seed = seed_start("lowest unanswered");
	struct chi_client *client = open_scripted(&server, answer_in_any_order, 0);
	uint64_t queued = 0;
	for (uint64_t taken = 0; taken < SHUFFLED; taken++) {
		/* Before the client waits it asks for all that it may. */
		bool waits = !atomic_load(&shuffled.answered[taken + 1]);
		for (; waits && queued < SHUFFLED && queued - taken < ON_THE_WAY; queued++) {
			add(client, CHI_SYNC);
		}
		take_added(client);
	}
	chi_close(client);
	server_stop(&server);
}

/* Connection 0: takes two and closes. 1: has forgotten the first of them, and has no room for the
 * second for now. */
static void forget_after_a_loss(struct conn *conn)
{
	struct chi_request request;
	unsigned refusals = 0;
	conn->remembers = 64;
	if (!server_greet(conn)) {
		return;
	}
	for (unsigned n = 0; server_next(conn, &request); n++) {
		if (conn->number == 0 && n == 1) {
			return;
		}
		if (conn->number == 0) {
			continue;
		}
		if (request.idempotency_key.sequence == 1) {
			answer_put(conn, request.id, -CHI_EFORGOTTEN);
		} else {
			answer_put(conn, request.id, refusals++ < 2 ? -CHI_EBUSY : CHI_OK);
		}
	}
}

static void forgotten_after_a_loss(void **state)
{
	(void)state;
	struct server server;
	struct chi_answer answer;
	struct chi_client *client = open_scripted(&server, forget_after_a_loss, 0);
	add(client, CHI_SYNC);
	add(client, CHI_SYNC);
	assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
	world_refused(client, answer.status, -CHI_EFORGOTTEN, "may or may not have happened then");
	take_added(client);
	assert_int_equal(atomic_load(&server.connections), 2);
	chi_close(client);
	server_stop(&server);
}

/* Knows no marks; connection 0 closes behind two requests. */
static void know_no_marks(struct conn *conn)
{
	struct chi_request request;
	if (!server_greet(conn)) {
		return;
	}
	for (unsigned n = 0; server_next(conn, &request); n++) {
		if (conn->number == 0 && n == 1) {
			return;
		}
		if (conn->number > 0 && request.op == CHI_OP_PROBE) {
			server_answer_probe(conn, request.id, request.u.positions.keys,
					    request.u.positions.n);
		} else if (conn->number > 0) {
			answer_put(conn, request.id, CHI_OK);
		}
	}
}

static void writes_without_marks(void **state)
{
	(void)state;
	struct server server;
	struct chi_key key = world_key(0);
	struct chi_answer answer;
	struct chi_client *client = open_scripted(&server, know_no_marks, 0);
	add(client, CHI_SYNC);
	world_ok(client, chi_pipe_probe(client, &key, 1));
	assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
	world_refused(client, answer.status, -CHI_ECONNECT, "does not know a repeated write");
	assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
	world_ok(client, answer.status);
	assert_true(answer.rows[0].found);
	chi_close(client);
	server_stop(&server);
}

/* Reads a request and closes, each time. */
static void swallow(struct conn *conn)
{
	struct chi_request request;
	conn->remembers = 64;
	if (server_greet(conn)) {
		(void)server_next(conn, &request);
	}
}

/* It ends, and says what was tried. */
static void given_up(void **state)
{
	(void)state;
	struct server server;
	struct chi_answer answer;
	struct chi_client *client = open_scripted(&server, swallow, 300);
	add(client, CHI_SYNC);
	world_refused(client, chi_pipe_next(client, &answer), -CHI_ECONNECT, "times without");
	assert_non_null(strstr(chi_error(client), "may or may not"));
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	chi_close(client);
	server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cut_anywhere, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(cut_again_and_again, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(without_marks, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(killed_before_the_answer, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(unsynced, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(into_another_store, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(one_into_another_store, relay_make, relay_drop),
		cmocka_unit_test(forgotten_at_first),
		cmocka_unit_test(tells_the_lowest_unanswered),
		cmocka_unit_test(forgotten_after_a_loss),
		cmocka_unit_test(writes_without_marks),
		cmocka_unit_test(given_up),
	};
	if (!world_possible(WORLD_UNIX)) {
		printf("1..0 # SKIP CHISTORED does not name the daemon\n");
		return 0;
	}
	return cmocka_run_group_tests_name("pipe repeat", tests, NULL, NULL);
}
