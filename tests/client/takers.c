/* SPDX-License-Identifier: MIT */
#include "tests/base/cases.h"
#include "tests/client/lifetimes.h"

#include <string.h>

#include "base/attr.h"
#include "tests/client/world.h"

/* ---- Calls that take some ------------------------------------------------------------------ */

static void print_text(FILE *to, const char *text, size_t len)
{
	(void)fprintf(to, "%zu:", len);
	(void)fwrite(text, 1, len, to);
}

static void print_record(FILE *to, const struct chi_record *record)
{
	(void)fprintf(to, "%zu moves, ", record->n_moves);
	print_text(to, record->note, record->n_note);
	(void)fwrite(record->line, sizeof(*record->line), record->n_line, to);
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		print_text(to, eval->engine, eval->engine_len);
		(void)fwrite(eval->pv, sizeof(*eval->pv), eval->n_pv, to);
	}
}

/* What is stored, as another client reads it. */
static void print_stored(const struct fixture *f, const struct chi_key *key, FILE *to)
{
	struct chi_record record;
	(void)fprintf(to, "%d ", chi_get(f->other, key, &record));
	print_record(to, &record);
}

static void print_explore(FILE *to, const struct chi_explored *explore)
{
	(void)fprintf(to, "%d, %zu moves, ", explore->position.found, explore->n_moves);
	(void)fwrite(&explore->position.key, 1, sizeof(explore->position.key), to);
	if (explore->n_moves > 0) {
		(void)fwrite(&explore->moves[0].child.key, 1, sizeof(struct chi_key), to);
	}
}

static void print_queue(FILE *to, const struct chi_queue_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		(void)fwrite(&rows[i].key, 1, sizeof(rows[i].key), to);
		print_text(to, rows[i].holder, strlen(rows[i].holder));
	}
}

static void print_waiting(const struct fixture *f, FILE *to)
{
	struct chi_queue_page list;
	world_ok(f->other, chi_queue_list(f->other, CHI_QUEUE_WAITING, NULL, 9, &list));
	print_queue(to, list.rows, list.n);
}

static void to_probe(const struct fixture *f, const struct offer *o, FILE *to)
{
	struct chi_row row;
	world_ok(f->client, chi_probe(f->client, o->key, 1, &row));
	(void)fwrite(&row, 1, sizeof(row), to);
}

static void to_get(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client, chi_get(f->client, o->key, &in.record));
	print_record(to, &in.record);
}

static int each(void *context, size_t i, const struct chi_record *record)
{
	(void)i;
	print_record(context, record);
	return CHI_OK;
}

static void to_get_many(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client, chi_get_many(f->client, o->key, 1, each, to));
}

/* Into the struct that the key may be of, as one who walks a book does. */
static void to_explore(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client, chi_explore(f->client, o->key, NULL, NULL, &in.explore));
	print_explore(to, &in.explore);
}

static void to_explore_filtered(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client, chi_explore(f->client, o->key, "result 1-0", NULL, &in.explore));
	print_explore(to, &in.explore);
}

static void to_put(const struct fixture *f, const struct offer *o, FILE *to)
{
	struct chi_put_entry put = {.key = f->start,
				    .parts = CHI_PUT_NOTE | CHI_PUT_LINE | CHI_PUT_EVALS,
				    .record = *o->record};
	/* They follow from the games. */
	put.record.n_moves = 0;
	put.record.n_plies = 0;
	world_ok(f->client, chi_put(f->client, &put, 1, CHI_SYNC, NULL));
	print_stored(f, &put.key, to);
}

static void to_note(const struct fixture *f, const struct offer *o, FILE *to)
{
	const struct chi_put_entry put = {.key = world_key(98),
					  .parts = CHI_PUT_NOTE,
					  .record = {.note = o->name, .n_note = strlen(o->name)}};
	world_ok(f->client, chi_put(f->client, &put, 1, CHI_ASYNC, NULL));
	world_ok(f->client, chi_flush(f->client));
	print_stored(f, &put.key, to);
}

static void to_delete(const struct fixture *f, const struct offer *o, FILE *to)
{
	struct chi_key key = o->queued->key;
	world_ok(f->client, chi_delete(f->client, &o->queued->key, 1, CHI_SYNC, NULL));
	print_stored(f, &key, to);
	fixture_note(f, key);
	fixture_restore(f);
}

static void to_queue_add(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client, chi_queue_add(f->client, o->key, 1, 9, NULL));
	print_waiting(f, to);
	fixture_restore(f);
}

static void to_queue_take(const struct fixture *f, const struct offer *o, FILE *to)
{
	const struct chi_queue_take_spec take = {CHI_QUEUE_TAKE_SPEC_INIT, .holder = o->name,
						 .lease_ms = HOUR, .keys = f->queued,
						 .n_keys = QUEUED};
	int status = chi_queue_take(f->client, &take, &in.lease);
	(void)fprintf(to, "%d", status);
	print_queue(to, in.lease.rows, in.lease.n);
	if (status == CHI_OK) {
		world_ok(f->other, chi_queue_settle(f->other, in.lease.lease, CHI_QUEUE_RELEASE,
						    f->queued, QUEUED, 0, NULL));
	}
}

static void to_queue_take_keys(const struct fixture *f, const struct offer *o, FILE *to)
{
	const struct chi_queue_take_spec take = {CHI_QUEUE_TAKE_SPEC_INIT, .holder = "you",
						 .lease_ms = HOUR, .keys = o->key, .n_keys = 1};
	struct chi_key key = *o->key;
	world_ok(f->client, chi_queue_take(f->client, &take, &in.lease));
	print_queue(to, in.lease.rows, in.lease.n);
	world_ok(f->other, chi_queue_settle(f->other, in.lease.lease, CHI_QUEUE_RELEASE, &key,
					    in.lease.n, 0, NULL));
}

static void to_queue_settle(const struct fixture *f, const struct offer *o, FILE *to)
{
	uint64_t done;
	world_ok(f->client, chi_queue_settle(f->client, o->queued->lease, CHI_QUEUE_EXTEND,
					     &o->queued->key, 1, HOUR, &done));
	(void)fprintf(to, "%u", (unsigned)done);
}

static void to_queue_drop(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client,
		 chi_queue_settle(f->client, 0, CHI_QUEUE_DROP, &o->queued->key, 1, 0, NULL));
	print_waiting(f, to);
	fixture_restore(f);
}

static void to_queue_list(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client, chi_queue_list(f->client, o->queued->state, o->queued, 9, &in.list));
	print_queue(to, in.list.rows, in.list.n);
}

static void to_names(const struct fixture *f, const struct offer *o, FILE *to)
{
	const struct chi_names_spec spec = {CHI_NAMES_SPEC_INIT, .kind = CHI_NAME_PLAYER,
					    .wanted = o->name, .limit = 9};
	int status = chi_names_list(f->client, &spec, &in.names);
	(void)fprintf(to, "%d", status);
	for (size_t i = 0; i < in.names.n; i++) {
		print_text(to, in.names.rows[i].text, strlen(in.names.rows[i].text));
	}
}

static void refused(void *context, size_t i, const char *reason)
{
	(void)fprintf(context, "%zu %s", i, reason);
}

static void to_change_names(const struct fixture *f, const struct offer *o, FILE *to)
{
	struct chi_names_changed did;
	const struct chi_name_change changes[] = {
		{.action = CHI_NAME_JOIN,
		 .kind = CHI_NAME_PLAYER,
		 .name = o->name,
		 .to = "Black 1"},
		{.action = CHI_NAME_JOIN,
		 .kind = CHI_NAME_PLAYER,
		 .name = "Black 2",
		 .to = o->name},
	};
	int status = chi_names_change(f->client, changes, 2, true, refused, to, &did);
	(void)fprintf(to, "%d %u", status, (unsigned)did.changed);
}

static void to_make_gameset(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client, chi_gameset_make(f->client, "fresh", o->filter, NULL));
	world_ok(f->other, chi_gamesets_list(f->other, "fresh", &in.gamesets));
	print_text(to, in.gamesets.rows[0].filter, strlen(in.gamesets.rows[0].filter));
	fixture_restore(f);
}

static void to_get_gamesets(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client, chi_gamesets_list(f->client, o->gameset, &in.gamesets));
	print_text(to, in.gamesets.rows[0].name, strlen(in.gamesets.rows[0].name));
	(void)fprintf(to, "%u games", (unsigned)in.gamesets.rows[0].games);
}

static void to_drop_gameset(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client, chi_gameset_drop(f->client, o->gameset));
	world_ok(f->other, chi_gamesets_list(f->other, NULL, &in.gamesets));
	(void)fprintf(to, "%zu left", in.gamesets.n);
	fixture_restore(f);
}

static void to_stats(const struct fixture *f, const struct offer *o, FILE *to)
{
	world_ok(f->client,
		 chi_stats_list(f->client,
				&(struct chi_stats_spec){CHI_STATS_SPEC_INIT, .by = CHI_STATS_EVENT,
							 .filter = o->filter},
				&in.stats));
	for (size_t i = 0; i < in.stats.n; i++) {
		print_text(to, in.stats.groups[i].text, strlen(in.stats.groups[i].text));
	}
}

static void to_twins(const struct fixture *f, const struct offer *o, FILE *to)
{
	const struct chi_twin_spec spec = {CHI_TWIN_SPEC_INIT, .filter = o->filter};
	world_ok(f->client, chi_twins_list(f->client, &spec, &in.twins));
	(void)fprintf(to, "%zu groups", in.twins.n);
}

static void to_insight(const struct fixture *f, const struct offer *o, FILE *to)
{
	const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .filter = o->filter};
	world_ok(f->client, chi_insight_list(f->client, &spec, &in.insight));
	(void)fprintf(to, "%zu findings", in.insight.n);
}

static void to_heads(const struct fixture *f, const struct offer *o, FILE *to)
{
	struct chi_game_row rows[9];
	assert_in_range(o->n_games, 2, CHI_COUNT(rows));
	world_ok(f->client, chi_game_heads(f->client, o->games, o->n_games, rows));
	for (size_t i = 0; i < o->n_games; i++) {
		print_text(to, rows[i].white, strlen(rows[i].white));
	}
}

static void to_count(const struct fixture *f, const struct offer *o, FILE *to)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .games = o->filter};
	uint64_t n;
	world_ok(f->client, chi_scan_count(f->client, &spec, &n, NULL));
	(void)fprintf(to, "%u", (unsigned)n);
}

static void to_iter(const struct fixture *f, const struct offer *o, FILE *to)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION, .want = CHI_WANT_RECORDS,
					   .games = o->filter};
	struct chi_rows *iter;
	const struct chi_row *row;
	const struct chi_record *record;
	world_ok(f->client, chi_scan_open(f->client, &spec, &iter));
	while (chi_scan_next(iter, &row, &record) == CHI_OK) {
		(void)fwrite(&row->key, 1, sizeof(row->key), to);
		print_record(to, record);
	}
	chi_rows_close(iter);
}

static void walk_games(const struct fixture *f, const struct chi_game_spec *spec, FILE *to)
{
	struct chi_rows *query;
	const struct chi_game_row *row;
	world_ok(f->client, chi_games_open(f->client, spec, &query));
	while (chi_games_next(query, &row) == CHI_OK) {
		/* It lives while the rest of the query is asked. */
		(void)chi_rows_state(query);
		(void)chi_unknown_name(f->client, 0);
		print_text(to, row->pgn, row->pgn_len);
		print_text(to, row->white, strlen(row->white));
	}
	chi_rows_close(query);
}

static void to_query_filter(const struct fixture *f, const struct offer *o, FILE *to)
{
	walk_games(f,
		   &(struct chi_game_spec){CHI_GAME_SPEC_INIT, .filter = o->filter,
					   .want = CHI_GAMES_PGN},
		   to);
}

static void to_query_position(const struct fixture *f, const struct offer *o, FILE *to)
{
	walk_games(f,
		   &(struct chi_game_spec){CHI_GAME_SPEC_INIT, .position = o->key,
					   .want = CHI_GAMES_PGN},
		   to);
}

/* A whole game is for its reader alone. */
static void to_reading(const struct fixture *f, const struct offer *o, FILE *to)
{
	const struct chi_game *game = o->game;
	(void)f;
	for (size_t i = 0; i < game->n_tags; i++) {
		print_text(to, game->tags[i].name, game->tags[i].name_len);
		print_text(to, game->tags[i].value, game->tags[i].value_len);
	}
	(void)fwrite(game->moves, sizeof(*game->moves), game->n_plies, to);
	(void)fwrite(game->notes, 1, game->n_notes, to);
	print_text(to, game->rest, game->n_rest);
}

static bool has_key(const struct offer *o)
{
	return o->key != NULL;
}

static bool has_record(const struct offer *o)
{
	return o->record != NULL;
}

static bool has_name(const struct offer *o)
{
	return o->name != NULL;
}

static bool has_filter(const struct offer *o)
{
	return o->filter != NULL;
}

static bool has_gameset(const struct offer *o)
{
	return o->gameset != NULL;
}

static bool has_games(const struct offer *o)
{
	return o->games != NULL;
}

static bool has_game(const struct offer *o)
{
	return o->game != NULL;
}

static bool has_queued(const struct offer *o)
{
	return o->queued != NULL;
}

const struct taker takers[TAKERS] = {
	{"chi_probe", has_key, to_probe, false},
	{"chi_get", has_key, to_get, false},
	{"chi_get_many", has_key, to_get_many, false},
	{"chi_explore", has_key, to_explore, false},
	{"chi_explore, filtered", has_key, to_explore_filtered, true},
	{"chi_put", has_record, to_put, false},
	{"chi_put, a note", has_name, to_note, false},
	{"chi_delete", has_queued, to_delete, true},
	{"chi_queue_add", has_key, to_queue_add, true},
	{"chi_queue_take", has_name, to_queue_take, true},
	{"chi_queue_take, positions", has_key, to_queue_take_keys, true},
	{"chi_queue_settle", has_queued, to_queue_settle, true},
	{"chi_queue_settle to drop", has_queued, to_queue_drop, true},
	{"chi_queue_list", has_queued, to_queue_list, true},
	{"chi_names_list", has_name, to_names, true},
	{"chi_names_change", has_name, to_change_names, true},
	{"chi_gameset_make", has_filter, to_make_gameset, true},
	{"chi_gamesets_list", has_gameset, to_get_gamesets, true},
	{"chi_gameset_drop", has_gameset, to_drop_gameset, true},
	{"chi_stats_list", has_filter, to_stats, true},
	{"chi_twins_list", has_filter, to_twins, true},
	{"chi_insight_list", has_filter, to_insight, true},
	{"chi_game_heads", has_games, to_heads, true},
	{"chi_scan_count", has_filter, to_count, true},
	{"chi_scan_open", has_filter, to_iter, true},
	{"chi_games_open, a filter", has_filter, to_query_filter, true},
	{"chi_games_open, a position", has_key, to_query_position, true},
	{"reading it", has_game, to_reading, true},
};
