/* SPDX-License-Identifier: MIT */
/*
 * Whatever keeps a client busy (an open walk, an open query of games, a call whose callback runs),
 * every exported function that takes it is refused and changes nothing, but those of the walk or
 * the query, chi_close and chi_error; functions that take no client work. The list of functions is
 * the library's own, so that a new one needs a row here. Argument: file, unix, tcp or rados.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/client/world.h"

/* What the calls below are given; none of it is to be read or written. */
static struct {
	struct chi_key key;
	struct chi_row row;
	struct chi_record record;
	struct chi_explored explore;
	struct chi_put_entry put;
	struct chi_counts counts;
	struct chi_game_id id;
	struct chi_game_row game;
	struct chi_info info;
	struct chi_disk_check disk;
	struct chi_names names;
	struct chi_names_spec names_spec;
	struct chi_name_change change;
	struct chi_suspect_groups suspects;
	struct chi_gamesets gamesets;
	struct chi_suspects_spec suspects_spec;
	struct chi_stats_spec stats_spec;
	struct chi_stats_result stats;
	struct chi_twin_spec twin_spec;
	struct chi_twin_groups twins;
	struct chi_insight_spec insight_spec;
	struct chi_insight_result insight;
	struct chi_queue_take_spec take;
	struct chi_queue_lease lease;
	struct chi_queue_page list;
	struct chi_scan_spec scan;
	struct chi_game_spec query;
	struct chi_rows *iter;
	struct chi_rows *opened;
	struct chi_prober *prober;
	struct chi_client *again;
	struct chi_client *newest;
	size_t n;
	uint64_t count;
	uint32_t number;
	bool changed;
} a;

static int each(void *context, size_t i, const struct chi_record *record)
{
	(void)context;
	(void)i;
	(void)record;
	return CHI_OK;
}

#define PATH "/nonexistent/busy"
#define FEN  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

/* Functions that take a client, with what they are called with beside it. */
#define TAKING(X)                                                                                  \
	X(chi_store_backup, PATH, CHI_BACKUP_STORE)                                                \
	X(chi_names_change, &a.change, 1, false, NULL, NULL, NULL)                                 \
	X(chi_store_changed, &a.changed)                                                           \
	X(chi_store_compact, NULL, NULL)                                                           \
	X(chi_scan_count, &a.scan, &a.count, NULL)                                                 \
	X(chi_delete, &a.key, 1, CHI_SYNC, NULL)                                                   \
	X(chi_gameset_drop, "mine")                                                                \
	X(chi_explore, &a.key, NULL, NULL, &a.explore)                                             \
	X(chi_game_get, 1, &a.game, NULL)                                                          \
	X(chi_game_heads, &a.number, 1, &a.game)                                                   \
	X(chi_games_open, &a.query, &a.opened)                                                     \
	X(chi_get, &a.key, &a.record)                                                              \
	X(chi_game_ids, NULL, &a.id, 1, &a.n)                                                      \
	X(chi_gamesets_list, NULL, &a.gamesets)                                                    \
	X(chi_store_check_disk, &a.disk)                                                           \
	X(chi_store_info, &a.info)                                                                 \
	X(chi_get_many, &a.key, 1, each, NULL)                                                     \
	X(chi_names_list, &a.names_spec, &a.names)                                                 \
	X(chi_stats_list, &a.stats_spec, &a.stats)                                                 \
	X(chi_suspects_list, &a.suspects_spec, &a.suspects)                                        \
	X(chi_twins_list, &a.twin_spec, &a.twins)                                                  \
	X(chi_insight_list, &a.insight_spec, &a.insight)                                           \
	X(chi_scan_open, &a.scan, &a.iter)                                                         \
	X(chi_gameset_make, "mine", "", NULL)                                                      \
	X(chi_probe, &a.key, 1, &a.row)                                                            \
	X(chi_open_again, &a.again)                                                                \
	X(chi_open_newest, &a.newest)                                                              \
	X(chi_on_progress, NULL, NULL)                                                             \
	X(chi_prober_open, NULL, &a.prober)                                                        \
	X(chi_put, &a.put, 1, CHI_SYNC, NULL)                                                      \
	X(chi_queue_add, &a.key, 1, 1, NULL)                                                       \
	X(chi_queue_list, CHI_QUEUE_WAITING, NULL, 1, &a.list)                                     \
	X(chi_queue_settle, 1, CHI_QUEUE_DONE, &a.key, 1, 0, NULL)                                 \
	X(chi_queue_take, &a.take, &a.lease)                                                       \
	X(chi_store_rescore, NULL, NULL)                                                           \
	X(chi_store_verify, NULL, NULL, NULL)

/* And those without a second argument. */
#define TAKING_ALONE(X) X(chi_flush) X(chi_ping)

/* Functions that take none, or a prober or an import of its own: what holds of a call. */
#define FREE(X)                                                                                    \
	X(chi_store_create, chi_store_create("", CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, NULL) < 0) \
	X(chi_games_filter_check, chi_games_filter_check("", NULL) == CHI_OK)                      \
	X(chi_key_control, chi_key_control(&w.start, &w.control) == CHI_OK)                        \
	X(chi_key_from_board, chi_key_from_board(&w.board, &w.key, NULL) == -CHI_EKEY)             \
	X(chi_key_from_fen, chi_key_from_fen(FEN, strlen(FEN), &w.start, NULL) == CHI_OK)          \
	X(chi_key_move, chi_key_move(&w.start, "e4", 2, &w.move, NULL) == CHI_OK)                  \
	X(chi_key_moves, chi_key_moves(&w.start, 0, NULL, 0, &w.n, NULL) == CHI_OK)                \
	X(chi_key_play, chi_key_play(&w.start, w.move, &w.key) == CHI_OK)                          \
	X(chi_key_san, chi_key_san(&w.start, w.move, w.text) == CHI_OK)                            \
	X(chi_key_to_fen, chi_key_to_fen(&w.start, w.fen, NULL) == CHI_OK)                         \
	X(chi_key_uci, chi_key_uci(&w.start, w.move, w.text) == CHI_OK)                            \
	X(chi_material_parse, chi_material_parse("KvK", 3, &w.material, NULL) == CHI_OK)           \
	X(chi_name_kind_name, chi_name_kind_name(CHI_NAME_PLAYER) != NULL)                         \
	X(chi_chi2_parse, chi_chi2_parse("1.00", 4, &w.control) == CHI_OK)                         \
	X(chi_chi2_print, chi_chi2_print(100, w.text) == 4)                                        \
	X(chi_open, chi_open(w.world->address, NULL, &w.other, NULL) == CHI_OK)                    \
	X(chi_close, (chi_close(w.other), true))                                                   \
	X(chi_prober_key, chi_prober_key(w.prober, &w.start, &w.row) == CHI_OK)                    \
	X(chi_prober_board, chi_prober_board(w.prober, &w.board, &w.row) == -CHI_EKEY)             \
	X(chi_prober_many, chi_prober_many(w.prober, &w.start, 1, &w.row) == CHI_OK)               \
	X(chi_prober_prefetch, chi_prober_prefetch(w.prober, &w.start, 1, &w.ticket) == CHI_OK)    \
	X(chi_prober_collect, chi_prober_collect(w.prober, w.ticket, &w.row) == CHI_OK)            \
	X(chi_prober_drop, (chi_prober_drop(w.prober), true))                                      \
	X(chi_prober_release, (chi_prober_release(w.prober), true))                                \
	X(chi_prober_follow, chi_prober_follow(w.prober, &w.moved) == CHI_OK)                      \
	X(chi_prober_error, chi_prober_error(w.prober)[0] == '\0')                                 \
	X(chi_prober_close, (chi_prober_close(NULL), true))                                        \
	X(chi_queue_state_name, chi_queue_state_name(CHI_QUEUE_WAITING) != NULL)                   \
	X(chi_store_repair, chi_store_repair("", PATH, 0, NULL, NULL, &w.repaired, NULL) < 0)      \
	X(chi_store_set_statistic,                                                                 \
	  chi_store_set_statistic("", CHI_STATISTIC_SCORE, NULL, &w.ticket, NULL) < 0)             \
	X(chi_statistic_name, chi_statistic_name(CHI_STATISTIC_CONTROL) != NULL)                   \
	X(chi_strerror, chi_strerror(-CHI_EBUSY) != NULL)                                          \
	X(chi_version, chi_version() != NULL)

/* Tried elsewhere: of an open walk or query, which may be used; of an import, whose connection is
 * its own. */
static const char *const own[] = {
	"chi_error",	    "chi_unknown_name", "chi_scan_next",     "chi_games_next",
	"chi_rows_state",   "chi_rows_close",	"chi_import_open",   "chi_import_file",
	"chi_import_feed",  "chi_import_store", "chi_import_commit", "chi_import_error",
	"chi_import_close",
};

/* ---- The rows ------------------------------------------------------------------------------ */

/* What functions without a client work on. */
static struct {
	struct world *world;
	struct chi_client *other;
	struct chi_prober *prober;
	struct chi_key start;
	struct chi_key key;
	struct chi_board board;
	struct chi_row row;
	struct chi_material material;
	struct chi_repair_result repaired;
	chi_move move;
	uint16_t control;
	uint64_t ticket;
	size_t n;
	bool moved;
	char text[CHI_MOVE_TEXT_SIZE];
	char fen[CHI_FEN_SIZE];
} w;

#define TRY(name, ...)                                                                             \
	static int try_##name(struct chi_client *client)                                           \
	{                                                                                          \
		return name(client, __VA_ARGS__);                                                  \
	}
#define TRY_ALONE(name)                                                                            \
	static int try_##name(struct chi_client *client)                                           \
	{                                                                                          \
		return name(client);                                                               \
	}
#define TRY_FREE(name, holds)                                                                      \
	static bool free_##name(void)                                                              \
	{                                                                                          \
		return holds;                                                                      \
	}
TAKING(TRY)
TAKING_ALONE(TRY_ALONE)
FREE(TRY_FREE)

#define ROW(name, ...)	      {#name, try_##name},
#define ROW_FREE(name, holds) {#name, free_##name},
static const struct {
	const char *name;
	int (*call)(struct chi_client *client);
} taking[] = {TAKING(ROW) TAKING_ALONE(ROW)};
static const struct {
	const char *name;
	bool (*holds)(void);
} without[] = {FREE(ROW_FREE)};

/* Called whenever the client is busy. */
static unsigned rounds;

static void everything_is_refused(struct chi_client *client, const char *says)
{
	for (size_t i = 0; i < CHI_COUNT(taking); i++) {
		int status = taking[i].call(client);
		if (status != -CHI_EBUSY || strstr(chi_error(client), says) == NULL) {
			fail_msg("%s: %d '%s', not '%s'", taking[i].name, status, chi_error(client),
				 says);
		}
	}
	for (size_t i = 0; i < CHI_COUNT(without); i++) {
		if (!without[i].holds()) {
			fail_msg("%s", without[i].name);
		}
	}
	rounds++;
}

/* ---- What keeps a client busy ---------------------------------------------------------------- */

static uint64_t sequence_of(const struct world *world)
{
	struct chi_client *other = world_open(world);
	struct chi_info info;
	world_ok(other, chi_store_info(other, &info));
	chi_close(other);
	return info.sequence;
}

static struct chi_import *import_open(chi_import_report *report, void *context)
{
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD,
						   .report = report, .context = context};
	struct chi_import *games = NULL;
	assert_int_equal(chi_import_open(w.world->address, NULL, 0, &options, &games, NULL),
			 CHI_OK);
	return games;
}

/* The last game goes wrong, of which an import tells. */
static const char text[] = "[White \"A\"]\n\n1. e4 e5 1-0\n\n"
			   "[White \"B\"]\n\n1. d4 d5 1-0\n\n"
			   "[White \"C\"]\n\n1. c4 c9 1-0\n\n";

static int prepare(void **state)
{
	world_control(state);
	w.world = *state;
	struct chi_client *client = w.world->client;
	if (w.world->kind != WORLD_RADOS) {
		struct chi_import *games = import_open(NULL, NULL);
		assert_int_equal(chi_import_feed(games, text, strlen(text)), CHI_OK);
		assert_int_equal(chi_import_commit(games, NULL), CHI_OK);
		chi_import_close(games);
	}
	a.key = world_key(0);
	a.put.key = a.key;
	a.scan = (struct chi_scan_spec){CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	world_ok(client, chi_put(client, &a.put, 1, CHI_SYNC, NULL));
	assert_int_equal(chi_key_from_fen(FEN, strlen(FEN), &w.start, NULL), CHI_OK);
	world_ok(client, chi_prober_open(client, &world_patience, &w.prober));
	rounds = 0;
	return 0;
}

static int end(void **state)
{
	chi_prober_close(w.prober);
	return world_drop(state);
}

CASE(every_function_has_a_row)
{
	char name[64];
	FILE *file = fopen(CHISTORE_SYMBOLS, "r");
	size_t n = 0;
	assert_non_null(file);
	while (fscanf(file, "%*[^c;{}]") != EOF && !feof(file)) {
		if (fscanf(file, "%63[a-z0-9_]", name) != 1 || strncmp(name, "chi_", 4) != 0) {
			(void)fgetc(file);
			continue;
		}
		bool found = false;
		for (size_t i = 0; i < CHI_COUNT(taking); i++) {
			found = found || strcmp(taking[i].name, name) == 0;
		}
		for (size_t i = 0; i < CHI_COUNT(without); i++) {
			found = found || strcmp(without[i].name, name) == 0;
		}
		for (size_t i = 0; i < CHI_COUNT(own); i++) {
			found = found || strcmp(own[i], name) == 0;
		}
		if (!found) {
			fail_msg("%s has no row", name);
		}
		n++;
	}
	assert_int_equal(fclose(file), 0);
	assert_int_equal(n, CHI_COUNT(taking) + CHI_COUNT(without) + CHI_COUNT(own));
}

CASE(a_walk, prepare, end)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_rows *iter;
	const struct chi_row *row;
	uint64_t before = sequence_of(w.world);
	unsigned n = 0;
	world_ok(client, chi_scan_open(client, &a.scan, &iter));
	everything_is_refused(client, "a scan is open");
	while (chi_scan_next(iter, &row, NULL) == CHI_OK) {
		struct chi_row was = *row;
		everything_is_refused(client, "a scan is open");
		assert_memory_equal(row, &was, sizeof(was));
		assert_true(chi_rows_state(iter)->cursor.set);
		assert_false(chi_rows_state(iter)->mixed);
		assert_null(chi_unknown_name(client, 0));
		n++;
	}
	chi_rows_close(iter);
	assert_int_equal(n, w.world->kind == WORLD_RADOS ? 1 : 7);
	world_ok(client, chi_ping(client));
	assert_int_equal(sequence_of(w.world), before);
}

CASE(a_query_of_games, prepare, end)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_rows *query;
	const struct chi_game_row *row;
	uint64_t before = sequence_of(w.world);
	unsigned n = 0;
	if (w.world->kind == WORLD_RADOS) {
		return;
	}
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .want = CHI_GAMES_TEXTS,
					   .want_total = true};
	world_ok(client, chi_games_open(client, &spec, &query));
	while (chi_games_next(query, &row) == CHI_OK) {
		everything_is_refused(client, "a query of games is open");
		assert_int_equal(row->white[0], 'A' + (int)n++);
		assert_true(chi_rows_state(query)->games[0] != '\0');
		assert_null(chi_unknown_name(client, 0));
	}
	assert_true(chi_rows_state(query)->has_total);
	assert_int_equal(chi_rows_state(query)->total, n);
	chi_rows_close(query);
	assert_int_equal(n, 3);
	world_ok(client, chi_ping(client));
	assert_int_equal(sequence_of(w.world), before);
}

static int in_get_many(void *context, size_t i, const struct chi_record *record)
{
	(void)i;
	(void)record;
	everything_is_refused(context, "called back");
	return CHI_OK;
}

static int in_count(void *context, unsigned thousandths)
{
	(void)thousandths;
	everything_is_refused(context, "called back");
	return -CHI_ECANCELED;
}

static void in_change_names(void *context, size_t i, const char *reason)
{
	(void)i;
	assert_non_null(strstr(reason, "Nemo"));
	everything_is_refused(context, "called back");
}

CASE(a_callback, prepare, end)
{
	struct chi_client *client = ((struct world *)*state)->client;
	const struct chi_key keys[2] = {a.key, a.key};
	uint64_t before = sequence_of(w.world);
	world_ok(client, chi_get_many(client, keys, 2, in_get_many, client));
	assert_int_equal(rounds, 2);
	if (w.world->kind == WORLD_RADOS) {
		return;
	}
	/* In process, where one step is not all that it takes. */
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .games = "plies 1.."};
	uint64_t n = 0;
	if (w.world->kind == WORLD_FILE) {
		world_ok(client, chi_on_progress(client, in_count, client));
		assert_int_equal(chi_scan_count(client, &spec, &n, NULL), -CHI_ECANCELED);
		assert_int_equal(rounds, 3);
		world_ok(client, chi_on_progress(client, NULL, NULL));
	}
	unsigned told = rounds;
	const struct chi_name_change change = {
		.action = CHI_NAME_JOIN, .kind = CHI_NAME_PLAYER, .name = "Nemo", .to = "A"};
	world_ok(client, chi_names_change(client, &change, 1, true, in_change_names, client, NULL));
	assert_int_equal(rounds, told + 1);
	assert_int_equal(sequence_of(w.world), before);
}

static int close_it(void *context, size_t i, const struct chi_record *record)
{
	(void)i;
	(void)record;
	chi_close(context);
	return -CHI_ECANCELED;
}

/* It is closed when the call has ended. */
/* What a callback may try while a page of rows is on its way. */
static int stop_and_close(void *context, unsigned thousandths)
{
	struct chi_rows *rows = *(struct chi_rows **)context;
	const struct chi_row *row;
	(void)thousandths;
	if (rows != NULL) {
		assert_int_equal(chi_ping(w.other), -CHI_EBUSY);
		assert_int_equal(chi_scan_next(rows, &row, NULL), -CHI_EBUSY);
		chi_rows_close(rows);
		chi_close(w.other);
	}
	return CHI_NONE;
}

/* 1, as a program says "stop", was taken for the end: a count of 0, a walk that went on for ever.
 * Closing in it freed the rows that were being made. */
CASE(any_word_but_ok_cancels, prepare, end)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .games = "plies 1.."};
	const struct chi_stats_spec by_year = {CHI_STATS_SPEC_INIT, .by = CHI_STATS_YEAR};
	struct chi_rows *rows = NULL;
	struct chi_stats_result stats;
	const struct chi_row *row;
	uint64_t n = 0;
	if (((struct world *)*state)->kind != WORLD_FILE) {
		return;
	}
	world_ok(w.world->client, chi_open(w.world->address, NULL, &w.other, NULL));
	world_ok(w.other, chi_on_progress(w.other, stop_and_close, &rows));
	assert_int_equal(chi_scan_count(w.other, &spec, &n, NULL), -CHI_ECANCELED);
	assert_int_equal(chi_stats_list(w.other, &by_year, &stats), -CHI_ECANCELED);
	world_ok(w.other, chi_scan_open(w.other, &spec, &rows));
	assert_int_equal(chi_scan_next(rows, &row, NULL), -CHI_ECANCELED);
	assert_int_equal(chi_scan_next(rows, &row, NULL), -CHI_ECANCELED);
	/* And with them the client, as it was closed. */
	chi_rows_close(rows);
}

CASE(closed_by_a_callback, prepare, end)
{
	struct chi_client *client = world_open(*state);
	const struct chi_key keys[2] = {a.key, a.key};
	assert_int_equal(chi_get_many(client, keys, 2, close_it, client), -CHI_ECANCELED);
}

/* The import's own calls; others' clients are not busy. */
static void in_import(void *context, const struct chi_import_note *note)
{
	struct chi_import *games = *(struct chi_import **)context;
	(void)note;
	assert_int_equal(chi_import_feed(games, text, 1), -CHI_EBUSY);
	assert_int_equal(chi_import_file(games, "x"), -CHI_EBUSY);
	assert_int_equal(chi_import_store(games, PATH), -CHI_EBUSY);
	assert_int_equal(chi_import_commit(games, NULL), -CHI_EBUSY);
	assert_non_null(strstr(chi_import_error(games), "called back"));
	world_ok(w.world->client, chi_ping(w.world->client));
	rounds++;
	chi_import_close(games);
}

CASE(an_import, prepare, end)
{
	static const char wrong[] = "[White \"D\"]\n\n1. c4 c9 1-0\n\n";
	struct chi_import *games = NULL;
	if (w.world->kind == WORLD_RADOS) {
		return;
	}
	games = import_open(in_import, &games);
	assert_int_equal(chi_import_feed(games, wrong, strlen(wrong)), CHI_OK);
	if (rounds == 0) {
		assert_int_equal(chi_import_commit(games, NULL), CHI_OK);
	}
	assert_int_equal(rounds, 1);
}

WORLD_MAIN
