/* SPDX-License-Identifier: MIT */
/*
 * What keeps a client busy: open scans and pipelines, against a store in this process or behind a
 * daemon. Argument: file, unix or tcp; the last two need CHISTORED.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/attr.h"
#include "tests/client/world.h"

/* An open scan, or answers not taken, keep other calls off; closing the client ends both. */
static void busy_clients(void **state)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX};
	struct chi_iter *iter = NULL;
	struct chi_iter *second = NULL;
	struct chi_key key = world_key(0);
	struct chi_row row;
	world_fill(client, 0, 100);
	world_ok(client, chi_iter_open(client, &spec, &iter));
	world_refused(client, chi_ping(client), -CHI_EBUSY, "scan");
	world_refused(client, chi_probe(client, &key, 1, &row), -CHI_EBUSY, "scan");
	world_refused(client, chi_iter_open(client, &spec, &second), -CHI_EBUSY, "scan");
	world_refused(client, chi_pipe_probe(client, &key, 1), -CHI_EBUSY, "scan");
	chi_iter_close(iter);
	world_ok(client, chi_pipe_probe(client, &key, 1));
	world_refused(client, chi_ping(client), -CHI_EBUSY, "1 answers");
	world_refused(client, chi_iter_open(client, &spec, &second), -CHI_EBUSY, "1 answers");
	chi_close(client);
	world->client = world_open(world);
	world_ok(world->client, chi_iter_open(world->client, &spec, &iter));
	chi_close(world->client);
	world->client = NULL;
}

static void pipelines(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	_cleanup_(chi_freep) struct chi_put *puts = world_puts(0, 640);
	struct chi_answer answer;
	/* Each put is followed by a probe of what it stored and of what is not stored yet. */
	for (unsigned i = 0; i < 32; i++) {
		struct chi_key keys[2] = {puts[20 * i].key, world_key(100000 + i)};
		world_ok(client, chi_pipe_put(client, puts + 20 * i, 20,
					      i % 2 == 0 ? CHI_SYNC : CHI_ASYNC));
		world_ok(client, chi_pipe_probe(client, keys, 2));
	}
	world_refused(client, chi_pipe_probe(client, &puts[0].key, 1), -CHI_EBUSY, "unanswered");
	for (unsigned i = 0; i < 32; i++) {
		world_ok(client, chi_pipe_next(client, &answer));
		assert_int_equal(answer.status, CHI_OK);
		assert_int_equal(answer.put.added, 20);
		assert_null(answer.rows);
		world_ok(client, chi_pipe_next(client, &answer));
		assert_int_equal(answer.status, CHI_OK);
		assert_int_equal(answer.n_rows, 2);
		assert_memory_equal(&answer.rows[0].key, &puts[20 * i].key, sizeof(struct chi_key));
		assert_false(answer.rows[1].found);
	}
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	world_ok(client, chi_flush(client));
	/* A refused request is one among the answers. */
	puts[1].parts = CHI_PUT_ADD | CHI_PUT_COUNTS;
	world_ok(client, chi_pipe_probe(client, &puts[0].key, 1));
	world_ok(client, chi_pipe_put(client, puts, 2, CHI_SYNC));
	world_ok(client, chi_pipe_probe(client, &puts[639].key, 1));
	world_ok(client, chi_pipe_next(client, &answer));
	assert_true(answer.rows[0].found);
	assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
	world_refused(client, answer.status, -CHI_EINVAL, "entry 1: ");
	world_ok(client, chi_pipe_next(client, &answer));
	assert_true(answer.rows[0].found);
	/* Out of bounds: refused at once, nothing is queued. */
	_cleanup_(chi_freep) struct chi_key *keys = calloc(4097, sizeof(*keys));
	world_refused(client, chi_pipe_probe(client, keys, 4097), -CHI_ETOOBIG, "4097");
	world_refused(client, chi_pipe_probe(client, keys, 1), -CHI_EKEY, "entry 0");
	world_refused(client, chi_pipe_probe(client, keys, 0), -CHI_EINVAL, "1 to 4096");
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	world_ok(client, chi_ping(client));
}

/* Full pipelines of large probes: neither side may wait for the other for ever. */
static void heavy_pipeline(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	_cleanup_(chi_freep) struct chi_key *keys = calloc(4096, sizeof(*keys));
	struct chi_answer answer;
	for (unsigned i = 0; i < 4096; i++) {
		keys[i] = world_key(i);
	}
	world_fill(client, 0, 4096);
	for (unsigned i = 0; i < 64; i++) {
		world_ok(client, chi_pipe_probe(client, keys, 4096));
	}
	for (unsigned i = 0; i < 64; i++) {
		world_ok(client, chi_pipe_next(client, &answer));
		assert_int_equal(answer.n_rows, 4096);
		assert_int_equal(answer.rows[4095].counts.white, 4095);
	}
}

/* Nothing queued goes out by itself: what was never sent is never done. What was sent is done
 * although no one takes the answers. */
static void sent_when_told(void **state)
{
	struct world *world = *state;
	_cleanup_(chi_freep) struct chi_put *puts = world_puts(0, 4);
	struct chi_key keys[4];
	struct chi_row rows[4] = {{.found = false}};
	for (unsigned i = 0; i < 4; i++) {
		keys[i] = puts[i].key;
	}
	world_ok(world->client, chi_pipe_send(world->client));
	if (world->kind != WORLD_FILE && world->kind != WORLD_RADOS) {
		world_ok(world->client, chi_pipe_put(world->client, puts + 2, 2, CHI_SYNC));
		chi_close(world->client);
		world->client = world_open(world);
	}
	world_ok(world->client, chi_pipe_put(world->client, puts, 1, CHI_SYNC));
	world_ok(world->client, chi_pipe_put(world->client, puts + 1, 1, CHI_SYNC));
	world_ok(world->client, chi_pipe_send(world->client));
	world_ok(world->client, chi_pipe_send(world->client));
	struct chi_client *other = world_open(world);
	while (!rows[0].found || !rows[1].found) {
		world_ok(other, chi_probe(other, keys, 4, rows));
	}
	assert_false(rows[2].found || rows[3].found);
	chi_close(other);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(busy_clients, world_external, world_drop),
		cmocka_unit_test_setup_teardown(pipelines, world_external, world_drop),
		cmocka_unit_test_setup_teardown(heavy_pipeline, world_external, world_drop),
		cmocka_unit_test_setup_teardown(sent_when_told, world_external, world_drop),
	};
	if (!world_choose(argc, argv)) {
		return 0;
	}
	return cmocka_run_group_tests_name("pipes", tests, NULL, NULL);
}
