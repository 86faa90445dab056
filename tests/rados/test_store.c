/* SPDX-License-Identifier: MIT */
/* What only a store on RADOS has: writers that do not know each other, shards that disagree,
 * objects of other kinds. The same answers as a directory's, whatever is stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/rados/raw.h"

/* ---- Writers ----------------------------------------------------------------------------- */

#define WRITERS 4
#define BATCHES 8
#define SOME	40

/* Adds a game to each of the positions, again and again. */
static int add_games(const struct world *world)
{
	struct chi_options options = world_options(world);
	struct chi_client *client = NULL;
	struct chi_put_entry puts[SOME] = {{.parts = 0}};
	for (unsigned i = 0; i < SOME; i++) {
		puts[i].key = world_key(i);
		puts[i].parts = CHI_PUT_ADD;
		puts[i].record.counts.white = 1;
	}
	int status = chi_open(world->address, &options, &client, NULL);
	for (unsigned i = 0; i < BATCHES && status == CHI_OK; i++) {
		status = chi_put(client, puts, SOME, CHI_SYNC, NULL);
	}
	chi_close(client);
	return status == CHI_OK ? 0 : 1;
}

CASE(no_update_is_lost, world_external, world_drop)
{
	struct world *world = *state;
	pid_t pids[WRITERS];
	for (unsigned i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			_exit(add_games(world));
		}
	}
	for (unsigned i = 0; i < WRITERS; i++) {
		int status = 0;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	struct chi_row rows[SOME];
	struct chi_key keys[SOME];
	struct chi_info info;
	for (unsigned i = 0; i < SOME; i++) {
		keys[i] = world_key(i);
	}
	world_ok(world->client, chi_probe(world->client, keys, SOME, rows));
	for (unsigned i = 0; i < SOME; i++) {
		assert_int_equal(rows[i].counts.white, WRITERS * BATCHES);
	}
	world_ok(world->client, chi_store_info(world->client, &info));
	assert_int_equal(info.positions, SOME);
	assert_int_equal(info.shards, RAW_SHARDS);
	world_ok(world->client, chi_store_verify(world->client, NULL, NULL, NULL));
}

/* What 20 clients left that are gone. */
static void raw_old_clients(struct raw *raw, uint32_t shard)
{
	for (uint8_t i = 1; i <= 20; i++) {
		const uint8_t id[CHI_CLIENT_ID] = {i};
		const struct chi_shard_client old = {.sequence = 9, .writes = i, .games = {i}};
		uint8_t value[CHI_SHARD_CLIENT_SIZE];
		struct chi_omap_key name;
		chi_omap_key_make(CHI_OMAP_CLIENT, id, sizeof(id), &name);
		chi_shard_client_encode(&old, value);
		raw_set_in(raw, shard, &name, value, sizeof(value));
	}
}

/* Entries of clients that are gone become one, and count as before. */
CASE(old_clients_are_added_up, world_external, world_drop)
{
	struct world *world = *state;
	struct raw raw;
	struct chi_info info;
	struct chi_key key = world_key(0);
	uint32_t shard = raw_shard_of(&key);
	raw_open(world, &raw);
	raw_old_clients(&raw, shard);
	world_fill(world->client, 0, 1);
	assert_int_equal(raw_count(&raw, shard, CHI_OMAP_CLIENT), 2);
	raw_close(&raw);
	world_ok(world->client, chi_store_info(world->client, &info));
	assert_int_equal(info.sequence, 20 * 21 / 2 + 1);
	assert_int_equal(info.games.white, 20 * 21 / 2);
	assert_int_equal(info.positions, 1);
}

/* A damaged sum of clients that are gone is left as it is, and no write waits for it. */
CASE(damaged_sums_are_not_added_to, world_external, world_drop)
{
	static const uint8_t zero[CHI_CLIENT_ID];
	struct world *world = *state;
	struct raw raw;
	struct chi_key key = world_key(0);
	uint32_t shard = raw_shard_of(&key);
	struct chi_omap_key name;
	raw_open(world, &raw);
	raw_old_clients(&raw, shard);
	chi_omap_key_make(CHI_OMAP_CLIENT, zero, sizeof(zero), &name);
	raw_set_in(&raw, shard, &name, "damaged", 7);
	world_fill(world->client, 0, 1);
	assert_int_equal(raw_count(&raw, shard, CHI_OMAP_CLIENT), 22);
	raw_close(&raw);
}

/* ---- Long records ------------------------------------------------------------------------ */

#define LONG_SHARDS 512
#define LONG	    12

/* Of many shards few bytes each are held: listings are cut, and go on. */
CASE(long_records_are_walked, world_external, world_drop)
{
	static char note[60000];
	struct world *world = *state;
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION, .want = CHI_WANT_RECORDS};
	struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	unsigned n = 0;
	memset(note, 'x', sizeof(note));
	(void)snprintf(world->address, sizeof(world->address),
		       "rados:chistore/l-%d?conf=%.300s&shards=%d", (int)getpid(),
		       getenv("CHISTORE_TEST_RADOS"), LONG_SHARDS);
	assert_int_equal(
		chi_store_create(world->address, CHI_STATISTIC_EXTERNAL, CHI_KEEP_COUNTS, NULL),
		CHI_OK);
	chi_close(world->client);
	world->client = world_open(world);
	for (unsigned i = 0; n < LONG; i++) {
		struct chi_put_entry put = {.key = world_key(i),
					    .parts = CHI_PUT_NOTE,
					    .record = {.note = note, .n_note = sizeof(note)}};
		if (chi_shard_of(put.key.bytes, put.key.len, LONG_SHARDS) == 0) {
			world_ok(world->client, chi_put(world->client, &put, 1, CHI_SYNC, NULL));
			n++;
		}
	}
	world_ok(world->client, chi_scan_open(world->client, &spec, &iter));
	for (; n > 0; n--) {
		world_ok(world->client, chi_scan_next(iter, &row, &record));
		assert_int_equal(record->n_note, sizeof(note));
	}
	assert_int_equal(chi_scan_next(iter, &row, &record), CHI_NONE);
	chi_rows_close(iter);
	world_ok(world->client, chi_store_verify(world->client, NULL, NULL, NULL));
}

/* ---- Damage ------------------------------------------------------------------------------ */

static void keep_report(void *context, const char *text)
{
	(void)snprintf(context, CHI_FAULT_SIZE, "%s", text);
}

static void assert_damaged(struct world *world, uint64_t errors, const char *says)
{
	char report[CHI_FAULT_SIZE] = "";
	struct chi_verify_result found;
	assert_int_equal(chi_store_verify(world->client, keep_report, report, &found),
			 -CHI_ECORRUPT);
	assert_int_equal(found.errors, errors);
	if (strstr(report, says) == NULL) {
		fail_msg("'%s' lacks '%s'", report, says);
	}
}

/* As in test_damage.c: asked for in one request, records must not fail for each other. */
CASE(a_damaged_record_fails_alone, world_external, world_drop)
{
	enum {
		STORED = 20,
		DAMAGED = 7
	};
	struct world *world = *state;
	struct chi_prober *prober = NULL;
	struct chi_key keys[STORED];
	uint64_t tickets[STORED];
	struct chi_omap_key position;
	struct raw raw;
	world_fill(world->client, 0, STORED);
	for (unsigned i = 0; i < STORED; i++) {
		keys[i] = world_key(i);
	}
	raw_open(world, &raw);
	chi_omap_key_make(CHI_OMAP_POSITION, keys[DAMAGED].bytes, keys[DAMAGED].len, &position);
	raw_set_in(&raw, raw_shard_of(&keys[DAMAGED]), &position, "damaged", 7);
	raw_close(&raw);
	world_ok(world->client, chi_prober_open(world->client, &world_patience, &prober));
	assert_int_equal(chi_prober_prefetch(prober, keys, STORED, tickets), CHI_OK);
	for (unsigned i = 0; i < STORED; i++) {
		struct chi_row row;
		int status = chi_prober_collect(prober, tickets[i], &row);
		assert_int_equal(status, i == DAMAGED ? -CHI_ECORRUPT : CHI_OK);
		assert_true(i == DAMAGED || row.chi2 == 100 + i);
	}
	chi_prober_close(prober);
}

CASE(verify_finds_damage, world_external, world_drop)
{
	struct world *world = *state;
	struct raw raw;
	struct chi_key key = world_key(3);
	struct chi_row row;
	struct chi_omap_key strength;
	struct chi_omap_key position;
	const uint8_t line[] = {1, 2};
	raw_open(world, &raw);
	world_fill(world->client, 0, 200);
	world_ok(world->client, chi_probe(world->client, &key, 1, &row));
	chi_omap_strength(row.chi2, &key, &strength);
	chi_omap_key_make(CHI_OMAP_POSITION, key.bytes, key.len, &position);
	raw_set_in(&raw, raw_shard_of(&key), &strength, NULL, 0);
	assert_damaged(world, 2, "its counters say");
	raw_set_in(&raw, raw_shard_of(&key), &strength, line, sizeof(line));
	assert_damaged(world, 1, "its strength entry has another line");
	raw_set_in(&raw, raw_shard_of(&key), &strength, "", 0);
	world_ok(world->client, chi_store_verify(world->client, NULL, NULL, NULL));
	raw_set_in(&raw, (raw_shard_of(&key) + 1) % RAW_SHARDS, &strength, "", 0);
	assert_damaged(world, 2, "its counters say");
	raw_set_in(&raw, (raw_shard_of(&key) + 1) % RAW_SHARDS, &strength, NULL, 0);
	raw_set_in(&raw, raw_shard_of(&key), &position, "damaged", 7);
	assert_damaged(world, 1, "its checksum is wrong");
	world_refused(world->client, chi_probe(world->client, &key, 1, &row), -CHI_ECORRUPT,
		      "is damaged");
	raw_close(&raw);
}

/* ---- Other heads ------------------------------------------------------------------------- */

static void assert_unopened(const struct world *world, int status, const char *says)
{
	struct chi_client *client = NULL;
	struct chi_fault fault = {{0}};
	assert_int_equal(chi_open(world->address, NULL, &client, &fault), status);
	if (strstr(fault.text, says) == NULL) {
		fail_msg("'%s' lacks '%s'", fault.text, says);
	}
}

CASE(other_heads_are_refused, world_external, world_drop)
{
	struct world *world = *state;
	struct raw raw;
	struct chi_rados_head head;
	struct chi_fault fault = {{0}};
	char text[CHI_RADOS_HEAD_SIZE];
	struct chi_prober *prober = NULL;
	world_ok(world->client, chi_prober_open(world->client, &world_patience, &prober));
	raw_open(world, &raw);
	raw_read_head(&raw, &head);
	raw_head(&raw, "chistore rados 1\nuuid 12\n");
	assert_unopened(world, -CHI_EVERSION, "format 'chistore rados 1'");
	raw_head(&raw, "chistore rados 3\n");
	assert_unopened(world, -CHI_EVERSION, "format 'chistore rados 3'");
	raw_head(&raw, "something else");
	assert_unopened(world, -CHI_EVERSION, ".head': it is not a Chistore head");
	raw_head(&raw, "chistore rados 2\nuuid 12\n");
	assert_unopened(world, -CHI_ECORRUPT, "it is damaged");
	/* A creation that was interrupted goes on, with shards of its own. */
	head.ready = false;
	(void)chi_rados_head_print(&head, text);
	raw_head(&raw, text);
	assert_unopened(world, -CHI_ENOSTORE, "create it again");
	assert_int_equal(
		chi_store_create(world->address, CHI_STATISTIC_EXTERNAL, CHI_KEEP_COUNTS, &fault),
		CHI_OK);
	assert_int_equal(
		chi_store_create(world->address, CHI_STATISTIC_EXTERNAL, CHI_KEEP_COUNTS, &fault),
		-CHI_EEXIST);
	assert_int_equal(
		chi_store_create(world->address, CHI_STATISTIC_EXTERNAL, CHI_KEEP_GAMES, &fault),
		-CHI_EUNSUPPORTED);
	/* The client that was open writes nothing into it, and a prober does not follow. */
	struct chi_put_entry put = {.key = world_key(0)};
	bool changed = false;
	bool moved = false;
	struct chi_row row;
	assert_int_equal(chi_prober_follow(prober, &moved), CHI_OK);
	assert_false(moved);
	assert_int_equal(chi_prober_key(prober, &put.key, &row), -CHI_ESTALE);
	chi_prober_close(prober);
	world_refused(world->client, chi_put(world->client, &put, 1, CHI_SYNC, NULL), -CHI_ESTALE,
		      "of another store");
	struct chi_info info;
	world_refused(world->client, chi_store_info(world->client, &info), -CHI_ESTALE,
		      "was replaced");
	world_refused(world->client, chi_store_verify(world->client, NULL, NULL, NULL), -CHI_ESTALE,
		      "was replaced");
	world_ok(world->client, chi_store_changed(world->client, &changed));
	assert_true(changed);
	raw_close(&raw);
}

/* ---- The same answers -------------------------------------------------------------------- */

#define POSITIONS 300

static uint64_t chance = 20040301;

static uint64_t draw(uint64_t n)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return chance % n;
}

/* A batch that may have a position several times, and one that is refused now and then. */
static size_t any_batch(struct chi_put_entry *puts, struct chi_eval *evals)
{
	static const char *const notes[] = {"", "a", "a longer note"};
	size_t n = 1 + draw(60);
	for (size_t i = 0; i < n; i++) {
		unsigned kind = draw(150) == 0 ? 0 : 1 + (unsigned)draw(20);
		const char *note = notes[draw(CHI_COUNT(notes))];
		evals[i] = (struct chi_eval){.engine = draw(2) == 0 ? "x" : "y",
					     .engine_len = 1,
					     .depth = (uint32_t)draw(30),
					     .score = (int32_t)draw(400) - 200};
		puts[i] = (struct chi_put_entry){
			.key = world_key((unsigned)draw(POSITIONS)),
			.parts = kind == 0  ? CHI_PUT_SUBTRACT
				 : kind < 3 ? CHI_PUT_NOTE | CHI_PUT_COUNTS
				 : kind < 9 ? CHI_PUT_ADD | CHI_PUT_EVALS
					    : CHI_PUT_ADD,
			.record = {.counts = {draw(5), draw(3), draw(4), kind == 0 ? 0 : draw(2)},
				   .evals = &evals[i],
				   .n_evals = 1,
				   .note = note,
				   .n_note = strlen(note)}};
	}
	return n;
}

static bool same_record(const struct chi_record *a, const struct chi_record *b)
{
	return a->chi2 == b->chi2 && memcmp(&a->counts, &b->counts, sizeof(a->counts)) == 0 &&
	       a->n_evals == b->n_evals && a->n_note == b->n_note &&
	       (a->n_note == 0 || memcmp(a->note, b->note, a->n_note) == 0) &&
	       (a->n_evals == 0 || a->evals[0].score == b->evals[0].score);
}

/* Both scans to their end. */
static void assert_same_scan(struct chi_client *a, struct chi_client *b,
			     const struct chi_scan_spec *spec)
{
	struct chi_rows *iters[2];
	const struct chi_row *rows[2];
	const struct chi_record *records[2];
	uint64_t counts[2];
	int status = CHI_OK;
	world_ok(a, chi_scan_count(a, spec, &counts[0], NULL));
	world_ok(b, chi_scan_count(b, spec, &counts[1], NULL));
	assert_int_equal(counts[0], counts[1]);
	world_ok(a, chi_scan_open(a, spec, &iters[0]));
	world_ok(b, chi_scan_open(b, spec, &iters[1]));
	while (status == CHI_OK) {
		status = chi_scan_next(iters[0], &rows[0], &records[0]);
		assert_int_equal(chi_scan_next(iters[1], &rows[1], &records[1]), status);
		if (status == CHI_OK) {
			assert_memory_equal(&rows[0]->key, &rows[1]->key, sizeof(rows[0]->key));
			assert_int_equal(rows[0]->chi2, rows[1]->chi2);
			assert_int_equal(rows[0]->counts.white, rows[1]->counts.white);
			assert_true(records[0] == NULL || same_record(records[0], records[1]));
		}
	}
	assert_int_equal(status, CHI_NONE);
	chi_rows_close(iters[0]);
	chi_rows_close(iters[1]);
}

static void assert_same_store(struct chi_client *a, struct chi_client *b)
{
	for (unsigned i = 0; i < 24; i++) {
		uint16_t low = (uint16_t)(i % 3 == 0 ? 0 : draw(4000));
		struct chi_scan_spec spec = {
			CHI_SCAN_SPEC_INIT,
			.chi2_min = low,
			.chi2_max = (uint16_t)(i % 4 == 0 ? CHI_CHI2_MAX : low + draw(3000)),
			.descending = i % 2 == 1,
			.want = (uint8_t)draw(3),
			.order = i % 5 == 0 ? CHI_ORDER_POSITION : CHI_ORDER_STRENGTH,
			.limit = i % 7 == 0 ? 1 + draw(100) : 0};
		spec.filter.games_min = i % 6 == 0 ? draw(30) : 0;
		spec.filter.side = (uint8_t)(i % 8 == 0 ? CHI_SIDE_BLACK : CHI_SIDE_ANY);
		if (i % 9 == 8) {
			spec.sort = CHI_SORT_GAMES;
			spec.limit = 50;
		}
		assert_same_scan(a, b, &spec);
	}
}

static void write_both(struct chi_client *a, struct chi_client *b, unsigned batches)
{
	static struct chi_put_entry puts[64];
	static struct chi_eval evals[64];
	struct chi_put_result did[2];
	for (unsigned i = 0; i < batches; i++) {
		size_t n = any_batch(puts, evals);
		int status = chi_put(a, puts, n, CHI_SYNC, &did[0]);
		assert_int_equal(chi_put(b, puts, n, CHI_SYNC, &did[1]), status);
		assert_memory_equal(&did[0], &did[1], sizeof(did[0]));
		assert_string_equal(chi_error(a), chi_error(b));
		struct chi_key keys[3] = {world_key((unsigned)draw(POSITIONS)), puts[0].key,
					  puts[0].key};
		uint64_t deleted[2];
		if (i % 4 == 0) {
			world_ok(a, chi_delete(a, keys, 3, CHI_SYNC, &deleted[0]));
			world_ok(b, chi_delete(b, keys, 3, CHI_SYNC, &deleted[1]));
			assert_int_equal(deleted[0], deleted[1]);
		}
	}
}

CASE(answers_as_a_directory, world_external, world_drop)
{
	struct world *world = *state;
	struct world files;
	struct chi_client *b = world->client;
	uint64_t changed[2];
	struct chi_fault fault = {{0}};
	world_make(&files, WORLD_FILE, CHI_STATISTIC_OUTCOME);
	struct chi_client *a = files.client;
	chi_close(b);
	/* Another kind of store, under another name. */
	(void)snprintf(world->address, sizeof(world->address),
		       "rados:chistore/s-%d?conf=%.300s&shards=5", (int)getpid(),
		       getenv("CHISTORE_TEST_RADOS"));
	assert_int_equal(
		chi_store_create(world->address, CHI_STATISTIC_OUTCOME, CHI_KEEP_COUNTS, &fault),
		CHI_OK);
	b = world_open(world);
	world->client = b;
	write_both(a, b, 20);
	assert_same_store(a, b);
	world_ok(a, chi_store_rescore(a, NULL, &changed[0]));
	world_ok(b, chi_store_rescore(b, NULL, &changed[1]));
	assert_int_equal(changed[0], changed[1]);
	assert_true(changed[0] > 0);
	assert_same_store(a, b);
	write_both(a, b, 10);
	assert_same_store(a, b);
	world_ok(b, chi_store_verify(b, NULL, NULL, NULL));
	world_free(&files);
}

/* ---- Creations and imports at once ------------------------------------------------------- */

#define CREATORS 4

/* Whichever of them creates the store, or the next one: no shard is another one's. */
CASE(stores_are_created_at_once, world_external, world_drop)
{
	struct world world = **(struct world **)state;
	struct chi_options options = world_options(&world);
	pid_t pids[CREATORS];
	struct chi_client *client = NULL;
	(void)snprintf(world.address, sizeof(world.address),
		       "rados:chistore/c-%d?conf=%.300s&shards=%d", (int)getpid(),
		       getenv("CHISTORE_TEST_RADOS"), RAW_SHARDS);
	for (unsigned i = 0; i < CREATORS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			(void)!chi_store_create(world.address, CHI_STATISTIC_OUTCOME,
						CHI_KEEP_COUNTS, NULL);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < CREATORS; i++) {
		int status = 0;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	int status = chi_store_create(world.address, CHI_STATISTIC_OUTCOME, CHI_KEEP_COUNTS, NULL);
	assert_true(status == CHI_OK || status == -CHI_EEXIST);
	assert_int_equal(chi_open(world.address, &options, &client, NULL), CHI_OK);
	world_ok(client, chi_store_verify(client, NULL, NULL, NULL));
	chi_close(client);
}

int main(void)
{
	char kind[] = "rados";
	char *argv[] = {kind, kind, NULL};
	return world_choose(2, argv) ? cases_run(NULL, NULL) : 0;
}
