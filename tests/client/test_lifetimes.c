/* SPDX-License-Identifier: MIT */
/*
 * How long an answer lives: each call that returns pointers, then each call that takes some of the
 * same, with calls that return nothing in between. What comes of it must be what comes of copies;
 * under ASan a pointer that is read too late stops the test. Argument: file, unix, tcp or rados,
 * which has records alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/client/lifetimes.h"
#include "tests/client/world.h"

#define WIDE_NOTE 60000
#define WIDE_NAME 100

/* ---- The stores -------------------------------------------------------------------------- */

static void import(const struct fixture *f)
{
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	struct chi_import *games = NULL;
	char pgn[4096];
	int len = 0;
	for (int i = 0; i < 6; i++) {
		len += snprintf(pgn + len, sizeof(pgn) - (size_t)len,
				"[White \"%s\"]\n[Black \"Black %d\"]\n[Date \"2020.01.0%d\"]\n"
				"[Event \"Event %d\"]\n[Result \"1-0\"]\n\n"
				"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 1-0\n\n",
				i % 2 == 0 ? f->name : "Carlsen, M", i / 2, 1 + i / 2, i);
	}
	assert_int_equal(chi_import_open(f->world->address, NULL, 0, &options, &games, NULL),
			 CHI_OK);
	assert_int_equal(chi_import_feed(games, pgn, (size_t)len), CHI_OK);
	assert_int_equal(chi_import_commit(games, NULL), CHI_OK);
	chi_import_close(games);
}

void fixture_note(const struct fixture *f, struct chi_key key)
{
	const struct chi_put_entry put = {
		.key = key,
		.parts = CHI_PUT_NOTE,
		.record = {.note = f->note, .n_note = strlen(f->note)},
	};
	world_ok(f->other, chi_put(f->other, &put, 1, CHI_SYNC, NULL));
}

/* What else a record leads to. */
static void put_lines(const struct fixture *f)
{
	chi_move line[PLIES];
	struct chi_key after;
	const struct chi_eval eval = {.engine = "Engine",
				      .engine_len = 6,
				      .depth = 9,
				      .score = 30,
				      .pv = line,
				      .n_pv = PLIES};
	const struct chi_put_entry put = {
		.key = f->start,
		.parts = CHI_PUT_LINE | CHI_PUT_EVALS,
		.record = {.line = line, .n_line = PLIES, .evals = &eval, .n_evals = 1},
	};
	assert_int_equal(chi_key_move(&f->start, "e4", 2, &line[0], NULL), CHI_OK);
	assert_int_equal(chi_key_play(&f->start, line[0], &after), CHI_OK);
	assert_int_equal(chi_key_move(&after, "e5", 2, &line[1], NULL), CHI_OK);
	world_ok(f->other, chi_put(f->other, &put, 1, CHI_SYNC, NULL));
}

/* Without games: a move that was played. */
static void put_move(const struct fixture *f)
{
	struct chi_move_stat stat = {.counts.white = 3};
	struct chi_put_entry put = {.key = f->start,
				    .parts = CHI_PUT_ADD,
				    .record = {.counts.white = 3, .moves = &stat, .n_moves = 1}};
	assert_int_equal(chi_key_move(&f->start, "e4", 2, &stat.move, NULL), CHI_OK);
	world_ok(f->other, chi_put(f->other, &put, 1, CHI_SYNC, NULL));
}

static void make(struct fixture *f, struct world *world, bool wide)
{
	static const char fen[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
	size_t n_note = wide ? WIDE_NOTE : 5;
	struct chi_explored explore;
	*f = (struct fixture){.world = world, .client = world->client};
	f->other = world_open(world);
	f->third = world_open(world);
	f->note = calloc(1, n_note + 1);
	memset(f->note, 'n', n_note);
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &f->start, NULL), CHI_OK);
	strcpy(f->name, "Carlsen, Magnus");
	memset(f->name + strlen(f->name), 'g', wide ? WIDE_NAME : 1);
	(void)snprintf(f->filter, sizeof(f->filter), "not player \"Absent\" not event \"No %s\"",
		       f->name);
	if (world->kind == WORLD_RADOS) {
		put_move(f);
	} else {
		import(f);
	}
	world_ok(f->other, chi_explore(f->other, &f->start, NULL, NULL, &explore));
	fixture_note(f, explore.moves[0].child.key);
	fixture_note(f, f->start);
	put_lines(f);
	for (unsigned i = 0; i < QUEUED; i++) {
		f->queued[i] = world_key(i);
		fixture_note(f, f->queued[i]);
	}
	fixture_restore(f);
}

static void drop(struct fixture *f)
{
	chi_close(f->other);
	chi_close(f->third);
	free(f->note);
}

/* The queue and the gamesets are as at first. */
void fixture_restore(const struct fixture *f)
{
	if (f->world->kind != WORLD_RADOS) {
		int status = chi_gameset_drop(f->other, "fresh");
		assert_true(status == CHI_OK || status == CHI_NONE);
		status = chi_gameset_make(f->other, "mine", f->filter, NULL);
		assert_true(status == CHI_OK || status == -CHI_EEXIST);
		world_ok(f->other, chi_queue_settle(f->other, 0, CHI_QUEUE_DROP, NULL, 0, 0, NULL));
		world_ok(f->other, chi_queue_add(f->other, f->queued, QUEUED, 5, NULL));
	}
}

/* ---- Calls that return pointers ------------------------------------------------------------ */

struct client_answer in;

static void from_get(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	world_ok(client, chi_get(client, &f->start, &in.record));
	out->record = &in.record;
	out->name = in.record.note;
}

static void from_explore(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	world_ok(client, chi_explore(client, &f->start, NULL, NULL, &in.explore));
	out->key = &in.explore.moves[0].child.key;
}

static void from_explore_filtered(const struct fixture *f, struct chi_client *client,
				  struct offer *out)
{
	world_ok(client, chi_explore(client, &f->start, f->filter, NULL, &in.explore));
	out->key = &in.explore.moves[0].child.key;
}

static void from_names(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	const struct chi_names_spec spec = {CHI_NAMES_SPEC_INIT, .kind = CHI_NAME_PLAYER,
					    .limit = 9};
	world_ok(client, chi_names_list(client, &spec, &in.names));
	out->name = in.names.rows[0].text;
}

static void from_suspects(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	world_ok(client, chi_suspects_list(client,
					   &(struct chi_suspects_spec){CHI_SUSPECTS_SPEC_INIT,
								       .kind = CHI_NAME_PLAYER,
								       .least = 60, .limit = 9},
					   &in.suspects));
	out->name = in.suspects.groups[0].names[0].text;
}

static void from_gamesets(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	world_ok(client, chi_gamesets_list(client, NULL, &in.gamesets));
	out->gameset = in.gamesets.rows[0].name;
	out->filter = in.gamesets.rows[0].filter;
}

static void from_one_gameset(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	world_ok(client, chi_gamesets_list(client, "mine", &in.gamesets));
	out->gameset = in.gamesets.rows[0].name;
	out->filter = in.gamesets.rows[0].filter;
}

static void from_stats(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	world_ok(client, chi_stats_list(client,
					&(struct chi_stats_spec){CHI_STATS_SPEC_INIT,
								 .by = CHI_STATS_PLAYER},
					&in.stats));
	out->name = in.stats.groups[0].text;
}

static void from_twins(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	const struct chi_twin_spec spec = {CHI_TWIN_SPEC_INIT, .days = 0, .plies = 0};
	world_ok(client, chi_twins_list(client, &spec, &in.twins));
	out->games = in.twins.groups[0].games;
	out->n_games = in.twins.groups[0].n;
}

static void from_lease(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	const struct chi_queue_take_spec take = {CHI_QUEUE_TAKE_SPEC_INIT, .holder = "me",
						 .lease_ms = HOUR, .limit = 2};
	static uint64_t held;
	/* What the last one took is free again. */
	world_ok(f->other,
		 chi_queue_settle(f->other, held, CHI_QUEUE_RELEASE, f->queued, QUEUED, 0, NULL));
	world_ok(client, chi_queue_take(client, &take, &in.lease));
	held = in.lease.lease;
	out->queued = &in.lease.rows[0];
	out->key = &in.lease.rows[0].key;
	out->name = in.lease.rows[0].holder;
}

static void from_queue(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	world_ok(client, chi_queue_list(client, CHI_QUEUE_WAITING, NULL, 9, &in.list));
	out->queued = &in.list.rows[0];
	out->key = &in.list.rows[0].key;
}

static void from_game(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	world_ok(client, chi_game_get(client, 1, &in.row, NULL));
	out->name = in.row.white;
}

static void from_whole_game(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	world_ok(client, chi_game_get(client, 1, &in.row, &in.game));
	out->game = &in.game;
	out->name = in.row.black;
}

static void from_heads(const struct fixture *f, struct chi_client *client, struct offer *out)
{
	(void)f;
	world_ok(client, chi_game_heads(client, (uint32_t[]){1, 2}, 2, in.heads));
	out->name = in.heads[1].white;
}

struct source {
	const char *name;
	void (*ask)(const struct fixture *f, struct chi_client *client, struct offer *out);
	enum {
		OF_RECORDS,
		OF_GAMES,
		OF_QUEUE /* nothing of it is wide */
	} of;
};

static const struct source sources[] = {
	{"chi_get", from_get, OF_RECORDS},
	{"chi_explore", from_explore, OF_RECORDS},
	{"chi_explore, filtered", from_explore_filtered, OF_GAMES},
	{"chi_names_list", from_names, OF_GAMES},
	{"chi_suspects_list", from_suspects, OF_GAMES},
	{"chi_gamesets_list", from_gamesets, OF_GAMES},
	{"chi_gamesets_list, one", from_one_gameset, OF_GAMES},
	{"chi_stats_list", from_stats, OF_GAMES},
	{"chi_twins_list", from_twins, OF_GAMES},
	{"chi_queue_take", from_lease, OF_QUEUE},
	{"chi_queue_list", from_queue, OF_QUEUE},
	{"chi_game_get", from_game, OF_GAMES},
	{"chi_game_get, whole", from_whole_game, OF_GAMES},
	{"chi_game_heads", from_heads, OF_GAMES},
};

/* ---- All of them --------------------------------------------------------------------------- */

static int ignore(void *context, size_t i, const struct chi_record *record)
{
	(void)context;
	(void)i;
	(void)record;
	return CHI_OK;
}

/* Calls that return nothing, and need room for what they do. */
static void pass_time(const struct fixture *f, bool write)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	const struct chi_put_entry put = {.key = world_key(97),
					  .parts = CHI_PUT_NOTE,
					  .record = {.note = f->note, .n_note = strlen(f->note)}};
	struct chi_row row;
	struct chi_info info;
	uint64_t n;
	world_ok(f->client, chi_ping(f->client));
	world_ok(f->client, chi_probe(f->client, f->queued, 1, &row));
	world_ok(f->client, chi_store_info(f->client, &info));
	world_ok(f->client, chi_get_many(f->client, f->queued, QUEUED, ignore, NULL));
	world_ok(f->client, chi_scan_count(f->client, &spec, &n, NULL));
	if (write) {
		world_ok(f->client, chi_put(f->client, &put, 1, CHI_SYNC, NULL));
	}
}

/* What the taker makes of an answer of its own client, or of another one's, which it cannot touch.
 */
static char *outcome(const struct fixture *f, const struct source *source,
		     const struct taker *taker, struct chi_client *from, bool write)
{
	char *text = NULL;
	size_t size = 0;
	struct offer offer = {.key = NULL};
	FILE *to = open_memstream(&text, &size);
	source->ask(f, from, &offer);
	pass_time(f, write);
	taker->take(f, &offer, to);
	assert_int_equal(fclose(to), 0);
	return text;
}

static unsigned try_source(const struct fixture *f, const struct source *source)
{
	struct offer offer = {.key = NULL};
	unsigned tried = 0;
	source->ask(f, f->third, &offer);
	for (size_t i = 0; i < CHI_COUNT(takers); i++) {
		if (!takers[i].fits(&offer) ||
		    (f->world->kind == WORLD_RADOS && takers[i].of_games)) {
			continue;
		}
		_cleanup_(chi_freep) char *own =
			outcome(f, source, &takers[i], f->client, tried == 0);
		_cleanup_(chi_freep) char *others = outcome(f, source, &takers[i], f->third, false);
		if (strcmp(own, others) != 0) {
			fail_msg("%s -> %s: '%.100s', not '%.100s'", source->name, takers[i].name,
				 own, others);
		}
		tried++;
	}
	return tried;
}

static void try_all(struct world *world, bool wide)
{
	struct fixture f;
	unsigned tried = 0;
	make(&f, world, wide);
	for (size_t i = 0; i < CHI_COUNT(sources); i++) {
		if ((world->kind != WORLD_RADOS || sources[i].of == OF_RECORDS) &&
		    (!wide || sources[i].of != OF_QUEUE)) {
			tried += try_source(&f, &sources[i]);
		}
	}
	print_message("# %u pairs\n", tried);
	drop(&f);
}

CASE(answers_of_small_records, world_control, world_drop)
{
	try_all(*state, false);
}

CASE(answers_of_wide_records, world_control, world_drop)
{
	try_all(*state, true);
}

/* The names that a filter has in vain live through the next call, whatever it returns. */
CASE(names_that_fit_nothing, world_control, world_drop)
{
	struct fixture f;
	uint64_t n;
	if (world_chosen() == WORLD_RADOS) {
		return;
	}
	make(&f, *state, true);
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .games = "player \"Absent\""};
	world_ok(f.client, chi_scan_count(f.client, &spec, &n, NULL));
	const char *name = chi_unknown_name(f.client, 0);
	assert_string_equal(name, "Absent");
	const struct chi_names_spec wanted = {CHI_NAMES_SPEC_INIT, .kind = CHI_NAME_PLAYER,
					      .wanted = name, .limit = 9};
	world_ok(f.client, chi_names_list(f.client, &wanted, &in.names));
	assert_int_equal(in.names.n, 0);
	assert_null(chi_unknown_name(f.client, 0));
	drop(&f);
}

/* A call that finds nothing returns no answer: the one before stays. */
CASE(what_is_not_there_ends_no_answer, world_control, world_drop)
{
	struct fixture f;
	struct chi_gamesets none;
	if (world_chosen() == WORLD_RADOS) {
		return;
	}
	make(&f, *state, false);
	const struct chi_names_spec wanted = {CHI_NAMES_SPEC_INIT, .kind = CHI_NAME_PLAYER,
					      .limit = 9};
	world_ok(f.client, chi_names_list(f.client, &wanted, &in.names));
	assert_true(in.names.n > 0);
	const size_t len = strlen(in.names.rows[0].text);
	assert_int_equal(chi_gamesets_list(f.client, "absent", &none), CHI_NONE);
	assert_int_equal(chi_gamesets_list(f.client, "absent", &none), CHI_NONE);
	assert_int_equal(strlen(in.names.rows[0].text), len);
	drop(&f);
}

CASE(a_query_leaves_the_pgn_of_a_game, world_control, world_drop)
{
	struct fixture f;
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .want = CHI_GAMES_PGN,
					   .descending = true, .limit = 1};
	struct chi_rows *query = NULL;
	const struct chi_game_row *row = NULL;
	if (world_chosen() == WORLD_RADOS) {
		return;
	}
	make(&f, *state, false);
	world_ok(f.client, chi_game_get(f.client, 1, &in.row, NULL));
	_cleanup_(chi_freep) char *pgn = strdup(in.row.pgn);
	world_ok(f.client, chi_games_open(f.client, &spec, &query));
	world_ok(f.client, chi_games_next(query, &row));
	assert_string_equal(in.row.pgn, pgn);
	assert_string_not_equal(row->pgn, pgn);
	chi_rows_close(query);
	drop(&f);
}

WORLD_MAIN
