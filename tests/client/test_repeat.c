/* SPDX-License-Identifier: MIT */
/*
 * Calls get over connections that break: a relay between client and daemon cuts them after any
 * number of bytes of either direction, and whatever is added is added once. The control adds again
 * by hand what was not answered, and must count too much.
 */
#include <stdio.h>
#include <string.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/base/cases.h"
#include "tests/base/seed.h"
#include "tests/client/relay.h"
#include "tests/client/server.h"
#include "tests/client/world.h"

static int add(struct chi_client *client)
{
	struct chi_put_entry put = {
		.key = world_key(0), .parts = CHI_PUT_ADD, .record.counts.white = 1};
	struct chi_put_result result = {0};
	int status = chi_put(client, &put, 1, CHI_SYNC, &result);
	if (status == CHI_OK) {
		assert_int_equal(result.added + result.updated, 1);
	}
	return status;
}

static uint64_t add_one(struct chi_client *client)
{
	world_ok(client, add(client));
	return 1;
}

/* Cut at every byte of the request and of its answer, until none is left to cut at. */
CASE(cut_at_every_byte, relay_make, relay_drop)
{
	const struct world *world = *state;
	struct chi_client *client = relay_open(0);
	for (int way = TO_SERVER; way <= TO_CLIENT; way++) {
		assert_true(relay_cut_all(world, client, (enum relay_way)way, 0, 1, add_one) > 10);
	}
	chi_close(client);
}

/* Several connections in a row, also within the handshake. */
CASE(cut_again_and_again, relay_make, relay_drop)
{
	const struct world *world = *state;
	struct chi_client *client = relay_open(0);
	struct seed seed = seed_start("cuts");
	uint64_t added = 0;
	size_t rounds = seed_rounds(40);
	for (; added < rounds; added++) {
		relay_cut(added % 2 == 0 ? TO_SERVER : TO_CLIENT, (long)seed_below(&seed, 200),
			  1 + (int)seed_below(&seed, 5));
		world_ok(client, add(client));
		(void)relay_was_cut();
		assert_int_equal(world_games(world), added + 1);
	}
	chi_close(client);
	print_message("# figures: %zu marked writes, cut up to 5 times in a row, each done once\n",
		      rounds);
}

/* The control: who repeats without a mark counts twice. */
CASE(without_a_mark, relay_make, relay_drop)
{
	const struct world *world = *state;
	struct chi_client *client = relay_open(CHI_NO_REPEAT);
	uint64_t added = 0;
	for (long bytes = 0; bytes < 8; bytes++) {
		relay_cut(TO_CLIENT, bytes, 1);
		int status = add(client);
		assert_true(relay_was_cut());
		world_refused(client, status, -CHI_ECONNECT, "may or may not");
		world_ok(client, add(client));
		added++;
	}
	assert_int_equal(world_games(world), 2 * added);
	chi_close(client);
}

/* What can be read is read all the same; a walk tells that it went on elsewhere. */
CASE(reads, relay_make, relay_drop)
{
	const struct world *world = *state;
	static struct chi_key keys[5000];
	static struct chi_row rows[5000];
	struct chi_client *client = relay_open(0);
	static struct chi_put_entry puts[3000];
	for (unsigned i = 0; i < 5000; i++) {
		keys[i] = world_key(i);
	}
	for (unsigned i = 0; i < 3000; i++) {
		puts[i].key = keys[i + 1];
	}
	world_ok(world->client, chi_put(world->client, puts, 3000, CHI_SYNC, NULL));
	for (long bytes = 0; bytes < 60000; bytes += 1 + bytes / 2) {
		struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					     .want = CHI_WANT_COUNTS};
		struct chi_record record;
		struct chi_rows *iter = NULL;
		const struct chi_row *row = NULL;
		uint64_t count = 0;
		unsigned n = 0;
		int status = CHI_OK;
		relay_cut(TO_CLIENT, bytes, 1);
		world_ok(client, chi_probe(client, keys, 5000, rows));
		assert_true(!rows[0].found && rows[1].found && rows[3000].found &&
			    !rows[3001].found);
		relay_cut(TO_CLIENT, bytes, 1);
		world_ok(client, chi_get(client, &keys[7], &record));
		relay_cut(TO_SERVER, bytes, 1);
		world_ok(client, chi_scan_count(client, &spec, &count, NULL));
		assert_int_equal(count, 3000);
		relay_cut(TO_CLIENT, bytes, 1);
		spec.limit = 2900;
		world_ok(client, chi_scan_open(client, &spec, &iter));
		while ((status = chi_scan_next(iter, &row, NULL)) == CHI_OK) {
			n++;
		}
		assert_int_equal(status, CHI_NONE);
		assert_int_equal(n, 2900);
		(void)relay_was_cut();
		chi_rows_close(iter);
	}
	chi_close(client);
}

/* Killed and started again in between, the daemon knows what it did. */
CASE(restarts, relay_make, relay_drop)
{
	struct world *world = *state;
	struct chi_client *client = relay_open(0);
	for (uint64_t added = 1; added <= 5; added++) {
		world_ok(client, add(client));
		world_stop_daemon(world);
		world_start_daemon(world);
		assert_int_equal(world_games(world), added);
	}
	chi_close(client);
}

struct adder {
	const struct world *world;
	atomic_uint added;
	atomic_bool stop;
	int status;
	struct chi_client *client;
};

static void *keep_adding(void *context)
{
	struct adder *adder = context;
	while (adder->status == CHI_OK && !atomic_load(&adder->stop)) {
		adder->status = add(adder->client);
		atomic_fetch_add(&adder->added, adder->status == CHI_OK);
	}
	return NULL;
}

/* kill -9 in the middle of it, many times: every call succeeds, and each was done once. */
CASE(killed, relay_make, relay_drop)
{
	struct world *world = *state;
	struct adder adders[3] = {{.world = world}, {.world = world}, {.world = world}};
	pthread_t threads[3];
	for (int i = 0; i < 3; i++) {
		adders[i].client = world_open(world);
		assert_int_equal(pthread_create(&threads[i], NULL, keep_adding, &adders[i]), 0);
	}
	size_t rounds = seed_rounds(20);
	for (size_t kills = 0; kills < rounds; kills++) {
		unsigned before = atomic_load(&adders[kills % 3].added);
		while (atomic_load(&adders[kills % 3].added) < before + 3) {
			(void)poll(NULL, 0, 1);
		}
		world_kill_daemon(world);
		world_start_daemon(world);
	}
	uint64_t added = 0;
	for (int i = 0; i < 3; i++) {
		atomic_store(&adders[i].stop, true);
		pthread_join(threads[i], NULL);
		world_ok(adders[i].client, adders[i].status);
		added += atomic_load(&adders[i].added);
		chi_close(adders[i].client);
	}
	assert_int_equal(world_games(world), added);
}

/* Another store, that holds what was written to the first but no memory of it. */
static void swap_store(void *context)
{
	struct world *world = context;
	char old[100];
	struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
	struct chi_put_entry put = {
		.key = world_key(0), .parts = CHI_PUT_ADD, .record.counts.white = 3};
	struct chi_client *client = NULL;
	struct chi_fault fault;
	world_kill_daemon(world);
	(void)snprintf(old, sizeof(old), "%s.old", world->store);
	assert_int_equal(rename(world->store, old), 0);
	assert_int_equal(
		chi_store_create(world->store, CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault),
		CHI_OK);
	assert_int_equal(chi_open(world->store, &options, &client, &fault), CHI_OK);
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	chi_close(client);
	world_start_daemon(world);
}

/* The write was for a store that is not there any more: it is not done in the new one. */
CASE(into_another_store, relay_make, relay_drop)
{
	struct world *world = *state;
	struct chi_put_entry put = {
		.key = world_key(0), .parts = CHI_PUT_ADD, .record.counts.white = 1};
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

/* Has forgotten the first client that writes, and tells a new one what it needs. */
static void forget_the_first(struct server_conn *conn)
{
	struct chi_request request;
	static uint8_t first[CHI_IDEMPOTENCY_CLIENT];
	bool known = false;
	if (!server_greet(conn)) {
		return;
	}
	const struct chi_info info = {.sequence = 77, .statistic = CHI_STATISTIC_EXTERNAL};
	while (server_next(conn, &request)) {
		struct chi_response answer = {.id = request.id, .last = true, .op = request.op};
		if (request.op == CHI_OP_INFO) {
			answer.body = &info;
			server_answer(conn, &answer);
			continue;
		}
		if (!known) {
			memcpy(first, request.idempotency_key.client, sizeof(first));
			known = true;
		}
		bool gone = memcmp(first, request.idempotency_key.client, sizeof(first)) == 0;
		/* Numbers of the identity that was given up are none of the new one's. */
		bool right = gone || (request.idempotency_key.since == 77 &&
				      request.idempotency_key.unanswered ==
					      request.idempotency_key.sequence);
		answer.status = !right ? -CHI_EINTERNAL : gone ? -CHI_EFORGOTTEN : CHI_OK;
		answer.body = &(const struct chi_put_result){.added = 1};
		server_answer(conn, &answer);
	}
}

/* What was refused as forgotten was not done: it goes out again under another identity. */
CASE(forgotten_at_first)
{
	struct server server;
	const struct chi_options options = {CHI_OPTIONS_INIT, .call_ms = LONG_MS};
	struct chi_client *client = NULL;
	server_start(&server, forget_the_first);
	assert_int_equal(chi_open(server.address, &options, &client, NULL), CHI_OK);
	world_ok(client, add(client));
	world_ok(client, add(client));
	assert_int_equal(atomic_load(&server.connections), 1);
	chi_close(client);
	server_stop(&server);
}

/* It ends, and says what was tried. */
CASE(given_up, relay_make, relay_drop)
{
	struct world *world = *state;
	struct chi_client *client = relay_open(0);
	/* A connection is cut before the answer to its write comes, each time. */
	relay_cut(TO_SERVER, 30, 1000);
	int status = add(client);
	(void)relay_was_cut();
	world_refused(client, status, -CHI_ECONNECT, "may or may not");
	chi_close(client);
	client = relay_open(300);
	world_stop_daemon(world);
	world_refused(client, add(client), -CHI_ECONNECT, "closed");
	chi_close(client);
	world_start_daemon(world);
	assert_int_equal(chi_ping(world->client), CHI_OK);
}

int main(void)
{
	if (!world_possible(WORLD_UNIX)) {
		printf("1..0 # SKIP CHISTORED does not name the daemon\n");
		return 0;
	}
	return cases_run(NULL, NULL);
}
