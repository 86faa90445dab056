/* SPDX-License-Identifier: MIT */
/*
 * Importing games through the library, in this process or behind a daemon: the same body, the same
 * answers. Argument: file, unix, tcp or rados.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/client/world.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

/* Two games, of which the second goes wrong in its third move. */
static const char text[] = "[White \"A\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n"
			   "[White \"B\"]\n[Result \"1/2-1/2\"]\n\n1. e4 c5 2. Nf9 1/2-1/2\n";

struct notes {
	unsigned n;
	char file[300];
	uint64_t game;
	uint64_t line;
};

static void report(void *context, const struct chi_import_note *note)
{
	struct notes *notes = context;
	notes->n++;
	notes->game = note->game;
	notes->line = note->line;
	snprintf(notes->file, sizeof(notes->file), "%s", note->file);
}

static struct chi_import *begin(const struct world *world, const struct chi_import_options *options)
{
	struct chi_import *games = NULL;
	struct chi_fault fault = {""};
	int status = chi_import_open(world->address, NULL, 0, options, &games, &fault);
	if (status != CHI_OK) {
		fail_msg("chi_game_walk_open: %d, %s", status, fault.text);
	}
	return games;
}

/* Feeds the text, in pieces of `step` bytes, and commits. */
static struct chi_import_result run(const struct world *world,
				    const struct chi_import_options *options, size_t step)
{
	struct chi_import *games = begin(world, options);
	struct chi_import_result result;
	assert_int_equal(chi_import_file(games, "two.pgn"), CHI_OK);
	for (size_t at = 0; at < sizeof(text) - 1; at += step) {
		size_t left = sizeof(text) - 1 - at;
		assert_int_equal(chi_import_feed(games, text + at, left < step ? left : step),
				 CHI_OK);
	}
	assert_int_equal(chi_import_commit(games, &result), CHI_OK);
	assert_string_equal(chi_import_error(games), "");
	/* Nothing is left to be done with it. */
	assert_int_equal(chi_import_commit(games, NULL), -CHI_EINVAL);
	assert_int_equal(chi_import_feed(games, text, 1), -CHI_EINVAL);
	chi_import_close(games);
	return result;
}

static uint64_t games_at_start(struct chi_client *client)
{
	struct chi_key key;
	struct chi_row row;
	assert_int_equal(chi_key_from_fen(START, strlen(START), &key, NULL), CHI_OK);
	world_ok(client, chi_probe(client, &key, 1, &row));
	return row.counts.white + row.counts.draws + row.counts.black + row.counts.other;
}

/* ---- Searching ----------------------------------------------------------------------------- */

#define FOUND 600 /* more than are looked for at once */
#define STOPS 45

/* A scan with a pattern that is left and goes on at its cursor, in either order, loses nothing. */
static void a_pattern_in_parts(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
				     .pattern = "has \"K**\""};
	world_fill(client, 0, FOUND);
	for (spec.order = 0; spec.order <= CHI_ORDER_POSITION; spec.order++) {
		size_t n = 0;
		int status = CHI_OK;
		uint64_t count = 0;
		spec.after = (struct chi_cursor){.set = false};
		while (status == CHI_OK) {
			const struct chi_row *row = NULL;
			struct chi_rows *iter = NULL;
			size_t some = 0;
			world_ok(client, chi_scan_open(client, &spec, &iter));
			while (some++ < STOPS &&
			       (status = chi_scan_next(iter, &row, NULL)) == CHI_OK) {
				n++;
			}
			spec.after = chi_rows_state(iter)->cursor;
			chi_rows_close(iter);
		}
		assert_int_equal(status, CHI_NONE);
		assert_int_equal(n, FOUND);
		spec.after = (struct chi_cursor){.set = false};
		world_ok(client, chi_scan_count(client, &spec, &count, NULL));
		assert_int_equal(count, FOUND);
	}
}

/* ---- Importing ----------------------------------------------------------------------------- */

static void there_and_back(void **state)
{
	struct world *world = *state;
	struct notes notes = {.n = 0};
	struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD,
					     .report = report, .context = &notes};
	struct chi_import_result result = run(world, &options, 7);
	assert_int_equal(result.games, 2);
	assert_int_equal(result.taken, 2);
	assert_int_equal(result.cut, 1);
	assert_int_equal(result.plies, 5);
	assert_int_equal(result.positions.added, 5);
	assert_int_equal(notes.n, 1);
	assert_int_equal(notes.game, 2);
	assert_string_equal(notes.file, "two.pgn");
	assert_int_equal(games_at_start(world->client), 2);
	result = run(world, &options, sizeof(text));
	assert_int_equal(result.taken, 0);
	assert_int_equal(result.known, 2);
	assert_int_equal(games_at_start(world->client), 2);
	struct chi_game_id listed[3];
	size_t n = 0;
	world_ok(world->client, chi_game_ids(world->client, NULL, listed, 3, &n));
	assert_int_equal(n, 2);
	options.kind = CHI_IMPORT_SUBTRACT;
	if (world->kind == WORLD_RADOS) {
		struct chi_import *games = NULL;
		struct chi_fault fault = {""};
		assert_int_equal(chi_import_open(world->address, NULL, 0, &options, &games, &fault),
				 -CHI_EUNSUPPORTED);
		assert_string_equal(fault.text, "not on RADOS: subtract");
		return;
	}
	result = run(world, &options, 1);
	assert_int_equal(result.taken, 2);
	assert_int_equal(result.positions.removed, 5);
	struct chi_info info;
	world_ok(world->client, chi_store_info(world->client, &info));
	assert_int_equal(info.positions, 0);
}

/* What needs the games themselves is refused where they are not kept, each call by its own words.
 */
static void not_on_rados(void **state)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	const uint32_t number = 1;
	struct chi_game_row row;
	struct chi_game game;
	struct chi_key start;
	struct chi_explored explored;
	struct chi_rows *query = NULL;
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .limit = 1};
	assert_int_equal(chi_key_from_fen(START, strlen(START), &start, NULL), CHI_OK);
	world_refused(client, chi_game_heads(client, &number, 1, &row), -CHI_EUNSUPPORTED,
		      "not on RADOS: heads of games");
	world_refused(client, chi_game_get(client, 1, &row, &game), -CHI_EUNSUPPORTED,
		      "not on RADOS: games by number");
	world_refused(client, chi_games_open(client, &spec, &query), -CHI_EUNSUPPORTED,
		      "not on RADOS: lists of games");
	world_refused(client, chi_explore(client, &start, "white A", NULL, &explored),
		      -CHI_EUNSUPPORTED, "not on RADOS: explore by games");
	world_refused(client, chi_gameset_drop(client, "some"), -CHI_EUNSUPPORTED,
		      "not on RADOS: dropping gamesets");
}

/* Rows by numbers, of which some are no game's; and moves without plies. */
static void heads_without_bodies(void **state)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	const uint32_t numbers[] = {2, 7, 1, 0, 2};
	static uint32_t many[CHI_GAME_HEADS_MAX + 1];
	static struct chi_game_row rows[CHI_GAME_HEADS_MAX + 1];
	struct chi_key start;
	(void)run(world, &options, sizeof(text));
	world_ok(client, chi_game_heads(client, numbers, CHI_COUNT(numbers), rows));
	const uint32_t found[] = {2, 0, 1, 0, 2};
	for (size_t i = 0; i < CHI_COUNT(found); i++) {
		assert_int_equal(rows[i].head.number, found[i]);
		assert_int_equal(rows[i].ply, -1);
	}
	assert_string_equal(rows[0].white, "B");
	assert_string_equal(rows[0].black, "");
	assert_string_equal(rows[2].white, "A");
	assert_string_equal(rows[2].round, "");
	assert_string_equal(rows[2].pgn, "");
	assert_int_equal(rows[2].head.result, CHI_RESULT_WHITE);
	assert_int_equal(rows[2].head.plies, 3);
	world_ok(client, chi_game_heads(client, NULL, 0, NULL));
	world_ok(client, chi_game_heads(client, many, CHI_GAME_HEADS_MAX, rows));
	int status = chi_game_heads(client, many, CHI_GAME_HEADS_MAX + 1, rows);
	world_refused(client, status, -CHI_ETOOBIG, "1000");

	assert_int_equal(chi_key_from_fen(START, strlen(START), &start, NULL), CHI_OK);
	struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .position = &start, .skip_ply = true};
	struct chi_rows *query = NULL;
	const struct chi_game_row *row = NULL;
	chi_move move = 0;
	assert_int_equal(chi_key_move(&start, "e4", 2, &move, NULL), CHI_OK);
	world_ok(client, chi_games_open(client, &spec, &query));
	for (uint32_t number = 1; number <= 2; number++) {
		world_ok(client, chi_games_next(query, &row));
		assert_int_equal(row->head.number, number);
		assert_int_equal(row->ply, -1);
		assert_int_equal(row->move, move);
	}
	assert_int_equal(chi_games_next(query, &row), CHI_NONE);
	chi_rows_close(query);

	/* What was not asked for is empty, not missing. */
	spec.want = CHI_GAMES_HEADS;
	world_ok(client, chi_games_open(client, &spec, &query));
	world_ok(client, chi_games_next(query, &row));
	assert_string_equal(row->white, "");
	assert_string_equal(row->source, "");
	assert_string_equal(row->pgn, "");
	chi_rows_close(query);
}

/* Closed, or given up, before the commit. */
static void without_a_commit(void **state)
{
	struct world *world = *state;
	volatile int cancel = 0;
	struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD,
					     .cancel = &cancel};
	struct chi_import *games = begin(world, &options);
	assert_int_equal(chi_import_feed(games, text, sizeof(text) - 1), CHI_OK);
	cancel = 1;
	assert_int_equal(chi_import_commit(games, NULL), -CHI_ECANCELED);
	assert_string_not_equal(chi_import_error(games), "");
	/* The first failure is the last word. */
	assert_int_equal(chi_import_feed(games, text, 1), -CHI_ECANCELED);
	chi_import_close(games);
	assert_int_equal(games_at_start(world->client), 0);
	chi_import_close(NULL);
}

static void refused(void **state)
{
	struct world *world = *state;
	struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT,
					     .kind = (enum chi_import_kind)(CHI_IMPORT_PUT + 1)};
	struct chi_import *games = NULL;
	struct chi_fault fault = {""};
	assert_int_equal(chi_import_open(world->address, NULL, 0, &options, &games, &fault),
			 -CHI_EINVAL);
	assert_null(games);
	options.kind = CHI_IMPORT_ADD;
	/* The store is there, and of another kind. */
	assert_int_equal(chi_import_open(world->address, NULL, CHI_STATISTIC_OUTCOME, &options,
					 &games, &fault),
			 -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "outcome"));
	assert_non_null(strstr(fault.text, "control"));
	assert_int_equal(chi_import_open(world->address, NULL, CHI_STATISTIC_CONTROL, &options,
					 &games, &fault),
			 CHI_OK);
	chi_import_close(games);
	assert_int_equal(
		chi_import_open("unix:/nonexistent/socket", NULL, 0, &options, &games, &fault),
		-CHI_ECONNECT);
	assert_int_equal(chi_import_open("/nonexistent/store", NULL, 0, &options, &games, &fault),
			 -CHI_ENOSTORE);
}

/* A directory without a store gets one with the commit, and not before. */
static void a_new_store(void **state)
{
	struct world *world = *state;
	struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	struct chi_import *games = NULL;
	struct chi_client *client = NULL;
	struct chi_fault fault = {""};
	char path[100];
	snprintf(path, sizeof(path), "%s/made", world->dir);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(chi_import_open(path, NULL, CHI_STATISTIC_OUTCOME, &options,
						 &games, &fault),
				 CHI_OK);
		assert_int_equal(chi_import_feed(games, text, sizeof(text) - 1), CHI_OK);
		assert_int_equal(chi_open(path, NULL, &client, NULL), -CHI_ENOSTORE);
		if (round == 1) {
			assert_int_equal(chi_import_commit(games, NULL), CHI_OK);
		}
		chi_import_close(games);
	}
	assert_int_equal(chi_open(path, NULL, &client, &fault), CHI_OK);
	struct chi_info info;
	world_ok(client, chi_store_info(client, &info));
	assert_int_equal(info.statistic, CHI_STATISTIC_OUTCOME);
	assert_int_equal(info.games.white, 1);
	assert_int_equal(info.games.draws, 1);
	chi_close(client);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(there_and_back, world_control, world_drop),
		cmocka_unit_test_setup_teardown(heads_without_bodies, world_control, world_drop),
		cmocka_unit_test_setup_teardown(without_a_commit, world_control, world_drop),
		cmocka_unit_test_setup_teardown(refused, world_control, world_drop),
		cmocka_unit_test_setup_teardown(a_new_store, world_control, world_drop),
		cmocka_unit_test_setup_teardown(a_pattern_in_parts, world_external, world_drop),
	};
	/* What holds where games are counted and not kept. */
	const struct CMUnitTest counted[] = {
		cmocka_unit_test_setup_teardown(there_and_back, world_control, world_drop),
		cmocka_unit_test_setup_teardown(not_on_rados, world_control, world_drop),
		cmocka_unit_test_setup_teardown(without_a_commit, world_control, world_drop),
		cmocka_unit_test_setup_teardown(refused, world_control, world_drop),
	};
	if (!world_choose(argc, argv)) {
		return 0;
	}
	return world_chosen() == WORLD_RADOS
		       ? cmocka_run_group_tests_name("games", counted, NULL, NULL)
		       : cmocka_run_group_tests_name("games", tests, NULL, NULL);
}
