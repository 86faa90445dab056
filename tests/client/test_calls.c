/* SPDX-License-Identifier: MIT */
/*
 * Every public call, against a store in this process or behind a daemon: the same body, the same
 * answers. Argument: file, unix or tcp; the last two need CHISTORED.
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

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static enum world_kind kind;

static int make_with(void **state, enum chi_statistic statistic)
{
	struct world *world = calloc(1, sizeof(*world));
	world_make(world, kind, statistic);
	*state = world;
	return 0;
}

static int make_external(void **state)
{
	return make_with(state, CHI_STATISTIC_EXTERNAL);
}

static int make_control(void **state)
{
	return make_with(state, CHI_STATISTIC_CONTROL);
}

static int drop(void **state)
{
	world_free(*state);
	free(*state);
	return 0;
}

/* CHI_OK, or the client's own words. */
static void ok(struct chi_client *client, int status)
{
	if (status != CHI_OK) {
		fail_msg("status %d: %s", status, chi_error(client));
	}
	assert_string_equal(chi_error(client), "");
}

static void refused(struct chi_client *client, int status, int wanted, const char *says)
{
	if (status != wanted || strstr(chi_error(client), says) == NULL) {
		fail_msg("status %d, not %d: '%s' lacks '%s'", status, wanted, chi_error(client),
			 says);
	}
}

static struct chi_key key_of(const char *fen)
{
	struct chi_key key;
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &key, NULL), CHI_OK);
	return key;
}

/* `n` puts of the positions from `from` on, with chi2 = 100 + index. */
static struct chi_put *make_puts(unsigned from, size_t n)
{
	struct chi_put *puts = calloc(n, sizeof(*puts));
	for (size_t i = 0; i < n; i++) {
		puts[i].key = world_key(from + (unsigned)i);
		puts[i].parts = CHI_PUT_CHI2 | CHI_PUT_COUNTS;
		puts[i].record.chi2 = (uint16_t)(100 + (from + i) % 20000);
		puts[i].record.counts.white = from + i;
	}
	return puts;
}

static void fill(struct chi_client *client, unsigned from, size_t n)
{
	_cleanup_(chi_freep) struct chi_put *puts = make_puts(from, n);
	struct chi_put_result did;
	ok(client, chi_put(client, puts, n, CHI_SYNC, &did));
	assert_int_equal(did.added, n);
}

static void empty_store(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_key key = key_of(START);
	struct chi_record record;
	struct chi_info info;
	struct chi_row row = {.found = true};
	struct chi_scan_spec all = {.chi2_max = CHI_CHI2_MAX};
	uint64_t count = 1;
	bool mixed = true;
	ok(client, chi_ping(client));
	ok(client, chi_get_info(client, &info));
	assert_int_equal(info.statistic, CHI_STATISTIC_EXTERNAL);
	assert_int_equal(info.positions, 0);
	assert_int_equal(chi_get(client, &key, &record), CHI_NONE);
	ok(client, chi_probe(client, &key, 1, &row));
	assert_false(row.found);
	ok(client, chi_probe(client, NULL, 0, NULL));
	ok(client, chi_count(client, &all, &count, &mixed));
	assert_int_equal(count, 0);
	assert_false(mixed);
	struct chi_iter *iter = NULL;
	const struct chi_row *found = NULL;
	ok(client, chi_iter_open(client, &all, &iter));
	assert_int_equal(chi_iter_next(iter, &found, NULL), CHI_NONE);
	assert_int_equal(chi_iter_next(iter, &found, NULL), CHI_NONE);
	struct chi_cursor cursor = {.set = true};
	chi_iter_cursor(iter, &cursor);
	assert_false(cursor.set);
	chi_iter_close(iter);
	struct chi_answer answer;
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	ok(client, chi_flush(client));
}

static chi_move move_of(const struct chi_key *key, const char *text)
{
	chi_move move = 0;
	assert_int_equal(chi_key_move(key, text, strlen(text), &move, NULL), CHI_OK);
	return move;
}

/* Every part of a record there and back. */
static void whole_record(void **state)
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
	struct chi_put put = {
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
	ok(client, chi_put(client, &put, 1, CHI_SYNC, &did));
	assert_int_equal(did.added, 1);
	ok(client, chi_put(client, &put, 1, CHI_SYNC, &did));
	assert_int_equal(did.unchanged, 1);
	struct chi_record got;
	ok(client, chi_get(client, &key, &got));
	assert_int_equal(got.chi2, 3982);
	assert_memory_equal(&got.counts, &put.record.counts, sizeof(got.counts));
	assert_int_equal(got.n_moves, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(got.moves[i].move, moves[i].move);
		assert_memory_equal(&got.moves[i].counts, &moves[i].counts,
				    sizeof(moves[i].counts));
	}
	assert_int_equal(got.n_evals, 2);
	assert_string_equal(got.evals[0].engine, "Alpha");
	assert_int_equal(got.evals[0].score, -25);
	assert_int_equal(got.evals[0].nodes, 1u << 30);
	assert_int_equal(got.evals[0].date, 1700000000);
	assert_int_equal(got.evals[0].n_pv, 1);
	assert_int_equal(got.evals[0].pv[0], e4);
	assert_true(got.evals[1].is_mate);
	assert_int_equal(got.evals[1].score, -3);
	assert_int_equal(got.n_line, 1);
	assert_int_equal(got.line[0], d4);
	assert_int_equal(got.n_note, 5);
	assert_string_equal(got.note, "caf\xc3\xa9");
}

/* A fault in one entry: named the same everywhere, and nothing of the batch is stored. */
static void faulty_batches(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	_cleanup_(chi_freep) struct chi_put *puts = make_puts(0, 3);
	for (size_t i = 0; i < 3; i++) {
		puts[i].parts = 0;
	}
	puts[1].parts = CHI_PUT_CHI2;
	refused(client, chi_put(client, puts, 3, CHI_SYNC, NULL), -CHI_EINVAL, "entry 1: ");
	puts[1].parts = 0;
	puts[2].parts = CHI_PUT_NOTE;
	puts[2].record.note = "\xff";
	puts[2].record.n_note = 1;
	refused(client, chi_put(client, puts, 3, CHI_SYNC, NULL), -CHI_EINVAL, "entry 2: ");
	puts[2].parts = 0;
	puts[0].key.bytes[0] ^= 1;
	refused(client, chi_put(client, puts, 3, CHI_SYNC, NULL), -CHI_EKEY, "entry 0: ");
	struct chi_row row;
	struct chi_key key = world_key(1);
	ok(client, chi_probe(client, &key, 1, &row));
	assert_false(row.found);
	/* Bytes that no position has are refused, or simply not stored. */
	ok(client, chi_probe(client, &puts[0].key, 1, &row));
	assert_false(row.found);
	struct chi_key cut = puts[1].key;
	cut.len--;
	refused(client, chi_probe(client, &cut, 1, &row), -CHI_EKEY, "entry 0: ");
	cut.len = 255;
	refused(client, chi_delete(client, &cut, 1, CHI_SYNC, NULL), -CHI_EKEY, "entry 0: ");
	refused(client, chi_put(client, puts, 3, (enum chi_durability)2, NULL), -CHI_EINVAL,
		"durability");
	_cleanup_(chi_freep) struct chi_put *many = calloc(10001, sizeof(*many));
	refused(client, chi_put(client, many, 10001, CHI_SYNC, NULL), -CHI_ETOOBIG, "10001");
	/* The refused have done no harm. */
	puts[0].key = world_key(0);
	struct chi_put_result did;
	ok(client, chi_put(client, puts, 3, CHI_SYNC, &did));
	assert_int_equal(did.added, 3);
}

static void deleting(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	fill(client, 0, 10);
	struct chi_key keys[5];
	for (unsigned i = 0; i < 5; i++) {
		keys[i] = world_key(8 + i);
	}
	uint64_t deleted = 0;
	ok(client, chi_delete(client, keys, 5, CHI_SYNC, &deleted));
	assert_int_equal(deleted, 2);
	ok(client, chi_delete(client, keys, 5, CHI_SYNC, NULL));
	struct chi_info info;
	ok(client, chi_get_info(client, &info));
	assert_int_equal(info.positions, 8);
	assert_int_equal(info.known, 8);
}

/* More than one request's worth; every third is stored. */
static void large_probes(void **state)
{
	enum {
		N = 3 * 4096 + 17
	};
	struct chi_client *client = ((struct world *)*state)->client;
	_cleanup_(chi_freep) struct chi_key *keys = calloc(N, sizeof(*keys));
	_cleanup_(chi_freep) struct chi_row *rows = calloc(N, sizeof(*rows));
	_cleanup_(chi_freep) struct chi_put *puts = calloc(N, sizeof(*puts));
	size_t n = 0;
	for (unsigned i = 0; i < N; i++) {
		keys[i] = world_key(i);
		if (i % 3 == 0) {
			puts[n].key = keys[i];
			puts[n].parts = CHI_PUT_CHI2;
			puts[n++].record.chi2 = (uint16_t)(i + 1);
		}
	}
	ok(client, chi_put(client, puts, n, CHI_SYNC, NULL));
	ok(client, chi_probe(client, keys, N, rows));
	for (unsigned i = 0; i < N; i++) {
		assert_memory_equal(&rows[i].key, &keys[i], sizeof(keys[i]));
		assert_int_equal(rows[i].found, i % 3 == 0);
		assert_int_equal(rows[i].chi2, i % 3 == 0 ? i + 1 : 0);
	}
}

/* Unsynced writes are seen by their own client, and by others after a flush. */
static void async_writes(void **state)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	_cleanup_(chi_freep) struct chi_put *puts = make_puts(0, 100);
	struct chi_put_result did;
	ok(client, chi_put(client, puts, 50, CHI_ASYNC, &did));
	assert_int_equal(did.added, 50);
	ok(client, chi_put(client, puts, 100, CHI_ASYNC, &did));
	assert_int_equal(did.added, 50);
	assert_int_equal(did.unchanged, 50);
	struct chi_row row;
	ok(client, chi_probe(client, &puts[99].key, 1, &row));
	assert_true(row.found);
	uint64_t deleted = 0;
	ok(client, chi_delete(client, &puts[99].key, 1, CHI_ASYNC, &deleted));
	assert_int_equal(deleted, 1);
	ok(client, chi_put(client, NULL, 0, CHI_ASYNC, NULL));
	ok(client, chi_flush(client));
	ok(client, chi_flush(client));
	struct chi_client *other = world_open(world);
	struct chi_info info;
	ok(other, chi_get_info(other, &info));
	assert_int_equal(info.positions, 99);
	chi_close(other);
}

/* What was written unsynced before a close is there once anyone's synced write is. */
static void async_then_close(void **state)
{
	struct world *world = *state;
	_cleanup_(chi_freep) struct chi_put *puts = make_puts(0, 10);
	ok(world->client, chi_put(world->client, puts, 10, CHI_ASYNC, NULL));
	chi_close(world->client);
	world->client = world_open(world);
	fill(world->client, 10, 1);
	struct chi_info info;
	ok(world->client, chi_get_info(world->client, &info));
	assert_int_equal(info.positions, 11);
}

/* Reads a scan to its end; each statistic must follow the one before. Returns the rows. */
static uint64_t walk(struct chi_client *client, const struct chi_scan_spec *spec)
{
	struct chi_iter *iter = NULL;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	uint64_t n = 0;
	int last = spec->descending ? CHI_CHI2_MAX : 0;
	int status;
	ok(client, chi_iter_open(client, spec, &iter));
	while ((status = chi_iter_next(iter, &row, &record)) == CHI_OK) {
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
	assert_false(chi_iter_mixed(iter));
	chi_iter_close(iter);
	return n;
}

static void scans(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	fill(client, 0, 10000);
	fill(client, 10000, 10000);
	for (int want = CHI_WANT_KEYS; want <= CHI_WANT_RECORDS; want++) {
		struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX, .want = (uint8_t)want};
		assert_int_equal(walk(client, &spec), 20000);
		spec.descending = true;
		assert_int_equal(walk(client, &spec), 20000);
		spec.chi2_min = 1000;
		spec.chi2_max = 1999;
		assert_int_equal(walk(client, &spec), 1000);
		spec.limit = 10;
		assert_int_equal(walk(client, &spec), 10);
		/* A filter and what counts it. */
		spec = (struct chi_scan_spec){.chi2_max = CHI_CHI2_MAX, .want = (uint8_t)want};
		spec.filter.games_min = 19990;
		assert_int_equal(walk(client, &spec), 10);
		uint64_t count = 0;
		ok(client, chi_count(client, &spec, &count, NULL));
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
	struct chi_scan_spec wrong = {.chi2_min = 2, .chi2_max = 1};
	struct chi_iter *iter = NULL;
	uint64_t count = 0;
	assert_int_equal(chi_iter_open(client, &wrong, &iter), -CHI_EINVAL);
	assert_null(iter);
	assert_string_not_equal(chi_error(client), "");
	assert_int_equal(chi_count(client, &wrong, &count, NULL), -CHI_EINVAL);
}

/* Stopping early at many places, with the connection good for more, and going on by the cursor:
 * together the pieces are the whole. */
static void pieces_of_a_scan(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	fill(client, 0, 10000);
	struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_COUNTS};
	uint64_t total = 0;
	uint64_t sum = 0;
	for (unsigned piece = 1;; piece = piece * 3) {
		struct chi_iter *iter = NULL;
		const struct chi_row *row = NULL;
		int status = CHI_OK;
		ok(client, chi_iter_open(client, &spec, &iter));
		for (unsigned i = 0; i < piece && status == CHI_OK; i++) {
			status = chi_iter_next(iter, &row, NULL);
			if (status == CHI_OK) {
				total++;
				sum += row->counts.white;
			}
		}
		chi_iter_cursor(iter, &spec.after);
		chi_iter_close(iter);
		ok(client, chi_ping(client));
		if (status == CHI_NONE) {
			break;
		}
		assert_int_equal(status, CHI_OK);
	}
	assert_int_equal(total, 10000);
	assert_int_equal(sum, 10000ull * 9999 / 2);
}

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
	fill(client, 0, 100);
	ok(client, chi_iter_open(client, &spec, &iter));
	refused(client, chi_ping(client), -CHI_EBUSY, "scan");
	refused(client, chi_probe(client, &key, 1, &row), -CHI_EBUSY, "scan");
	refused(client, chi_iter_open(client, &spec, &second), -CHI_EBUSY, "scan");
	refused(client, chi_pipe_probe(client, &key, 1), -CHI_EBUSY, "scan");
	chi_iter_close(iter);
	ok(client, chi_pipe_probe(client, &key, 1));
	refused(client, chi_ping(client), -CHI_EBUSY, "1 answers");
	refused(client, chi_iter_open(client, &spec, &second), -CHI_EBUSY, "1 answers");
	chi_close(client);
	world->client = world_open(world);
	ok(world->client, chi_iter_open(world->client, &spec, &iter));
	chi_close(world->client);
	world->client = NULL;
}

static void pipelines(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	_cleanup_(chi_freep) struct chi_put *puts = make_puts(0, 640);
	struct chi_answer answer;
	/* Each put is followed by a probe of what it stored and of what is not stored yet. */
	for (unsigned i = 0; i < 32; i++) {
		struct chi_key keys[2] = {puts[20 * i].key, world_key(100000 + i)};
		ok(client,
		   chi_pipe_put(client, puts + 20 * i, 20, i % 2 == 0 ? CHI_SYNC : CHI_ASYNC));
		ok(client, chi_pipe_probe(client, keys, 2));
	}
	refused(client, chi_pipe_probe(client, &puts[0].key, 1), -CHI_EBUSY, "unanswered");
	for (unsigned i = 0; i < 32; i++) {
		ok(client, chi_pipe_next(client, &answer));
		assert_int_equal(answer.status, CHI_OK);
		assert_int_equal(answer.put.added, 20);
		assert_null(answer.rows);
		ok(client, chi_pipe_next(client, &answer));
		assert_int_equal(answer.status, CHI_OK);
		assert_int_equal(answer.n_rows, 2);
		assert_memory_equal(&answer.rows[0].key, &puts[20 * i].key, sizeof(struct chi_key));
		assert_false(answer.rows[1].found);
	}
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	ok(client, chi_flush(client));
	/* A refused request is one among the answers. */
	puts[1].parts = CHI_PUT_ADD | CHI_PUT_COUNTS;
	ok(client, chi_pipe_probe(client, &puts[0].key, 1));
	ok(client, chi_pipe_put(client, puts, 2, CHI_SYNC));
	ok(client, chi_pipe_probe(client, &puts[639].key, 1));
	ok(client, chi_pipe_next(client, &answer));
	assert_true(answer.rows[0].found);
	assert_int_equal(chi_pipe_next(client, &answer), CHI_OK);
	refused(client, answer.status, -CHI_EINVAL, "entry 1: ");
	ok(client, chi_pipe_next(client, &answer));
	assert_true(answer.rows[0].found);
	/* Out of bounds: refused at once, nothing is queued. */
	_cleanup_(chi_freep) struct chi_key *keys = calloc(4097, sizeof(*keys));
	refused(client, chi_pipe_probe(client, keys, 4097), -CHI_ETOOBIG, "4097");
	refused(client, chi_pipe_probe(client, keys, 1), -CHI_EKEY, "entry 0");
	refused(client, chi_pipe_probe(client, keys, 0), -CHI_EINVAL, "1 to 4096");
	assert_int_equal(chi_pipe_next(client, &answer), CHI_NONE);
	ok(client, chi_ping(client));
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
	fill(client, 0, 4096);
	for (unsigned i = 0; i < 64; i++) {
		ok(client, chi_pipe_probe(client, keys, 4096));
	}
	for (unsigned i = 0; i < 64; i++) {
		ok(client, chi_pipe_next(client, &answer));
		assert_int_equal(answer.n_rows, 4096);
		assert_int_equal(answer.rows[4095].counts.white, 4095);
	}
}

static void count_reports(void *context, const char *text)
{
	(void)text;
	++*(unsigned *)context;
}

static void whole_store(void **state)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	struct chi_verify_result found;
	unsigned reports = 0;
	uint64_t before = 0;
	uint64_t after = 0;
	fill(client, 0, 3000);
	ok(client, chi_verify(client, count_reports, &reports, &found));
	assert_int_equal(reports, 0);
	assert_int_equal(found.positions, 3000);
	assert_int_equal(found.known, 3000);
	assert_int_equal(found.errors, 0);
	char copy[96];
	(void)snprintf(copy, sizeof(copy), "%.60s/copy", world->dir);
	ok(client, chi_backup(client, copy));
	assert_int_equal(chi_backup(client, copy), -CHI_EEXIST);
	struct chi_client *other = NULL;
	struct chi_info info;
	assert_int_equal(chi_open(copy, NULL, &other, NULL), CHI_OK);
	ok(other, chi_get_info(other, &info));
	assert_int_equal(info.positions, 3000);
	chi_close(other);
	ok(client, chi_compact(client, &before, &after));
	assert_true(after > 0 && after <= before);
	fill(client, 3000, 10);
	refused(client, chi_rescore(client, NULL, NULL), -CHI_EUNSUPPORTED, "");
	struct chi_counts base = {1, 2, 3, 4};
	ok(client, chi_put_base(client, &base));
	ok(client, chi_get_info(client, &info));
	assert_memory_equal(&info.base, &base, sizeof(base));
	assert_int_equal(info.positions, 3010);
}

static void control_store(void **state)
{
	struct chi_client *client = ((struct world *)*state)->client;
	struct chi_put put = {.key = key_of(START)};
	struct chi_row row;
	uint64_t changed = 1;
	ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	ok(client, chi_probe(client, &put.key, 1, &row));
	assert_int_equal(row.chi2, 7600);
	ok(client, chi_rescore(client, NULL, &changed));
	assert_int_equal(changed, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(empty_store, make_external, drop),
		cmocka_unit_test_setup_teardown(whole_record, make_external, drop),
		cmocka_unit_test_setup_teardown(faulty_batches, make_control, drop),
		cmocka_unit_test_setup_teardown(deleting, make_external, drop),
		cmocka_unit_test_setup_teardown(large_probes, make_external, drop),
		cmocka_unit_test_setup_teardown(async_writes, make_external, drop),
		cmocka_unit_test_setup_teardown(async_then_close, make_external, drop),
		cmocka_unit_test_setup_teardown(scans, make_external, drop),
		cmocka_unit_test_setup_teardown(pieces_of_a_scan, make_external, drop),
		cmocka_unit_test_setup_teardown(busy_clients, make_external, drop),
		cmocka_unit_test_setup_teardown(pipelines, make_external, drop),
		cmocka_unit_test_setup_teardown(heavy_pipeline, make_external, drop),
		cmocka_unit_test_setup_teardown(whole_store, make_external, drop),
		cmocka_unit_test_setup_teardown(control_store, make_control, drop),
	};
	const char *name = argc > 1 ? argv[1] : "file";
	kind = strcmp(name, "tcp") == 0	   ? WORLD_TCP
	       : strcmp(name, "unix") == 0 ? WORLD_UNIX
					   : WORLD_FILE;
	if (!world_possible(kind)) {
		printf("1..0 # SKIP CHISTORED does not name the daemon\n");
		return 0;
	}
	return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}
