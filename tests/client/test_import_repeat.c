/* SPDX-License-Identifier: MIT */
/*
 * Imports whose connection breaks: the client asks over another what became of it, and what it says
 * is what the store holds: cut anywhere in the data and of the commit, with the daemon killed
 * before its answer is heard, and with another store in the place of the first.
 */
#include <stdio.h>
#include <string.h>

#include <poll.h>

#include "tests/base/cases.h"
#include "tests/base/seed.h"
#include "tests/client/relay.h"
#include "tests/client/server.h"
#include "tests/client/world.h"
#include "tests/store/sealed.h"

/* The n-th of 400 different games that White won. */
static void game_text(unsigned n, char out[32])
{
	static const char *const white[20] = {"a3", "b3", "c3",	 "d3",	"e3",  "f3", "g3",
					      "h3", "a4", "b4",	 "c4",	"d4",  "e4", "f4",
					      "g4", "h4", "Na3", "Nc3", "Nf3", "Nh3"};
	static const char *const black[20] = {"a6", "b6", "c6",	 "d6",	"e6",  "f6", "g6",
					      "h6", "a5", "b5",	 "c5",	"d5",  "e5", "f5",
					      "g5", "h5", "Na6", "Nc6", "Nf6", "Nh6"};
	(void)snprintf(out, 32, "1. %s %s 1-0\n", white[n % 20], black[n / 20 % 20]);
}

/* A dump of one game, the n-th. */
static void dump_text(unsigned n, char out[512])
{
	size_t len = 0;
	(void)snprintf(out, 512,
		       "chistore-dump\t1\nstatistic\tcontrol\nbase\t1\t0\t0\t0\n"
		       "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n"
		       "game\t%032x\t1-0\t-\t-\nend\t0\t1\n",
		       n);
	char *text = sealed(out, &len);
	strcpy(out, text);
	free(text);
}

static uint64_t games(const struct world *world)
{
	struct chi_client *client = world_open(world);
	struct chi_info info;
	world_ok(client, chi_store_info(client, &info));
	chi_close(client);
	return info.games.white;
}

/* Imports one game over the relay, every other one by a dump, cut from its first byte of data on;
 * what was said must be true. True if the cut has come. */
static bool import_one(const struct world *world, unsigned n, enum relay_way way, long bytes,
		       int *status)
{
	const struct chi_options options = {CHI_OPTIONS_INIT, .call_ms = LONG_MS};
	const bool dump = n % 2 == 1;
	const struct chi_import_options what = {CHI_IMPORT_OPTIONS_INIT,
						.kind = dump ? CHI_IMPORT_LOAD : CHI_IMPORT_ADD};
	struct chi_import_result result;
	struct chi_import *import = NULL;
	struct chi_fault fault = {{0}};
	uint64_t before = games(world);
	char text[512];
	if (dump) {
		dump_text(n, text);
	} else {
		game_text(n, text);
	}
	/* One that was cut off before may still be ending. */
	while ((*status = chi_import_open(relay.address, &options, 0, &what, &import, &fault)) ==
	       -CHI_EBUSY) {
		(void)poll(NULL, 0, 1);
	}
	if (*status != CHI_OK) {
		fail_msg("%s", fault.text);
	}
	relay_cut(way, bytes, 1);
	*status = chi_import_feed(import, text, strlen(text));
	if (*status == CHI_OK) {
		*status = chi_import_commit(import, &result);
	}
	bool cut = relay_was_cut();
	uint64_t stored = games(world) - before;
	if (*status == CHI_OK) {
		assert_int_equal(stored, 1);
		assert_int_equal(result.taken, 1);
		assert_int_equal(result.positions.added + result.positions.updated, dump ? 0 : 3);
	} else {
		if (strstr(chi_import_error(import), "nothing was stored") == NULL) {
			fail_msg("%s", chi_import_error(import));
		}
		assert_int_equal(*status, -CHI_ECONNECT);
		assert_int_equal(stored, 0);
	}
	chi_import_close(import);
	return cut;
}

CASE(cut_anywhere, relay_make, relay_drop)
{
	const struct world *world = *state;
	struct seed seed = seed_start("import repeat");
	const long step = relay_step();
	unsigned n = 0;
	unsigned stored[2] = {0};
	for (int way = TO_SERVER; way <= TO_CLIENT; way++) {
		bool cut = true;
		long bytes = (long)seed_below(&seed, (size_t)step);
		for (; cut; bytes += step) {
			int status = CHI_OK;
			cut = import_one(world, n++, (enum relay_way)way, bytes, &status);
			stored[way] += cut && status == CHI_OK;
		}
		assert_true(bytes > 10);
	}
	/* All was said, and only the answer lost. */
	assert_true(stored[TO_CLIENT] > 10 / step);
}

static void kill_daemon(void *context)
{
	world_kill_daemon(context);
	world_start_daemon(context);
}

/* kill -9 when it has something to say, and before it is heard. */
CASE(killed_before_the_answer, relay_make, relay_drop)
{
	struct world *world = *state;
	const long step = relay_step();
	unsigned n = 0;
	relay.on_cut = kill_daemon;
	relay.context = world;
	for (long bytes = 0; bytes < 120; bytes += 4 * step) {
		int status = CHI_OK;
		(void)import_one(world, n++, TO_CLIENT, bytes, &status);
	}
	for (long bytes = 0; bytes < 120; bytes += 4 * step) {
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
	assert_int_equal(
		chi_store_create(world->store, CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault),
		CHI_OK);
	world_start_daemon(world);
}

/* What the other store knows says nothing of the first. */
CASE(into_another_store, relay_make, relay_drop)
{
	struct world *world = *state;
	const struct chi_options options = {CHI_OPTIONS_INIT, .call_ms = LONG_MS};
	const struct chi_import_options what = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	struct chi_import *import = NULL;
	struct chi_fault fault = {{0}};
	char text[32];
	int status = CHI_OK;
	/* The bytes to the client of an import that is not cut, from its data on. */
	(void)import_one(world, 1, TO_CLIENT, 1000000, &status);
	long all = relay.passed;
	game_text(0, text);
	relay.on_cut = swap_store;
	relay.context = world;
	assert_int_equal(chi_import_open(relay.address, &options, 0, &what, &import, &fault),
			 CHI_OK);
	/* Where import_one begins to count: the daemon may answer a part before the commit. */
	relay_cut(TO_CLIENT, all - 2, 1);
	assert_int_equal(chi_import_feed(import, text, strlen(text)), CHI_OK);
	assert_int_equal(chi_import_commit(import, NULL), -CHI_ECONNECT);
	assert_non_null(strstr(chi_import_error(import), "it is not known"));
	assert_true(relay_was_cut());
	chi_import_close(import);
	assert_int_equal(games(world), 0);
}

/* Connection 0 is lost when all is said; it tells the mark's `since` by the games skipped. The next
 * has no room for a question at first. */
static void be_busy(struct server_conn *conn)
{
	static uint64_t since;
	struct chi_request request;
	unsigned refusals = 0;
	if (!server_greet(conn)) {
		return;
	}
	const struct chi_info info = {.sequence = 77, .statistic = CHI_STATISTIC_EXTERNAL};
	while (server_next(conn, &request)) {
		struct chi_outcome outcome = {.kind = CHI_IDEMPOTENCY_IMPORT};
		struct chi_response answer = {.id = request.id, .last = true, .op = request.op};
		if (request.op == CHI_OP_IMPORT) {
			answer.last = false;
			answer.u.import.credit = 10000;
		} else if (request.op == CHI_OP_INFO) {
			answer.body = &info;
		} else if (request.op == CHI_OP_IMPORT_END) {
			since = request.idempotency_key.since;
			return;
		} else if (request.op == CHI_OP_OUTCOME && refusals++ < 2) {
			answer.status = -CHI_EBUSY;
		} else if (request.op == CHI_OP_OUTCOME) {
			outcome.import.skipped = since;
			answer.body = &outcome;
		} else {
			continue;
		}
		server_answer(conn, &answer);
	}
}

/* Who it is has been chosen after all the data, and to be busy is no answer to the question. */
CASE(asked_of_a_busy_server)
{
	const struct chi_options options = {CHI_OPTIONS_INIT, .call_ms = LONG_MS};
	const struct chi_import_options what = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	struct server server;
	struct chi_import *import = NULL;
	struct chi_import_result result;
	struct chi_fault fault = {{0}};
	server_start(&server, be_busy);
	assert_int_equal(chi_import_open(server.address, &options, 0, &what, &import, &fault),
			 CHI_OK);
	assert_int_equal(chi_import_feed(import, "1. a3 1-0\n", 10), CHI_OK);
	if (chi_import_commit(import, &result) != CHI_OK) {
		fail_msg("%s", chi_import_error(import));
	}
	assert_int_equal(result.skipped, 77);
	chi_import_close(import);
	server_stop(&server);
}

/* Whole-store work is repeated without a second effect, or from the beginning. */
CASE(upkeep, relay_make, relay_drop)
{
	struct world *world = *state;
	const long step = relay_step();
	struct chi_client *client = relay_open(0);
	for (long bytes = 0; bytes < 24; bytes += 2 * step) {
		struct chi_verify_result verified;
		uint64_t before = 0;
		uint64_t after = 0;
		char copy[100];
		relay_cut(TO_CLIENT, bytes, 2);
		world_ok(client, chi_store_compact(client, &before, &after));
		assert_true(before >= after && after > 0);
		relay_cut(TO_CLIENT, bytes, 2);
		world_ok(client, chi_store_verify(client, NULL, NULL, &verified));
		assert_int_equal(verified.errors, 0);
		(void)snprintf(copy, sizeof(copy), "%.60s/copy%ld", world->dir, bytes);
		relay_cut(TO_CLIENT, 1000 * bytes, 2);
		world_ok(client, chi_store_backup(client, copy, CHI_BACKUP_STORE));
		(void)relay_was_cut();
	}
	chi_close(client);
}

int main(void)
{
	if (!world_possible(WORLD_UNIX)) {
		printf("1..0 # SKIP CHISTORED does not name the daemon\n");
		return 0;
	}
	return cases_run(NULL, NULL);
}
