/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out once while counts are added, which a repetition would do again: over a connection
 * that is cut meanwhile, and over TLS, where OpenSSL asks for memory in thousands of places, most
 * of them when it connects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attr.h"
#include "tests/base/nomem.h"
#include "tests/client/lack.h"
#include "tests/client/relay.h"
#include "tests/client/world.h"

#define MANY 300 /* positions of a probe */

static const struct world *world;
static struct chi_key keys[MANY];

static uint64_t counted(void)
{
	struct chi_client *client = world_open(world);
	struct chi_row row;
	world_ok(client, chi_probe(client, keys, 1, &row));
	chi_close(client);
	return row.counts.white;
}

/* Two additions with a probe between them; how many were acknowledged. */
static uint64_t add_twice(struct chi_client *client)
{
	static struct chi_row rows[MANY];
	struct chi_put put = {.key = keys[0], .parts = CHI_PUT_ADD, .record.counts.white = 1};
	uint64_t added = 0;
	for (int i = 0; i < 2; i++) {
		struct chi_put_result result = {0};
		int status = chi_put(client, &put, 1, CHI_SYNC, &result);
		if (lack_went(status, chi_error(client))) {
			added += result.added + result.updated;
		}
		if (i == 0) {
			status = chi_probe(client, keys, MANY, rows);
			(void)lack_went(status, chi_error(client));
		}
	}
	return added;
}

/* `context`: the way that is cut, or NULL. */
static int run_additions(size_t failing, size_t *calls, const void *context)
{
	const enum relay_way *way = context;
	size_t later = 0;
	struct chi_client *client = way != NULL ? relay_open(0) : world_open(world);
	uint64_t before = counted();
	if (way != NULL) {
		relay_cut(*way, (long)(failing * 37 % 200), 1);
	}
	lack_begin(failing);
	uint64_t added = add_twice(client);
	int heard = lack_end(calls);
	if (way != NULL) {
		(void)relay_was_cut();
	}
	lack_begin(0);
	assert_int_equal(add_twice(client), 2);
	assert_int_equal(lack_end(&later), CHI_OK);
	/* What was acknowledged has happened, and nothing has happened twice. */
	assert_in_range(counted() - before, added + 2, heard == CHI_OK ? added + 2 : 4);
	chi_close(client);
	return heard;
}

static int run_connection(size_t failing, size_t *calls, const void *unused)
{
	(void)unused;
	struct chi_options options = world_options(world);
	struct chi_client *client = NULL;
	struct chi_fault fault = {""};
	lack_begin(failing);
	if (lack_went(chi_open(world->address, &options, &client, &fault), fault.text)) {
		(void)lack_went(chi_ping(client), chi_error(client));
	}
	int heard = lack_end(calls);
	chi_close(client);
	chi_close(world_open(world));
	return heard;
}

static void over_cuts(void **state)
{
	const enum relay_way ways[] = {TO_SERVER, TO_CLIENT};
	world = *state;
	relay.grace_ms = 1;
	/* It is stored. */
	(void)run_additions(0, &(size_t){0}, &ways[0]);
	assert_true(nomem_sweep("cut to the server", run_additions, &ways[0], 12) > 0);
	assert_true(nomem_sweep("cut to the client", run_additions, &ways[1], 12) > 0);
}

static void over_tls(void **state)
{
	(void)state;
	struct world made;
	world_make(&made, WORLD_TLS, CHI_STATISTIC_CONTROL);
	world = &made;
	(void)run_additions(0, &(size_t){0}, NULL);
	assert_true(nomem_sweep("additions over TLS", run_additions, NULL, 8) > 0);
	size_t heard = nomem_sweep("connecting over TLS", run_connection, NULL, 80);
	print_message("# figures: %zu connections failed over something else for it\n",
		      lack_untold());
	assert_true(heard > 0 && lack_untold() * 5 < heard + 5);
	world_free(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(over_cuts, relay_make, relay_drop),
		cmocka_unit_test(over_tls),
	};
	if (!world_possible(WORLD_TLS)) {
		print_message("1..0 # SKIP CHISTORED does not name the daemon\n");
		return 0;
	}
	lack_of_openssl();
	for (unsigned i = 0; i < MANY; i++) {
		keys[i] = world_key(i + 1);
	}
	return cmocka_run_group_tests_name("nomem_added", tests, NULL, NULL);
}
