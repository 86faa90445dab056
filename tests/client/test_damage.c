/* SPDX-License-Identifier: MIT */
/* A damaged record beside sound ones, which a prober prefetches together. Argument: file, unix or
 * tcp. */
#include <stdio.h>
#include <string.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/chain/chain.h"
#include "tests/base/cases.h"
#include "tests/client/world.h"

#define STORED	20
#define DAMAGED 7

/* Changes the word wherever it stands in the store's file, or the key in front of it. */
static void damage(const struct world *world, const char *word, const MDB_val *key)
{
	char path[100];
	struct stat file;
	(void)snprintf(path, sizeof(path), "%s/data.mdb", world->store);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &file) == 0);
	size_t size = (size_t)file.st_size;
	char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	unsigned found = 0;
	for (char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), word, strlen(word)));
	     at++) {
		char *place = at;
		while (key != NULL && memcmp(place, key->mv_data, key->mv_size) != 0) {
			assert_true(place-- > at - 64);
		}
		*place ^= 1;
		found++;
	}
	assert_int_not_equal(found, 0);
	assert_int_equal(munmap(bytes, size), 0);
	close(fd);
}

/* Asked for in one request, they must not fail for each other. */
CASE(a_damaged_record_fails_alone, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_prober *prober = NULL;
	struct chi_key keys[STORED];
	uint64_t tickets[STORED];
	world_fill(world->client, 0, STORED);
	for (unsigned i = 0; i < STORED; i++) {
		keys[i] = world_key(i);
	}
	struct chi_put_entry put = {.key = keys[DAMAGED], .parts = CHI_PUT_NOTE};
	/* So long that the record is alone in its block: damage takes its group along. */
	char note[3001] = "to be damaged";
	memset(note + strlen(note), '.', sizeof(note) - 1 - strlen(note));
	put.record.note = note;
	put.record.n_note = sizeof(note) - 1;
	world_ok(world->client, chi_put(world->client, &put, 1, CHI_SYNC, NULL));
	damage(world, "to be damaged", NULL);
	world_ok(world->client, chi_prober_open(world->client, &world_patience, &prober));
	assert_int_equal(chi_prober_prefetch(prober, keys, STORED, tickets), CHI_OK);
	for (unsigned i = 0; i < STORED; i++) {
		struct chi_row row;
		int status = chi_prober_collect(prober, tickets[i], &row);
		assert_int_equal(status, i == DAMAGED ? -CHI_ECORRUPT : CHI_OK);
		assert_int_equal(strlen(chi_prober_error(prober)) > 0, i == DAMAGED);
		assert_true(i == DAMAGED || row.chi2 == 100 + i);
	}
	chi_prober_close(prober);
}

/* Up to 63 sound games before a damaged one: pages are made ahead in this process. */
CASE(rows_made_ahead_of_damage_were_lost, world_external, world_drop)
{
	enum {
		ROWS = 40,
		SOUND = 30
	};
	struct world *world = *state;
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .want = CHI_WANT_RECORDS};
	struct chi_put_entry put = {.key = world_key(SOUND), .parts = CHI_PUT_NOTE};
	struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	char note[3001] = "to be damaged";
	world_fill(world->client, 0, ROWS);
	memset(note + strlen(note), '.', sizeof(note) - 1 - strlen(note));
	put.record.note = note;
	put.record.n_note = sizeof(note) - 1;
	world_ok(world->client, chi_put(world->client, &put, 1, CHI_SYNC, NULL));
	damage(world, "to be damaged", NULL);
	world_ok(world->client, chi_scan_open(world->client, &spec, &iter));
	for (unsigned i = 0; i < SOUND; i++) {
		world_ok(world->client, chi_scan_next(iter, &row, &record));
		assert_int_equal(row->chi2, 100 + i);
		assert_string_equal(chi_error(world->client), "");
	}
	/* It stays what it is. */
	for (unsigned i = 0; i < 2; i++) {
		struct chi_cursor cursor;
		assert_int_equal(chi_scan_next(iter, &row, &record), -CHI_ECORRUPT);
		assert_true(strlen(chi_error(world->client)) > 0);
		assert_null(row);
		cursor = chi_rows_state(iter)->cursor;
		assert_int_equal(cursor.chi2, 100 + SOUND - 1);
	}
	chi_rows_close(iter);
}

/* Meets a chain that is broken, and says nothing of it. */
static void pass_over_damage(const struct world *world)
{
	struct chi_chain_at at = {.chain = CHI_CHAIN_NAMES};
	uint8_t bytes[] = {'k', 0, 0, 'v'};
	char path[100];
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val key = {1, bytes};
	MDB_val value = {1, bytes + 3};
	MDB_cursor *cursor;
	(void)snprintf(path, sizeof(path), "%s.broken", world->store);
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOLOCK, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, NULL, 0, &dbi), 0);
	assert_int_equal(chi_chain_make(txn, dbi, CHI_CHAIN_NAMES), 0);
	assert_int_equal(chi_chain_begin(txn, dbi, &at), 0);
	assert_int_equal(mdb_put(txn, dbi, &key, chi_chain_sign(&at, &key, &value), 0), 0);
	assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
	assert_int_equal(chi_chain_step(cursor, CHI_CHAIN_NAMES, &key, &value, MDB_FIRST), 0);
	assert_int_equal(chi_chain_step(cursor, CHI_CHAIN_NAMES, &key, &value, MDB_NEXT),
			 MDB_CORRUPTED);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	(void)unlink(path);
}

/* The next damaged record was told as one of names. */
CASE(damage_is_not_told_of_a_later_call, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_key key = world_key(0);
	struct chi_put_entry put = {.key = key, .parts = CHI_PUT_NOTE};
	struct chi_record record;
	char note[3001] = "to be damaged";
	memset(note + strlen(note), '.', sizeof(note) - 1 - strlen(note));
	put.record.note = note;
	put.record.n_note = sizeof(note) - 1;
	world_ok(world->client, chi_put(world->client, &put, 1, CHI_SYNC, NULL));
	damage(world, "to be damaged", NULL);
	pass_over_damage(world);
	assert_int_equal(chi_get(world->client, &key, &record), -CHI_ECORRUPT);
	assert_true(strlen(chi_error(world->client)) > 0);
	assert_null(strstr(chi_error(world->client), "names"));
}

/* A server's thread found it, and another answered: that something is damaged, not what. */
CASE(damage_that_a_thread_met_is_told, world_external, world_drop)
{
	struct world *world = *state;
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	static const char game[] = "[White \"To be damaged\"]\n[Black \"B\"]\n\n1. e4 *\n";
	struct chi_import *import = NULL;
	struct chi_import_result result;
	struct chi_suspect_groups groups;
	uint8_t chunk[] = {1, CHI_NAME_PLAYER, 0, 0, 0, 0};
	world_ok(world->client, chi_import_open(world->address, NULL, (enum chi_statistic)0,
						&options, &import, NULL));
	assert_int_equal(chi_import_feed(import, game, strlen(game)), CHI_OK);
	assert_int_equal(chi_import_commit(import, &result), CHI_OK);
	chi_import_close(import);
	damage(world, "To be damaged", &(MDB_val){sizeof(chunk), chunk});
	world_refused(world->client,
		      chi_suspects_list(world->client,
					&(struct chi_suspects_spec){CHI_SUSPECTS_SPEC_INIT,
								    .kind = CHI_NAME_PLAYER,
								    .least = 60, .limit = 10},
					&groups),
		      -CHI_ECORRUPT, "the names tree is damaged: entries between");
}

WORLD_MAIN
