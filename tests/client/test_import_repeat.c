/* SPDX-License-Identifier: MIT */
/*
 * Imports whose connection breaks: the client asks over another what became of it, and what it says
 * is what the store holds: cut at every byte of the data and of the commit, with the daemon killed
 * before its answer is heard, and with another store in the place of the first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>

#include "tests/client/relay.h"
#include "tests/client/server.h"
#include "tests/client/world.h"

/* The n-th of 256 different games that White won. */
static void game_text(unsigned n, char out[32])
{
	(void)snprintf(out, 32, "1. %c%c %c%c 1-0\n", 'a' + n % 8, n / 8 % 2 == 0 ? '3' : '4',
		       'a' + n / 16 % 8, n / 128 % 2 == 0 ? '6' : '5');
}

static uint64_t games(const struct world *world)
{
	struct chi_client *client = world_open(world);
	struct chi_info info;
	world_ok(client, chi_get_info(client, &info));
	chi_close(client);
	return info.games.white;
}

/* Imports one game over the relay, cut from its first byte of data on; what was said must be true.
 * True if the cut has come. */
static bool import_one(const struct world *world, unsigned n, enum relay_way way, long bytes,
		       int *status)
{
	const struct chi_options options = {.call_ms = LONG_MS};
	const struct chi_games_options what = {.kind = CHI_GAMES_ADD};
	struct chi_games_result result;
	struct chi_games *import = NULL;
	struct chi_fault fault = {{0}};
	uint64_t before = games(world);
	char text[32];
	game_text(n, text);
	/* One that was cut off before may still be ending. */
	while ((*status = chi_games_open(relay.address, &options, 0, &what, &import, &fault)) ==
	       -CHI_EBUSY) {
		(void)poll(NULL, 0, 1);
	}
	if (*status != CHI_OK) {
		fail_msg("%s", fault.text);
	}
	relay_cut(way, bytes, 1);
	*status = chi_games_feed(import, text, strlen(text));
	if (*status == CHI_OK) {
		*status = chi_games_commit(import, &result);
	}
	bool cut = relay_was_cut();
	uint64_t stored = games(world) - before;
	if (*status == CHI_OK) {
		assert_int_equal(stored, 1);
		assert_int_equal(result.taken, 1);
		assert_int_equal(result.positions.added + result.positions.updated, 3);
	} else {
		if (strstr(chi_games_error(import), "nothing was stored") == NULL) {
			fail_msg("%s", chi_games_error(import));
		}
		assert_int_equal(*status, -CHI_ECONNECT);
		assert_int_equal(stored, 0);
	}
	chi_games_close(import);
	return cut;
}

static void cut_at_every_byte(void **state)
{
	const struct world *world = *state;
	unsigned n = 0;
	unsigned stored[2] = {0};
	for (int way = TO_SERVER; way <= TO_CLIENT; way++) {
		bool cut = true;
		long bytes = 0;
		for (; cut; bytes++) {
			int status = CHI_OK;
			cut = import_one(world, n++, (enum relay_way)way, bytes, &status);
			stored[way] += cut && status == CHI_OK;
		}
		assert_true(bytes > 10);
	}
	/* All was said, and only the answer lost. */
	assert_true(stored[TO_CLIENT] > 10);
}

static void kill_daemon(void *context)
{
	world_kill_daemon(context);
	world_start_daemon(context);
}

/* kill -9 when it has something to say, and before it is heard. */
static void killed_before_the_answer(void **state)
{
	struct world *world = *state;
	unsigned n = 0;
	relay.on_cut = kill_daemon;
	relay.context = world;
	for (long bytes = 0; bytes < 60; bytes += 6) {
		int status = CHI_OK;
		(void)import_one(world, n++, TO_CLIENT, bytes, &status);
	}
	for (long bytes = 20; bytes < 40; bytes += 3) {
		int status = CHI_OK;
		(void)import_one(world, n++, TO_SERVER, bytes, &status);
	}
}

static void swap_store(void *context)
{
	struct world *world = context;
	char old[100];
	struct chi_fault fault;
	world_kill_daemon(world);
	(void)snprintf(old, sizeof(old), "%s.old", world->store);
	assert_int_equal(rename(world->store, old), 0);
	assert_int_equal(chi_create(world->store, CHI_STATISTIC_CONTROL, &fault), CHI_OK);
	world_start_daemon(world);
}

/* What the other store knows says nothing of the first. */
static void into_another_store(void **state)
{
	struct world *world = *state;
	const struct chi_options options = {.call_ms = LONG_MS};
	const struct chi_games_options what = {.kind = CHI_GAMES_ADD};
	struct chi_games *import = NULL;
	struct chi_fault fault = {{0}};
	char text[32];
	game_text(0, text);
	relay.on_cut = swap_store;
	relay.context = world;
	assert_int_equal(chi_games_open(relay.address, &options, 0, &what, &import, &fault),
			 CHI_OK);
	assert_int_equal(chi_games_feed(import, text, strlen(text)), CHI_OK);
	relay_cut(TO_CLIENT, 0, 1);
	assert_int_equal(chi_games_commit(import, NULL), -CHI_ECONNECT);
	assert_non_null(strstr(chi_games_error(import), "nobody knows"));
	assert_true(relay_was_cut());
	chi_games_close(import);
	assert_int_equal(games(world), 0);
}

/* Whole-store work is repeated without a second effect, or from the beginning. */
static void upkeep(void **state)
{
	struct world *world = *state;
	struct chi_client *client = relay_open(0);
	for (long bytes = 0; bytes < 24; bytes += 5) {
		struct chi_verify_result verified;
		uint64_t before = 0;
		uint64_t after = 0;
		char copy[100];
		relay_cut(TO_CLIENT, bytes, 2);
		world_ok(client, chi_compact(client, &before, &after));
		assert_true(before >= after && after > 0);
		relay_cut(TO_CLIENT, bytes, 2);
		world_ok(client, chi_verify(client, NULL, NULL, &verified));
		assert_int_equal(verified.errors, 0);
		(void)snprintf(copy, sizeof(copy), "%.60s/copy%ld", world->dir, bytes);
		relay_cut(TO_CLIENT, 1000 * bytes, 2);
		world_ok(client, chi_backup(client, copy));
		(void)relay_was_cut();
	}
	chi_close(client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cut_at_every_byte, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(killed_before_the_answer, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(into_another_store, relay_make, relay_drop),
		cmocka_unit_test_setup_teardown(upkeep, relay_make, relay_drop),
	};
	if (!world_possible(WORLD_UNIX)) {
		printf("1..0 # SKIP CHISTORED does not name the daemon\n");
		return 0;
	}
	return cmocka_run_group_tests_name("import repeat", tests, NULL, NULL);
}
