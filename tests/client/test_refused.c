/* SPDX-License-Identifier: MIT */
/*
 * What a store cannot answer: one that only counts games refuses whatever needs them, by the
 * operation's name, here and over a socket; and so does one on RADOS, by the same function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "ops/op.h"
#include "ops/query.h"
#include "proto/msg.h"
#include "tests/base/cases.h"
#include "tests/client/world.h"

/* ---- The table ---------------------------------------------------------------------------- */

/* One without a role would be open to no one, one without its query be driven by nothing. */
CASE(every_operation_has_a_row)
{
	for (enum chi_op op = CHI_OP_UNKNOWN + 1; op < CHI_OP_COUNT_OF_OPS; op++) {
		const struct chi_op_row *row = chi_op_row_of(op);
		if (row->role == CHI_ROLE_NONE) {
			fail_msg("%s has no row", chi_op_name(op));
		}
		if (row->query != NULL && row->kind != CHI_KIND_QUERY) {
			fail_msg("%s is no query", chi_op_name(op));
		}
		/* A directory's disk is read at once, a server's by a thread for that. */
		if (row->answer != NULL && row->query == NULL && row->kind != CHI_KIND_ANSWER &&
		    op != CHI_OP_CHECK_DISK) {
			fail_msg("%s is not answered at once", chi_op_name(op));
		}
		if (row->answer != NULL && row->query != NULL && row->of_games == NULL) {
			fail_msg("%s has two ways and no choice", chi_op_name(op));
		}
		if (row->kind == CHI_KIND_WRITE && (row->flags & CHI_NEEDS_WRITABLE) == 0) {
			fail_msg("%s writes where it must not", chi_op_name(op));
		}
		if ((row->flags & CHI_NEEDS_ARCHIVE) != 0 && (row->flags & CHI_NEEDS_STORE) == 0) {
			fail_msg("%s is of no store", chi_op_name(op));
		}
	}
	assert_int_equal(chi_op_row_of(CHI_OP_UNKNOWN)->role, CHI_ROLE_NONE);
	assert_int_equal(chi_op_row_of(CHI_OP_COUNT_OF_OPS)->role, CHI_ROLE_NONE);
}

static void said(const struct chi_request *request, enum chi_holding holding, const char *says)
{
	struct chi_fault fault = {.text = ""};
	int status = chi_op_check(request, holding, &fault);
	assert_int_equal(status, says != NULL ? -CHI_EUNSUPPORTED : CHI_OK);
	assert_true(says == NULL || strstr(fault.text, says) != NULL);
}

CASE(on_rados)
{
	for (enum chi_op op = CHI_OP_UNKNOWN + 1; op < CHI_OP_COUNT_OF_OPS; op++) {
		const struct chi_stats_spec stats = {CHI_STATS_SPEC_INIT, .by = CHI_STATS_PLAYER};
		const struct chi_explore_request explore = {.filter = NULL};
		const struct chi_scan_request scan = {.material = NULL};
		const void *const bodies[CHI_OP_COUNT_OF_OPS] = {
			[CHI_OP_EXPLORE] = &explore, [CHI_OP_SCAN] = &scan, [CHI_OP_COUNT] = &scan};
		const struct chi_request request = {
			.op = op, .body = bodies[op] != NULL ? bodies[op] : &stats};
		char says[80];
		(void)snprintf(says, sizeof(says), "not on RADOS: %s", chi_op_label(op));
		bool refused = (chi_op_row_of(op)->flags & CHI_NEEDS_DIRECTORY) != 0;
		said(&request, CHI_HOLDS_ON_RADOS, refused ? says : NULL);
		said(&request, CHI_HOLDS_GAMES, NULL);
	}
	const struct chi_request backup = {.op = CHI_OP_BACKUP};
	said(&backup, CHI_HOLDS_ON_RADOS,
	     "not on RADOS: backup; take a snapshot of the pool, or a dump");
	const struct chi_explore_request filtered = {.filter = "white A"};
	const struct chi_request explore = {.op = CHI_OP_EXPLORE, .body = &filtered};
	said(&explore, CHI_HOLDS_ON_RADOS, "not on RADOS: explore by games");
	const struct chi_scan_request by_games = {.spec.games = "white A"};
	const struct chi_request scan = {.op = CHI_OP_SCAN, .body = &by_games};
	said(&scan, CHI_HOLDS_ON_RADOS, "not on RADOS: scan by games");
}

/* "not on RADOS: game_query" told a user of a message that he never sent. */
CASE(refusals_have_no_words_of_the_wire)
{
	for (enum chi_op op = CHI_OP_UNKNOWN + 1; op < CHI_OP_COUNT_OF_OPS; op++) {
		assert_null(strchr(chi_op_label(op), '_'));
	}
	const struct chi_request query = {.op = CHI_OP_GAME_QUERY};
	said(&query, CHI_HOLDS_ON_RADOS, "not on RADOS: lists of games");
	said(&query, CHI_HOLDS_COUNTS, "no lists of games");
}

/* ---- Calls on a store that only counts ---------------------------------------------------- */

static int make(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	assert_non_null(world);
	*state = world;
	world_make_keeping(world, world_chosen(), CHI_STATISTIC_CONTROL, CHI_KEEP_COUNTS);
	return 0;
}

/* Positions, the queue and the work on the whole are the same there. */
CASE(the_rest_works, make, world_drop)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	struct chi_key key = world_key(0);
	const struct chi_put_entry entry = {
		.key = key, .parts = CHI_PUT_COUNTS, .record.counts = {.white = 3}};
	const struct chi_scan_spec scan = {CHI_SCAN_SPEC_INIT, .games = "",
					   .chi2_max = CHI_CHI2_MAX};
	const struct chi_scan_spec find = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .pattern = "has Ke1"};
	struct chi_explored explore;
	struct chi_stats_result stats;
	struct chi_queue_page list;
	struct chi_game_row row;
	uint64_t count = 0;
	world_ok(client, chi_put(client, &entry, 1, CHI_SYNC, NULL));
	world_ok(client, chi_scan_count(client, &scan, &count, NULL));
	assert_int_equal(count, 1);
	world_ok(client, chi_explore(client, &key, NULL, NULL, &explore));
	assert_int_equal(explore.position.counts.white, 3);
	world_ok(client, chi_stats_list(client,
					&(struct chi_stats_spec){CHI_STATS_SPEC_INIT,
								 .by = CHI_STATS_PIECES},
					&stats));
	assert_int_equal(stats.n, 1);
	world_ok(client, chi_scan_count(client, &find, &count, NULL));
	world_ok(client, chi_queue_add(client, &key, 1, 1, NULL));
	world_ok(client, chi_queue_list(client, CHI_QUEUE_WAITING, NULL, 1, &list));
	assert_int_equal(list.n, 1);
	world_ok(client, chi_game_heads(client, NULL, 0, &row));
	world_ok(client, chi_store_compact(client, NULL, NULL));
}

WORLD_MAIN
