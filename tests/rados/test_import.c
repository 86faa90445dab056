/* SPDX-License-Identifier: MIT */
/* Imports into a store on RADOS whose importers are killed at every step, or meet damage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "client/core/client.h"
#include "rados/import/journal.h"
#include "store/record/codec.h"
#include "tests/base/cases.h"
#include "tests/rados/raw.h"

static const uint8_t own_id[16] = {7};

/* The only part of a journal, of `n` positions that get five games each, not committed. */
static void raw_part(struct raw *raw, const struct chi_key *keys, unsigned n)
{
	const struct chi_record record = {.chi2 = CHI_CHI2_UNKNOWN, .counts.white = 5};
	_cleanup_(chi_freep) uint8_t *bytes = calloc(n + 1, 512);
	char object[CHI_OBJECT_SIZE];
	size_t at = CHI_JOURNAL_HEAD;
	chi_journal_head(CHI_JOURNAL_ADD, n, bytes);
	for (unsigned i = 0; i < n; i++) {
		size_t len = 0;
		bytes[at++] = keys[i].len;
		memcpy(bytes + at, keys[i].bytes, keys[i].len);
		at += keys[i].len;
		assert_int_equal(chi_record_encode(&record, NULL, bytes + at + 4, 400, &len),
				 CHI_OK);
		memcpy(bytes + at, (const uint8_t[4]){(uint8_t)len}, 4);
		at += 4 + len;
	}
	chi_journal_seal(bytes, at + CHI_JOURNAL_TAIL);
	chi_journal_object(raw->place.name, own_id, 0, object);
	assert_int_equal(
		rados_write_full(raw->io, object, (const char *)bytes, at + CHI_JOURNAL_TAIL), 0);
}

static void raw_commit(struct raw *raw)
{
	char text[CHI_RADOS_HEAD_SIZE];
	struct chi_rados_head head;
	raw_read_head(raw, &head);
	memcpy(head.import, own_id, sizeof(head.import));
	head.import_parts = 1;
	(void)chi_rados_head_print(&head, text);
	raw_head(raw, text);
}

/* A journal of one position, committed by a client that was killed then. */
static void raw_journal(struct raw *raw, const struct chi_key *key)
{
	raw_part(raw, key, 1);
	raw_commit(raw);
}

static bool raw_has_part(struct raw *raw, const uint8_t id[16], uint32_t part)
{
	char object[CHI_OBJECT_SIZE];
	uint64_t size;
	time_t date;
	chi_journal_object(raw->place.name, id, part, object);
	return rados_stat(raw->io, object, &size, &date) == 0;
}

/* An import that is opened finishes the one that is committed, and cleans up after those that are
 * dead. */
static int open_import(const struct world *world, struct chi_fault *fault)
{
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	struct chi_import *games = NULL;
	int status = chi_import_open(world->address, NULL, 0, &options, &games, fault);
	chi_import_close(games);
	return status;
}

static void must_import(const struct world *world)
{
	struct chi_fault fault = {{0}};
	int status = open_import(world, &fault);
	if (status != CHI_OK) {
		fail_msg("%d: %s", status, fault.text);
	}
}

/* ---- Killed importers -------------------------------------------------------------------- */

/* An import that is under way when another one is committed and killed finishes that first. */
CASE(killed_imports_are_not_forgotten, world_external, world_drop)
{
	static const char pgn[] = "[Event \"a\"]\n[White \"b\"]\n[Black \"c\"]\n\n1. e4 e5 1-0\n";
	struct world *world = *state;
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	struct chi_import *games = NULL;
	struct chi_key key = world_key(3);
	struct chi_rados_head head;
	struct chi_row row;
	struct raw raw;
	raw_open(world, &raw);
	assert_int_equal(chi_import_open(world->address, NULL, 0, &options, &games, NULL), CHI_OK);
	assert_int_equal(chi_import_file(games, "some.pgn"), CHI_OK);
	assert_int_equal(chi_import_feed(games, pgn, sizeof(pgn) - 1), CHI_OK);
	raw_journal(&raw, &key);
	assert_int_equal(chi_import_commit(games, NULL), CHI_OK);
	chi_import_close(games);
	raw_read_head(&raw, &head);
	assert_int_equal(head.import_parts, 0);
	raw_close(&raw);
	world_ok(world->client, chi_probe(world->client, &key, 1, &row));
	assert_true(row.found);
	assert_int_equal(row.counts.white, 5);
	world_ok(world->client, chi_store_verify(world->client, NULL, NULL, NULL));
}

/* What is read from the cluster is checked before it is applied. */
CASE(damaged_journals_are_refused, world_external, world_drop)
{
	struct world *world = *state;
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	const struct chi_key none = {.len = 1};
	struct chi_import *games = NULL;
	struct chi_fault fault = {{0}};
	struct chi_info info;
	struct raw raw;
	raw_open(world, &raw);
	raw_journal(&raw, &none);
	raw_close(&raw);
	assert_int_equal(chi_import_open(world->address, NULL, 0, &options, &games, &fault),
			 -CHI_ECORRUPT);
	assert_non_null(strstr(fault.text, "the journal of an import is damaged"));
	world_ok(world->client, chi_store_info(world->client, &info));
	assert_int_equal(info.positions, 0);
}

/* ---- Before the commit ------------------------------------------------------------------- */

static void raw_lease(struct raw *raw, const uint8_t id[16], uint64_t expires, uint32_t parts)
{
	const struct chi_lease lease = {.expires = expires, .parts = parts};
	uint8_t value[CHI_LEASE_SIZE];
	char object[CHI_OBJECT_SIZE];
	struct chi_omap_key key;
	chi_omap_key_make(CHI_OMAP_IMPORT, id, 16, &key);
	chi_lease_encode(&lease, value);
	chi_head_object(raw->place.name, object);
	raw_set(raw, object, &key, value, sizeof(value));
	for (uint32_t i = 0; i < parts; i++) {
		chi_journal_object(raw->place.name, id, i, object);
		assert_int_equal(rados_write_full(raw->io, object, "part", 4), 0);
	}
}

/* What importers left that were killed before their commit: parts in the pool. */
CASE(leftovers_are_removed, world_external, world_drop)
{
	static const uint8_t dead[16] = {1};
	static const uint8_t alive[16] = {2};
	struct world *world = *state;
	struct raw raw;
	raw_open(world, &raw);
	raw_lease(&raw, dead, 1, 3);
	raw_lease(&raw, alive, (uint64_t)time(NULL) + 1000, 1);
	must_import(world);
	assert_false(raw_has_part(&raw, dead, 0) || raw_has_part(&raw, dead, 2));
	assert_true(raw_has_part(&raw, alive, 0));
	assert_int_equal(raw_count_head(&raw, CHI_OMAP_IMPORT), 1);
	raw_close(&raw);
}

/* A journal that another client gave up, or that does not know what was committed since, is not
 * committed. */
CASE(late_commits_are_refused, world_external, world_drop)
{
	static const uint8_t none[16];
	const struct chi_counts base = {.white = 1};
	struct world *world = *state;
	struct chi_client *client = world->client;
	for (unsigned round = 0; round < 3; round++) {
		struct chi_journal *journal = NULL;
		const struct chi_game_id game = {.id = {1, 2, 3}};
		struct raw raw;
		uint8_t id[16];
		assert_int_equal(chi_journal_new(client->rados, &journal), CHI_OK);
		assert_int_equal(chi_journal_game(journal, &game), CHI_OK);
		/* Writes the part at hand. */
		const struct chi_key key = world_key(1);
		const struct chi_record record = {.chi2 = CHI_CHI2_UNKNOWN};
		assert_int_equal(chi_journal_position(journal, CHI_JOURNAL_SET, &key, &record),
				 CHI_OK);
		raw_open(world, &raw);
		assert_true(raw_first_of_head(&raw, CHI_OMAP_IMPORT, id));
		if (round == 0) {
			raw_lease(&raw, id, 1, 1);
			assert_int_equal(chi_leases_sweep(client->rados), CHI_OK);
			assert_false(raw_has_part(&raw, id, 0));
		} else if (round == 1) {
			struct chi_omap_key last;
			char object[CHI_OBJECT_SIZE];
			chi_omap_key_make(CHI_OMAP_LAST, NULL, 0, &last);
			chi_head_object(raw.place.name, object);
			raw_set(&raw, object, &last, own_id, sizeof(own_id));
		}
		int status = chi_journal_commit(journal, round == 2 ? own_id : none, &base);
		assert_int_equal(status, round == 2 ? CHI_OK : -CHI_EBUSY);
		chi_journal_free(journal);
		assert_int_equal(raw_count_head(&raw, CHI_OMAP_IMPORT), 0);
		assert_int_equal(raw_has_part(&raw, id, 0), round == 2);
		raw_close(&raw);
	}
	/* The one that was committed is applied, and leaves nothing. */
	struct raw raw;
	struct chi_info info;
	must_import(world);
	world_ok(client, chi_store_info(client, &info));
	assert_int_equal(info.positions, 1);
	raw_open(world, &raw);
	assert_int_equal(raw_count_head(&raw, CHI_OMAP_IMPORT), 0);
	raw_close(&raw);
}

/* ---- Large parts, and damage ------------------------------------------------------------- */

#define LONG 300

/* What is stored under a part's positions is more than an operation takes: 18 MB that are read,
 * compared and written again. Some of the part was applied by one that was killed. */
CASE(large_parts_are_cut, world_external, world_drop)
{
	static char note[60000];
	static struct chi_key keys[LONG];
	struct world *world = *state;
	struct chi_put_entry puts[50] = {{.parts = 0}};
	struct chi_row rows[LONG];
	struct raw raw;
	unsigned five = 0;
	memset(note, 'x', sizeof(note));
	(void)snprintf(world->address, sizeof(world->address),
		       "rados:chistore/o-%d?conf=%.300s&shards=1", (int)getpid(),
		       getenv("CHISTORE_TEST_RADOS"));
	assert_int_equal(
		chi_store_create(world->address, CHI_STATISTIC_EXTERNAL, CHI_KEEP_COUNTS, NULL),
		CHI_OK);
	chi_close(world->client);
	world->client = world_open(world);
	for (unsigned i = 0; i < LONG; i++) {
		keys[i] = world_key(i);
		puts[i % 50] =
			(struct chi_put_entry){.key = keys[i],
					       .parts = CHI_PUT_NOTE,
					       .record = {.note = note, .n_note = sizeof(note)}};
		if (i % 50 == 49) {
			world_ok(world->client, chi_put(world->client, puts, 50, CHI_SYNC, NULL));
		}
	}
	raw_open(world, &raw);
	raw_part(&raw, keys, LONG);
	raw_commit(&raw);
	const struct chi_shard_client entry = {.sequence = 100, .date = UINT64_MAX};
	uint8_t value[CHI_SHARD_CLIENT_SIZE];
	struct chi_omap_key key;
	chi_omap_key_make(CHI_OMAP_CLIENT, own_id, sizeof(own_id), &key);
	chi_shard_client_encode(&entry, value);
	raw_set_in(&raw, 0, &key, value, sizeof(value));
	raw_close(&raw);
	must_import(world);
	world_ok(world->client, chi_probe(world->client, keys, LONG, rows));
	for (unsigned i = 0; i < LONG; i++) {
		assert_true(rows[i].counts.white == 5 || rows[i].counts.white == 0);
		five += rows[i].counts.white == 5;
	}
	assert_int_equal(five, LONG - 100);
	world_ok(world->client, chi_store_verify(world->client, NULL, NULL, NULL));
}

/* It is named; once it is deleted the import goes on. */
CASE(damaged_records_are_deleted, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_key keys[2] = {world_key(3), world_key(4)};
	struct chi_omap_key position;
	struct chi_fault fault = {{0}};
	struct chi_row rows[2];
	uint64_t deleted = 0;
	struct raw raw;
	world_fill(world->client, 0, 20);
	raw_open(world, &raw);
	chi_omap_key_make(CHI_OMAP_POSITION, keys[0].bytes, keys[0].len, &position);
	raw_set_in(&raw, raw_shard_of(&keys[0]), &position, "damaged", 7);
	raw_part(&raw, keys, 2);
	raw_commit(&raw);
	raw_close(&raw);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(open_import(world, &fault), -CHI_ECORRUPT);
		assert_non_null(strstr(fault.text, "is damaged"));
		assert_non_null(strstr(fault.text, "a committed import waits for this: delete"));
	}
	world_ok(world->client, chi_delete(world->client, keys, 1, CHI_SYNC, &deleted));
	assert_int_equal(deleted, 1);
	/* One of no bytes is there, too. */
	const struct chi_key empty = world_key(20);
	world_fill(world->client, 20, 1);
	raw_open(world, &raw);
	chi_omap_key_make(CHI_OMAP_POSITION, empty.bytes, empty.len, &position);
	raw_set_in(&raw, raw_shard_of(&empty), &position, "", 0);
	raw_close(&raw);
	world_refused(world->client, chi_probe(world->client, &empty, 1, rows), -CHI_ECORRUPT,
		      "is damaged");
	world_ok(world->client, chi_delete(world->client, &empty, 1, CHI_SYNC, &deleted));
	assert_int_equal(deleted, 1);
	world_ok(world->client, chi_store_verify(world->client, NULL, NULL, NULL));
	must_import(world);
	world_ok(world->client, chi_probe(world->client, keys, 2, rows));
	assert_int_equal(rows[0].counts.white, 5);
	assert_int_equal(rows[1].counts.white, 5 + 4);
	world_ok(world->client, chi_store_verify(world->client, NULL, NULL, NULL));
}

static void no_report(void *context, const char *text)
{
	(void)snprintf(context, CHI_FAULT_SIZE, "%s", text);
}

static void must_repair(const struct world *world, struct chi_repair_result *result)
{
	struct chi_fault fault = {{0}};
	char text[CHI_FAULT_SIZE] = "";
	if (chi_store_repair(world->address, world->address, 0, no_report, text, result, &fault) !=
	    CHI_OK) {
		fail_msg("%s", fault.text);
	}
	if (chi_store_verify(world->client, no_report, text, NULL) != CHI_OK) {
		fail_msg("%s", text);
	}
}

/* A damaged record, one in another shard; strength entries that are missing, too many, and of
 * another line; entries of a game and of a client; keys of no position; no stamp. */
static void damage_all(struct raw *raw, const struct chi_key keys[4], uint32_t stampless)
{
	struct chi_omap_key key;
	uint32_t shard = raw_shard_of(&keys[0]);
	chi_omap_key_make(CHI_OMAP_POSITION, keys[0].bytes, keys[0].len, &key);
	raw_set_in(raw, shard, &key, "damaged", 7);
	raw_set_in(raw, (shard + 1) % RAW_SHARDS, &key, "other", 5);
	chi_omap_strength(104, &keys[1], &key);
	raw_set_in(raw, raw_shard_of(&keys[1]), &key, NULL, 0);
	chi_omap_strength(9999, &keys[2], &key);
	raw_set_in(raw, raw_shard_of(&keys[2]), &key, "", 0);
	chi_omap_strength(106, &keys[3], &key);
	raw_set_in(raw, raw_shard_of(&keys[3]), &key, "\001\002", 2);
	chi_omap_key_make(CHI_OMAP_GAME, own_id, sizeof(own_id), &key);
	raw_set_in(raw, 0, &key, "x", 1);
	chi_omap_key_make(CHI_OMAP_CLIENT, own_id, sizeof(own_id) - 1, &key);
	raw_set_in(raw, 1, &key, "x", 1);
	chi_omap_key_make(CHI_OMAP_POSITION, own_id, 3, &key);
	raw_set_in(raw, 2, &key, "x", 1);
	chi_omap_key_make(CHI_OMAP_STRENGTH, own_id, 3, &key);
	raw_set_in(raw, 2, &key, "x", 1);
	chi_omap_key_make(CHI_OMAP_STAMP, NULL, 0, &key);
	raw_set_in(raw, stampless, &key, NULL, 0);
}

/* All that verify finds, and a committed journal whose part is missing. */
CASE(repair_mends_in_place, world_external, world_drop)
{
	struct world *world = *state;
	const struct chi_key keys[4] = {world_key(3), world_key(4), world_key(5), world_key(6)};
	const uint32_t shard = (raw_shard_of(&keys[1]) + 1) % RAW_SHARDS;
	struct chi_repair_result result;
	struct chi_row rows[4];
	struct chi_info info;
	struct chi_fault fault = {{0}};
	struct raw raw;
	world_fill(world->client, 0, 100);
	raw_open(world, &raw);
	damage_all(&raw, keys, shard);
	raw_commit(&raw);
	assert_int_equal(
		chi_store_repair(world->address, world->dir, 0, NULL, NULL, &result, &fault),
		-CHI_EINVAL);
	assert_non_null(strstr(fault.text, "repaired in place"));
	must_repair(world, &result);
	assert_int_equal(result.positions, 99);
	assert_int_equal(result.missing, 1);
	assert_true(result.damaged >= 11);
	world_ok(world->client, chi_store_info(world->client, &info));
	assert_int_equal(info.positions, 99);
	assert_int_equal(info.known, 99);
	world_ok(world->client, chi_probe(world->client, keys, 4, rows));
	assert_true(!rows[0].found && rows[1].found && rows[2].found && rows[3].found);
	/* Of a shard that is gone nothing is left, and the others are as they were. */
	raw_remove_shard(&raw, shard);
	raw_close(&raw);
	must_repair(world, &result);
	world_ok(world->client, chi_store_info(world->client, &info));
	assert_int_equal(info.positions, result.positions);
	assert_true(result.positions > 50 && result.positions < 99);
	must_import(world);
}

int main(void)
{
	char kind[] = "rados";
	char *argv[] = {kind, kind, NULL};
	return world_choose(2, argv) ? cases_run(NULL, NULL) : 0;
}
