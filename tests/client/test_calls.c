/* SPDX-License-Identifier: MIT */
/*
 * Every public call, against a store in this process or behind a daemon: the same body, the same
 * answers. Argument: file, unix or tcp; the last two need CHISTORED.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/client/world.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static struct chi_key key_of(const char *fen)
{
	struct chi_key key;
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &key, NULL), CHI_OK);
	return key;
}

CASE(empty_store, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_key key = key_of(START);
	struct chi_record record;
	struct chi_info info;
	struct chi_row row = {.found = true};
	struct chi_scan_spec all = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	uint64_t count = 1;
	bool mixed = true;
	struct chi_disk_check disk;
	world_ok(client, chi_ping(client));
	world_ok(client, chi_store_check_disk(client, &disk));
	world_ok(client, chi_store_info(client, &info));
	assert_int_equal(info.statistic, CHI_STATISTIC_EXTERNAL);
	assert_int_equal(info.positions, 0);
	assert_int_equal(chi_get(client, &key, &record), CHI_NONE);
	world_ok(client, chi_probe(client, &key, 1, &row));
	assert_false(row.found);
	world_ok(client, chi_probe(client, NULL, 0, NULL));
	world_ok(client, chi_scan_count(client, &all, &count, &mixed));
	assert_int_equal(count, 0);
	assert_false(mixed);
	struct chi_rows *iter = NULL;
	const struct chi_row *found = NULL;
	world_ok(client, chi_scan_open(client, &all, &iter));
	assert_int_equal(chi_scan_next(iter, &found, NULL), CHI_NONE);
	assert_int_equal(chi_scan_next(iter, &found, NULL), CHI_NONE);
	struct chi_cursor cursor = {.set = true};
	cursor = chi_rows_state(iter)->cursor;
	assert_false(cursor.set);
	chi_rows_close(iter);
	world_ok(client, chi_flush(client));
}

static chi_move move_of(const struct chi_key *key, const char *text)
{
	chi_move move = 0;
	assert_int_equal(chi_key_move(key, text, strlen(text), &move, NULL), CHI_OK);
	return move;
}

/* Every part of a record there and back. */
/* The server's record is what was put. */
static void is_record(struct chi_client *client, const struct chi_key *key,
		      const struct chi_record *put)
{
	struct chi_record got;
	world_ok(client, chi_get(client, key, &got));
	assert_int_equal(got.chi2, put->chi2);
	assert_memory_equal(&got.counts, &put->counts, sizeof(got.counts));
	assert_int_equal(got.n_moves, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(got.moves[i].move, put->moves[i].move);
		assert_memory_equal(&got.moves[i].counts, &put->moves[i].counts,
				    sizeof(put->moves[i].counts));
	}
	assert_int_equal(got.n_evals, 2);
	assert_string_equal(got.evals[0].engine, "Alpha");
	assert_int_equal(got.evals[0].score, -25);
	assert_int_equal(got.evals[0].nodes, 1u << 30);
	assert_int_equal(got.evals[0].date, 1700000000);
	assert_int_equal(got.evals[0].n_pv, 1);
	assert_int_equal(got.evals[0].pv[0], put->evals[0].pv[0]);
	assert_true(got.evals[1].is_mate);
	assert_int_equal(got.evals[1].score, -3);
	assert_int_equal(got.n_line, 1);
	assert_int_equal(got.line[0], put->line[0]);
	assert_int_equal(got.n_note, 5);
	assert_string_equal(got.note, put->note);
}

CASE(whole_record, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_key key = key_of(START);
	chi_move e4 = move_of(&key, "e4");
	chi_move d4 = move_of(&key, "d2d4");
	struct chi_move_stat moves[2] = {{d4, {1, 2, 3, 4}}, {e4, {5, 6, 7, 8}}};
	if (e4 < d4) {
		struct chi_move_stat swap = moves[0];
		moves[0] = moves[1];
		moves[1] = swap;
	}
	struct chi_eval evals[] = {
		{.engine = "Alpha",
		 .engine_len = 5,
		 .depth = 30,
		 .score = -25,
		 .nodes = 1u << 30,
		 .date = 1700000000,
		 .pv = &e4,
		 .n_pv = 1},
		{.engine = "Beta", .engine_len = 4, .depth = 12, .is_mate = true, .score = -3},
	};
	struct chi_put_entry put = {
		.key = key,
		.parts = CHI_PUT_CHI2 | CHI_PUT_COUNTS | CHI_PUT_MOVES | CHI_PUT_EVALS |
			 CHI_PUT_LINE | CHI_PUT_NOTE,
		.record = {.chi2 = 3982,
			   .counts = {60, 80, 100, 12},
			   .moves = moves,
			   .n_moves = 2,
			   .evals = evals,
			   .n_evals = 2,
			   .line = &d4,
			   .n_line = 1,
			   .note = "caf\xc3\xa9",
			   .n_note = 5},
	};
	struct chi_put_result did;
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, &did));
	assert_int_equal(did.added, 1);
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, &did));
	assert_int_equal(did.unchanged, 1);
	is_record(client, &key, &put.record);
}

/* A fault in one entry: named the same everywhere, and nothing of the batch is stored. */
CASE(faulty_batches, world_control, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	_cleanup_(chi_freep) struct chi_put_entry *puts = world_puts(0, 3);
	for (size_t i = 0; i < 3; i++) {
		puts[i].parts = 0;
	}
	puts[1].parts = CHI_PUT_CHI2;
	world_refused(client, chi_put(client, puts, 3, CHI_SYNC, NULL), -CHI_EINVAL, "entry 1: ");
	puts[1].parts = 0;
	puts[2].parts = CHI_PUT_NOTE;
	puts[2].record.note = "\xff";
	puts[2].record.n_note = 1;
	world_refused(client, chi_put(client, puts, 3, CHI_SYNC, NULL), -CHI_EINVAL, "entry 2: ");
	puts[2].parts = 0;
	puts[0].key.bytes[0] ^= 1;
	world_refused(client, chi_put(client, puts, 3, CHI_SYNC, NULL), -CHI_EKEY, "entry 0: ");
	struct chi_row row;
	struct chi_key key = world_key(1);
	world_ok(client, chi_probe(client, &key, 1, &row));
	assert_false(row.found);
	/* Bytes that no position has are refused, or simply not stored. */
	world_ok(client, chi_probe(client, &puts[0].key, 1, &row));
	assert_false(row.found);
	struct chi_key cut = puts[1].key;
	cut.len--;
	world_refused(client, chi_probe(client, &cut, 1, &row), -CHI_EKEY, "entry 0: ");
	cut.len = 255;
	world_refused(client, chi_delete(client, &cut, 1, CHI_SYNC, NULL), -CHI_EKEY, "entry 0: ");
	world_refused(client, chi_put(client, puts, 3, (enum chi_durability)2, NULL), -CHI_EINVAL,
		      "durability");
	_cleanup_(chi_freep) struct chi_put_entry *many = calloc(10001, sizeof(*many));
	world_refused(client, chi_put(client, many, 10001, CHI_SYNC, NULL), -CHI_ETOOBIG, "10001");
	/* The refused have done no harm, and parts that are not named are ignored. */
	puts[1].record.chi2 = UINT16_MAX;
	puts[0].key = world_key(0);
	struct chi_put_result did;
	world_ok(client, chi_put(client, puts, 3, CHI_SYNC, &did));
	assert_int_equal(did.added, 3);
}

/* What was added is taken away again in whole: moves and plies, too, over a socket, too. */
CASE(adding_and_subtracting, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_key key = key_of(START);
	struct chi_move_stat moves[] = {{move_of(&key, "e4"), {.white = 2}}};
	struct chi_ply_stat plies[] = {{.ply = 0, .games = 2}};
	struct chi_put_entry put = {
		.key = key,
		.parts = CHI_PUT_ADD,
		.record = {.counts = {.white = 2},
			   .moves = moves,
			   .n_moves = 1,
			   .plies = plies,
			   .n_plies = 1},
	};
	struct chi_put_result did;
	struct chi_record got;
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	put.parts = CHI_PUT_SUBTRACT;
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	world_ok(client, chi_get(client, &key, &got));
	assert_int_equal(got.n_moves, 1);
	assert_int_equal(got.moves[0].counts.white, 2);
	assert_int_equal(got.n_plies, 1);
	assert_int_equal(got.plies[0].games, 2);
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, &did));
	assert_int_equal(did.removed, 1);
	put.parts = CHI_PUT_CHI2;
	world_refused(client, chi_put(client, &put, 1, CHI_SYNC, NULL), -CHI_EINVAL, "plies");
}

CASE(deleting, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	world_fill(client, 0, 10);
	struct chi_key keys[5];
	for (unsigned i = 0; i < 5; i++) {
		keys[i] = world_key(8 + i);
	}
	uint64_t deleted = 0;
	world_ok(client, chi_delete(client, keys, 5, CHI_SYNC, &deleted));
	assert_int_equal(deleted, 2);
	world_ok(client, chi_delete(client, keys, 5, CHI_SYNC, NULL));
	struct chi_info info;
	world_ok(client, chi_store_info(client, &info));
	assert_int_equal(info.positions, 8);
	assert_int_equal(info.known, 8);
}

/* More than one request's worth; every third is stored. */
CASE(large_probes, world_external, world_drop)
{
	enum {
		N = 3 * 4096 + 17
	};
	struct chi_client *client = ((struct world *)*state)->client;
	_cleanup_(chi_freep) struct chi_key *keys = calloc(N, sizeof(*keys));
	_cleanup_(chi_freep) struct chi_row *rows = calloc(N, sizeof(*rows));
	_cleanup_(chi_freep) struct chi_put_entry *puts = calloc(N, sizeof(*puts));
	size_t n = 0;
	for (unsigned i = 0; i < N; i++) {
		keys[i] = world_key(i);
		if (i % 3 == 0) {
			puts[n].key = keys[i];
			puts[n].parts = CHI_PUT_CHI2;
			puts[n++].record.chi2 = (uint16_t)(i + 1);
		}
	}
	world_ok(client, chi_put(client, puts, n, CHI_SYNC, NULL));
	world_ok(client, chi_probe(client, keys, N, rows));
	for (unsigned i = 0; i < N; i++) {
		assert_memory_equal(&rows[i].key, &keys[i], sizeof(keys[i]));
		assert_int_equal(rows[i].found, i % 3 == 0);
		assert_int_equal(rows[i].chi2, i % 3 == 0 ? i + 1 : 0);
	}
}

/* Unsynced writes are seen by their own client, and by others after a flush. */
CASE(async_writes, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	_cleanup_(chi_freep) struct chi_put_entry *puts = world_puts(0, 100);
	struct chi_put_result did;
	world_ok(client, chi_put(client, puts, 50, CHI_ASYNC, &did));
	assert_int_equal(did.added, 50);
	world_ok(client, chi_put(client, puts, 100, CHI_ASYNC, &did));
	assert_int_equal(did.added, 50);
	assert_int_equal(did.unchanged, 50);
	struct chi_row row;
	world_ok(client, chi_probe(client, &puts[99].key, 1, &row));
	assert_true(row.found);
	uint64_t deleted = 0;
	world_ok(client, chi_delete(client, &puts[99].key, 1, CHI_ASYNC, &deleted));
	assert_int_equal(deleted, 1);
	world_ok(client, chi_put(client, NULL, 0, CHI_ASYNC, NULL));
	world_ok(client, chi_flush(client));
	world_ok(client, chi_flush(client));
	struct chi_client *other = world_open(world);
	struct chi_info info;
	world_ok(other, chi_store_info(other, &info));
	assert_int_equal(info.positions, 99);
	chi_close(other);
}

/* What was written unsynced before a close is there once anyone's synced write is. */
CASE(async_then_close, world_external, world_drop)
{
	struct world *world = *state;
	_cleanup_(chi_freep) struct chi_put_entry *puts = world_puts(0, 10);
	world_ok(world->client, chi_put(world->client, puts, 10, CHI_ASYNC, NULL));
	chi_close(world->client);
	world->client = world_open(world);
	world_fill(world->client, 10, 1);
	struct chi_info info;
	world_ok(world->client, chi_store_info(world->client, &info));
	assert_int_equal(info.positions, 11);
}

/* Reads a scan to its end; each statistic must follow the one before. Returns the rows. */
static uint64_t walk(struct chi_client *client, const struct chi_scan_spec *spec)
{
	struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	uint64_t n = 0;
	int last = spec->descending ? CHI_CHI2_MAX : 0;
	int status;
	world_ok(client, chi_scan_open(client, spec, &iter));
	while ((status = chi_scan_next(iter, &row, &record)) == CHI_OK) {
		assert_true(spec->descending ? row->chi2 <= last : row->chi2 >= last);
		assert_true(row->found);
		assert_int_equal(record != NULL, spec->want == CHI_WANT_RECORDS);
		if (record != NULL) {
			assert_int_equal(record->chi2, row->chi2);
		}
		if (spec->want != CHI_WANT_KEYS) {
			assert_int_equal(row->counts.white % 20000 + 100, row->chi2);
		}
		last = row->chi2;
		n++;
	}
	if (status != CHI_NONE) {
		fail_msg("status %d: %s", status, chi_error(client));
	}
	assert_false(chi_rows_state(iter)->mixed);
	chi_rows_close(iter);
	return n;
}

CASE(scans, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	world_fill(client, 0, 10000);
	world_fill(client, 10000, 10000);
	for (int want = CHI_WANT_KEYS; want <= CHI_WANT_RECORDS; want++) {
		struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					     .want = (uint8_t)want};
		assert_int_equal(walk(client, &spec), 20000);
		spec.descending = true;
		assert_int_equal(walk(client, &spec), 20000);
		spec.chi2_min = 1000;
		spec.chi2_max = 1999;
		assert_int_equal(walk(client, &spec), 1000);
		spec.limit = 10;
		assert_int_equal(walk(client, &spec), 10);
		/* A filter and what counts it. */
		spec = (struct chi_scan_spec){CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					      .want = (uint8_t)want};
		spec.filter.games_min = 19990;
		assert_int_equal(walk(client, &spec), 10);
		uint64_t count = 0;
		world_ok(client, chi_scan_count(client, &spec, &count, NULL));
		assert_int_equal(count, 10);
		spec.filter = (struct chi_filter){.has_material = true};
		assert_int_equal(chi_material_parse("KNvK", 4, &spec.filter.material, NULL),
				 CHI_OK);
		assert_int_equal(walk(client, &spec), 20000);
		assert_int_equal(chi_material_parse("KvKN", 4, &spec.filter.material, NULL),
				 CHI_OK);
		assert_int_equal(walk(client, &spec), 0);
		spec.filter.either_colour = true;
		assert_int_equal(walk(client, &spec), 20000);
	}
	struct chi_scan_spec wrong = {CHI_SCAN_SPEC_INIT, .chi2_min = 2, .chi2_max = 1};
	struct chi_rows *iter = NULL;
	uint64_t count = 0;
	assert_int_equal(chi_scan_open(client, &wrong, &iter), -CHI_EINVAL);
	assert_null(iter);
	assert_string_not_equal(chi_error(client), "");
	assert_int_equal(chi_scan_count(client, &wrong, &count, NULL), -CHI_EINVAL);
}

/* Sorted by games, and filtered by what records alone tell, on either kind of address. */
CASE(sorted_scans, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	world_fill(client, 0, 10000);
	struct chi_eval evals[] = {{.engine = "A", .engine_len = 1, .depth = 3, .score = 77},
				   {.engine = "B", .engine_len = 1, .depth = 2, .score = 5}};
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT,       .chi2_max = CHI_CHI2_MAX,
				     .want = CHI_WANT_RECORDS, .sort = CHI_SORT_GAMES,
				     .descending = true,       .limit = 300};
	const struct chi_row *row;
	const struct chi_record *record;
	struct chi_rows *iter;
	struct chi_put_entry evaluated = {0};
	uint64_t count = 0;
	for (int want = CHI_WANT_COUNTS; want <= CHI_WANT_RECORDS; want++) {
		spec.want = (uint8_t)want;
		world_ok(client, chi_scan_open(client, &spec, &iter));
		uint64_t before = UINT64_MAX;
		uint64_t n = 0;
		while (chi_scan_next(iter, &row, &record) == CHI_OK) {
			struct chi_cursor cursor;
			assert_true(row->counts.white <= before);
			assert_int_equal(record != NULL, want == CHI_WANT_RECORDS);
			before = row->counts.white;
			cursor = chi_rows_state(iter)->cursor;
			assert_false(cursor.set);
			if (n++ == 100) {
				struct chi_put_entry put = {
					.parts = CHI_PUT_EVALS,
					.key = row->key,
					.record = {.evals = evals, .n_evals = 2}};
				evaluated = put;
			}
		}
		assert_int_equal(n, 300);
		assert_false(chi_rows_state(iter)->mixed);
		chi_rows_close(iter);
	}
	world_ok(client, chi_put(client, &evaluated, 1, CHI_SYNC, NULL));
	struct chi_scan_spec narrow = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
				       .filter.engines_min = 2};
	world_ok(client, chi_scan_count(client, &narrow, &count, NULL));
	assert_int_equal(count, 1);
	narrow.filter.eval = (struct chi_range){true, CHI_EVAL_EVEN - 77, CHI_EVAL_EVEN + 77};
	assert_int_equal(walk(client, &narrow), 1);
	narrow.filter.eval = (struct chi_range){true, CHI_EVAL_EVEN - 76, CHI_EVAL_EVEN + 76};
	assert_int_equal(walk(client, &narrow), 0);
	narrow.filter = (struct chi_filter){.score = {true, 0, CHI_SHARE_MAX}};
	world_ok(client, chi_scan_count(client, &narrow, &count, NULL));
	assert_true(count > 0 && count < 10000);
	spec.limit = CHI_SORT_MAX + 1;
	assert_int_equal(chi_scan_open(client, &spec, &iter), -CHI_EINVAL);
	spec.limit = 0;
	assert_int_equal(chi_scan_open(client, &spec, &iter), -CHI_EINVAL);
	narrow.filter.score.max++;
	assert_int_equal(chi_scan_count(client, &narrow, &count, NULL), -CHI_EINVAL);
}

/* Stopping early at many places, with the connection good for more, and going on by the cursor:
 * together the pieces are the whole. */
CASE(pieces_of_a_scan, world_external, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	world_fill(client, 0, 10000);
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
				     .want = CHI_WANT_COUNTS};
	uint64_t total = 0;
	uint64_t sum = 0;
	for (unsigned piece = 1;; piece = piece * 3) {
		struct chi_rows *iter = NULL;
		const struct chi_row *row = NULL;
		int status = CHI_OK;
		world_ok(client, chi_scan_open(client, &spec, &iter));
		for (unsigned i = 0; i < piece && status == CHI_OK; i++) {
			status = chi_scan_next(iter, &row, NULL);
			if (status == CHI_OK) {
				total++;
				sum += row->counts.white;
			}
		}
		spec.after = chi_rows_state(iter)->cursor;
		chi_rows_close(iter);
		world_ok(client, chi_ping(client));
		if (status == CHI_NONE) {
			break;
		}
		assert_int_equal(status, CHI_OK);
	}
	assert_int_equal(total, 10000);
	assert_int_equal(sum, 10000ull * 9999 / 2);
}

static void import_games(const char *address, unsigned n)
{
	static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*"};
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	struct chi_import *import = NULL;
	struct chi_import_result did;
	assert_int_equal(
		chi_import_open(address, NULL, (enum chi_statistic)0, &options, &import, NULL),
		CHI_OK);
	for (unsigned i = 0; i < n; i++) {
		char text[160];
		int len =
			snprintf(text, sizeof(text),
				 "[White \"A\"]\n[Black \"B%u\"]\n[Result \"%s\"]\n\n1. e4 %s\n\n",
				 i, results[i % 4], results[i % 4]);
		assert_int_equal(chi_import_feed(import, text, (size_t)len), CHI_OK);
	}
	assert_int_equal(chi_import_commit(import, &did), CHI_OK);
	chi_import_close(import);
}

/* Games by ascending id, in pieces of any size the same. */
CASE(games, world_external, world_drop)
{
	enum {
		GAMES = 12000 /* more than in a response */
	};
	struct world *world = *state;
	static struct chi_game_id all[GAMES];
	static struct chi_game_id page[GAMES + 1];
	unsigned results[4] = {0};
	size_t n = 1;
	world_ok(world->client, chi_game_ids(world->client, NULL, page, GAMES, &n));
	assert_int_equal(n, 0);
	import_games(world->address, GAMES);
	world_ok(world->client, chi_game_ids(world->client, NULL, all, GAMES, &n));
	assert_int_equal(n, GAMES);
	for (unsigned i = 0; i < GAMES; i++) {
		assert_true(i == 0 || memcmp(all[i - 1].id, all[i].id, CHI_GAME_ID_SIZE) < 0);
		results[all[i].result]++;
	}
	for (unsigned i = 0; i < CHI_COUNT(results); i++) {
		assert_int_equal(results[i], GAMES / 4);
	}
	for (size_t max = 1; max <= GAMES + 1; max = max < GAMES / 9 ? max * 9 : max + GAMES / 2) {
		size_t at = max == 1 ? GAMES - 3 : 0;
		do {
			const uint8_t *after = at > 0 ? all[at - 1].id : NULL;
			world_ok(world->client, chi_game_ids(world->client, after, page, max, &n));
			assert_true(at + n <= GAMES);
			assert_memory_equal(page, all + at, n * sizeof(*page));
			at += n;
		} while (n == max);
		assert_int_equal(at, GAMES);
	}
}

CASE(control_store, world_control, world_drop)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_put_entry put = {.key = key_of(START)};
	struct chi_row row;
	uint64_t changed = 1;
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	world_ok(client, chi_probe(client, &put.key, 1, &row));
	assert_int_equal(row.chi2, 7600);
	world_ok(client, chi_store_rescore(client, NULL, &changed));
	assert_int_equal(changed, 0);
}

WORLD_MAIN
