/* SPDX-License-Identifier: MIT */
/*
 * Pipelines whose connection breaks: cut after any number of bytes, with the daemon killed between
 * doing and answering, with a server that stops reading. The failure has the number of the first
 * request without an answer. What was answered before is stored; from that number on the caller
 * may begin again on the same client.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>

#include "base/attr.h"
#include "tests/base/seed.h"
#include "tests/client/relay.h"
#include "tests/client/server.h"
#include "tests/client/world.h"

static void add(struct chi_client *client, unsigned position, enum chi_durability durability)
{
	struct chi_put put = {
		.key = world_key(position), .parts = CHI_PUT_ADD, .record.counts.white = 1};
	world_ok(client, chi_pipe_put(client, &put, 1, durability));
}

/* The next answer, which must be that to a put. */
static void take_put(struct chi_client *client)
{
	struct chi_answer answer;
	world_ok(client, chi_pipe_next(client, &answer));
	world_ok(client, answer.status);
	assert_int_equal(answer.put.added + answer.put.updated, 1);
}

/* ---- Cut connections --------------------------------------------------------------------- */

#define ADDED	   3
#define ROUNDS_MAX 1000

/* Additions to a position, with a probe after the first. The first request has the number *number.
 * Returns how many additions were answered. */
static unsigned pipeline(struct chi_client *client, unsigned position, uint64_t *number)
{
	struct chi_key keys[2] = {world_key(ROUNDS_MAX), world_key(ROUNDS_MAX + 1)};
	struct chi_answer answer;
	unsigned answered = 0;
	int status = CHI_OK;
	for (int i = 0; i < ADDED; i++) {
		add(client, position, CHI_SYNC);
		if (i == 0) {
			world_ok(client, chi_pipe_probe(client, keys, 2));
		}
	}
	for (uint64_t i = *number; (status = chi_pipe_next(client, &answer)) == CHI_OK; i++) {
		assert_int_equal(answer.number, i);
		world_ok(client, answer.status);
		answered += answer.n_rows == 0;
		assert_true(answer.n_rows == 0 || !answer.rows[0].found);
	}
	if (status < 0) {
		char said[64];
		(void)snprintf(said, sizeof(said), "request %llu ",
			       (unsigned long long)answer.number);
		world_refused(client, status, -CHI_ECONNECT, said);
		assert_int_equal(answer.number, *number + answered + (answered > 0));
		assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	}
	*number += ADDED + 1;
	return answered;
}

/* Cut anywhere in the requests and in their answers, until nothing is left to cut. What was not
 * answered the server may do after the failure, so the store is looked at in the end. */
static void cut_anywhere(void **state)
{
	struct seed seed = seed_start("pipe lost");
	const long step = relay_step();
	const struct world *world = *state;
	struct chi_client *client = relay_open(0);
	static unsigned answered[ROUNDS_MAX];
	unsigned rounds = 0;
	uint64_t number = 0;
	for (int way = TO_SERVER; way <= TO_CLIENT; way++) {
		bool cut = true;
		for (long bytes = (long)seed_below(&seed, (size_t)step); cut; bytes += step) {
			assert_true(rounds < ROUNDS_MAX);
			relay_cut((enum relay_way)way, bytes, 1);
			answered[rounds] = pipeline(client, rounds, &number);
			cut = relay_was_cut();
			assert_true(cut || answered[rounds] == ADDED);
			rounds++;
		}
	}
	assert_true(rounds > 60 / (unsigned)step);
	for (unsigned i = 0; i < rounds; i++) {
		struct chi_key key = world_key(i);
		struct chi_row row;
		world_ok(world->client, chi_probe(world->client, &key, 1, &row));
		assert_in_range(row.counts.white, answered[i], ADDED);
	}
	chi_close(client);
}

#define RECORDS 1000

static void kill_daemon(void *context)
{
	world_kill_daemon(context);
	world_start_daemon(context);
}

/* Whole records may be put twice: a caller that begins again at the number it was told has stored
 * them all in the end, however often the daemon is killed. */
static void begins_again_where_told(void **state)
{
	struct world *world = *state;
	struct chi_client *client = relay_open(0);
	_cleanup_(chi_freep) struct chi_put *puts = world_puts(0, RECORDS);
	struct chi_answer answer;
	const long step = relay_step();
	/* The first request on the way is of this index, and has this number. */
	size_t first = 0;
	size_t queued = 0;
	uint64_t number = 0;
	unsigned failures = 0;
	for (size_t i = 0; i < RECORDS; i++) {
		puts[i].parts = CHI_PUT_COUNTS;
		puts[i].record = (struct chi_record){.counts.white = i};
	}
	relay.on_cut = kill_daemon;
	relay.context = world;
	/* Hello, and some of the answers. */
	relay_cut(TO_CLIENT, 500, step == 1 ? 16 : (int)(32 / step));
	while (first < RECORDS) {
		for (; queued < 64 && first + queued < RECORDS; queued++) {
			world_ok(client, chi_pipe_put(client, puts + first + queued, 1, CHI_SYNC));
		}
		int status = chi_pipe_next(client, &answer);
		assert_int_equal(answer.number, number);
		if (status == CHI_OK) {
			world_ok(client, answer.status);
			first++;
			queued--;
			number++;
		} else {
			number += queued;
			queued = 0;
			failures++;
		}
	}
	assert_true(relay_was_cut());
	assert_true(failures > 0);
	for (size_t i = 0; i < RECORDS; i++) {
		struct chi_record record;
		world_ok(client, chi_get(client, &puts[i].key, &record));
		assert_int_equal(record.counts.white, i);
	}
	chi_close(client);
}

/* For what was answered before it was durable no one can vouch: the next flush or synced write says
 * so, once. */
static void unsynced(void **state)
{
	struct chi_client *client = relay_open(0);
	struct chi_answer answer;
	(void)state;
	for (int i = 0; i < 10; i++) {
		add(client, 0, CHI_ASYNC);
	}
	/* Two answers. */
	relay_cut(TO_CLIENT, 22, 1);
	take_put(client);
	take_put(client);
	assert_int_equal(chi_pipe_next(client, &answer), -CHI_ECONNECT);
	assert_int_equal(answer.number, 2);
	assert_true(relay_was_cut());
	world_refused(client, chi_flush(client), -CHI_ECONNECT, "2 written records");
	world_ok(client, chi_flush(client));
	chi_close(client);
}

/* ---- What only a server that misbehaves shows ---------------------------------------------- */

/* Greets, and takes nothing more until the client closes. */
static void stop_reading(struct conn *conn)
{
	struct pollfd end = {.fd = conn->fd};
	if (server_greet(conn)) {
		(void)poll(&end, 1, -1);
	}
}

/* The request that does not go out is refused as it is queued, and is none of the pipeline's; those
 * before it fail with the next answer, and are dropped. */
static void refused_while_queueing(void **state)
{
	(void)state;
	struct server server;
	struct chi_answer answer;
	const size_t len = 60000;
	_cleanup_(chi_freep) char *note = malloc(len);
	struct chi_put put = {.key = world_key(0), .parts = CHI_PUT_NOTE};
	server_start(&server, stop_reading);
	struct chi_client *client = server_open(&server, 1000);
	assert_non_null(note);
	memset(note, 'n', len);
	put.record.note = note;
	put.record.n_note = len;
	int queued = 0;
	int status = CHI_OK;
	while ((status = chi_pipe_put(client, &put, 1, CHI_SYNC)) == CHI_OK) {
		queued++;
	}
	world_refused(client, status, -CHI_ETIMEOUT, "read nothing");
	assert_in_range(queued, 2, 16);
	world_refused(client, chi_pipe_put(client, &put, 1, CHI_SYNC), -CHI_ECONNECT,
		      "take the answers first");
	world_refused(client, chi_pipe_next(client, &answer), -CHI_ECONNECT,
		      "request 0 and later ones may or may not have happened");
	assert_int_equal(answer.number, 0);
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	/* The numbers go on, and so does the client. */
	world_ok(client, chi_pipe_probe(client, &put.key, 1));
	assert_int_equal(chi_pipe_next(client, &answer), -CHI_ETIMEOUT);
	assert_int_equal(answer.number, queued);
	chi_close(client);
	server_stop(&server);
}

/* Answers the second of three probes and closes. */
static void answer_the_second(struct conn *conn)
{
	struct chi_request request;
	if (!server_greet(conn)) {
		return;
	}
	for (int n = 0; n < 3 && server_next(conn, &request); n++) {
		if (n == 1) {
			server_answer_probe(conn, request.id, request.u.positions.keys,
					    request.u.positions.n);
		}
	}
}

/* The first without an answer counts, whatever came after it; and who only asks is in no doubt. */
static void answered_out_of_order(void **state)
{
	(void)state;
	struct server server;
	struct chi_answer answer;
	struct chi_key key = world_key(0);
	server_start(&server, answer_the_second);
	struct chi_client *client = server_open(&server, LONG_MS);
	for (int i = 0; i < 3; i++) {
		world_ok(client, chi_pipe_probe(client, &key, 1));
	}
	world_refused(client, chi_pipe_next(client, &answer), -CHI_ECONNECT,
		      "request 0 and later ones have no answer");
	assert_int_equal(answer.number, 0);
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	assert_int_equal(atomic_load(&server.connections), 1);
	chi_close(client);
	server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cut_anywhere, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(begins_again_where_told, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(unsynced, relay_make, relay_drop),
		cmocka_unit_test(refused_while_queueing),
		cmocka_unit_test(answered_out_of_order),
	};
	if (!world_possible(WORLD_UNIX)) {
		printf("1..0 # SKIP CHISTORED does not name the daemon\n");
		return 0;
	}
	return cmocka_run_group_tests_name("pipe lost", tests, NULL, NULL);
}
