/* SPDX-License-Identifier: MIT */
/* The games that are counted: their entries, lists, totals, and taking them back. */
#include "tests/store/help.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/chain/chain.h"
#include "store/record/codec.h"

#define GAMES 300

static struct chi_game_id games[GAMES];

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, CHI_GAME_ID_SIZE);
}

static void make(void)
{
	for (size_t i = 0; i < GAMES; i++) {
		games[i] = (struct chi_game_id){
			.result = (uint8_t)help_below(4),
			.pruned = help_below(2) == 0,
			.max_ply = (uint16_t)(help_random() >> help_below(64))};
		for (size_t j = 0; j < CHI_GAME_ID_SIZE; j++) {
			games[i].id[j] = (uint8_t)help_below(256);
		}
	}
	qsort(games, GAMES, sizeof(games[0]), compare);
}

static bool same(const struct chi_game_id *a, const struct chi_game_id *b)
{
	return memcmp(a->id, b->id, CHI_GAME_ID_SIZE) == 0 && a->result == b->result &&
	       a->pruned == b->pruned && a->max_ply == b->max_ply;
}

/* Each bit of each byte is looked at: one form, and every other is damage. */
CASE(test_entries)
{
	for (size_t i = 0; i < GAMES; i++) {
		uint8_t bytes[CHI_GAME_VALUE_MAX];
		struct chi_game_id back;
		size_t len = chi_game_encode(&games[i], bytes);
		assert_true(len >= 3 && len <= CHI_GAME_VALUE_MAX);
		ok(chi_game_decode(games[i].id, CHI_GAME_ID_SIZE, bytes, len, &back));
		assert_true(same(&games[i], &back));
		for (size_t n = 0; n < len; n++) {
			assert_int_equal(
				chi_game_decode(games[i].id, CHI_GAME_ID_SIZE, bytes, n, &back),
				-CHI_ECORRUPT);
		}
		unsigned bit = help_below((unsigned)len * 8);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(chi_game_decode(games[i].id, CHI_GAME_ID_SIZE, bytes, len, &back),
				 -CHI_ECORRUPT);
	}
	struct chi_game_id bad = {.result = CHI_RESULT_OTHER + 1};
	uint8_t bytes[CHI_GAME_VALUE_MAX];
	assert_int_equal(chi_game_encode(&bad, bytes), 0);
}

/* Sealed with a right checksum, but of a form that is not written. */
CASE(test_forms)
{
	static const struct {
		uint8_t bytes[CHI_GAME_VALUE_MAX];
		size_t body;
		int rc;
	} cases[] = {
		{{0x00}, 1, CHI_OK},
		{{0x07}, 1, CHI_OK},
		{{0x08, 0x01}, 2, CHI_OK},
		{{0x08, 0xff, 0xff, 0x03}, 4, CHI_OK},
		{{0x08}, 1, -CHI_ECORRUPT},
		{{0x08, 0x00}, 2, -CHI_ECORRUPT},
		{{0x08, 0x81, 0x00}, 3, -CHI_ECORRUPT},
		{{0x08, 0x80, 0x80, 0x04}, 4, -CHI_ECORRUPT},
		{{0x00, 0x01}, 2, -CHI_ECORRUPT},
		{{0x10}, 1, -CHI_ECORRUPT},
		{{0x80}, 1, -CHI_ECORRUPT},
	};
	uint8_t id[CHI_GAME_ID_SIZE] = {1, 2, 3};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		uint8_t bytes[CHI_GAME_VALUE_MAX];
		struct chi_game_id game;
		size_t body = cases[i].body;
		memcpy(bytes, cases[i].bytes, body);
		uint64_t sum = chi_checksum(id, sizeof(id), bytes, body);
		bytes[body] = (uint8_t)sum;
		bytes[body + 1] = (uint8_t)(sum >> 8);
		assert_int_equal(chi_game_decode(id, sizeof(id), bytes, body + 2, &game),
				 cases[i].rc);
		assert_int_equal(chi_game_decode(id, sizeof(id) - 1, bytes, body + 2, &game),
				 -CHI_ECORRUPT);
	}
}

static void add_all(struct chi_dir *store)
{
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < GAMES; i++) {
		/* In no order. */
		const struct chi_game_id *game = &games[i * 7 % GAMES];
		ok(chi_write_game_id(write, game));
		assert_int_equal(chi_write_game_id(write, game), CHI_NONE);
	}
	ok(chi_write_commit(write, &fault));
}

/* Pages of every size, each after the last id of the one before. */
CASE(test_lists)
{
	struct chi_dir *store = help_store("games", CHI_STATISTIC_CONTROL);
	struct chi_read *read;
	struct chi_game_id page[GAMES + 1];
	size_t n = 1;
	ok(chi_read_begin(store, &read));
	ok(chi_read_game_ids(read, NULL, page, GAMES, &n));
	assert_int_equal(n, 0);
	chi_read_end(read);
	add_all(store);
	ok(help_verify(store, NULL));
	ok(chi_read_begin(store, &read));
	for (size_t max = 1; max <= GAMES + 1; max += 1 + max / 2) {
		size_t at = 0;
		do {
			const uint8_t *after = at > 0 ? games[at - 1].id : NULL;
			ok(chi_read_game_ids(read, after, page, max, &n));
			for (size_t i = 0; i < n; i++) {
				assert_true(same(&page[i], &games[at + i]));
			}
			at += n;
		} while (n == max);
		assert_int_equal(at, GAMES);
	}
	/* After an id that is not there. */
	uint8_t between[CHI_GAME_ID_SIZE];
	memcpy(between, games[9].id, sizeof(between));
	between[CHI_GAME_ID_SIZE - 1] ^= 1;
	size_t next = 0;
	while (next < GAMES && memcmp(games[next].id, between, sizeof(between)) <= 0) {
		next++;
	}
	ok(chi_read_game_ids(read, between, page, 1, &n));
	assert_int_equal(n, 1);
	assert_true(same(&page[0], &games[next]));
	chi_read_end(read);
	chi_dir_close(store);
}

static void check_totals(struct chi_dir *store, size_t n)
{
	struct chi_info info;
	uint64_t by[4] = {0};
	for (size_t i = 0; i < n; i++) {
		by[games[i].result]++;
	}
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.games.white, by[0]);
	assert_int_equal(info.games.draws, by[1]);
	assert_int_equal(info.games.black, by[2]);
	assert_int_equal(info.games.other, by[3]);
	ok(help_verify(store, NULL));
}

/* Entries and totals go back together; what came before the mark stays. */
CASE(test_rollback)
{
	struct chi_dir *store = help_store("games", CHI_STATISTIC_CONTROL);
	struct chi_write *write;
	struct chi_game_id was;
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < 10; i++) {
		ok(chi_write_game_id(write, &games[i]));
	}
	ok(chi_write_savepoint(write));
	for (size_t i = 10; i < 20; i++) {
		ok(chi_write_game_id(write, &games[i]));
	}
	ok(chi_write_remove_game_id(write, games[3].id, &was));
	assert_true(same(&was, &games[3]));
	assert_int_equal(chi_write_remove_game_id(write, games[3].id, &was), CHI_NONE);
	struct chi_game_id bad = {.result = 9};
	assert_int_equal(chi_write_game_id(write, &bad), -CHI_EINVAL);
	ok(chi_write_rollback(write));
	ok(chi_write_commit(write, &fault));
	check_totals(store, 10);
	chi_dir_close(store);
}

/* A game that is there already costs no transaction. */
CASE(test_unchanged)
{
	struct chi_dir *store = help_store("games", CHI_STATISTIC_CONTROL);
	add_all(store);
	struct chi_info before;
	struct chi_info after;
	struct chi_write *write;
	ok(chi_dir_info(store, &before));
	ok(chi_write_begin(store, &write, &fault));
	assert_int_equal(chi_write_game_id(write, &games[7]), CHI_NONE);
	ok(chi_write_commit(write, &fault));
	ok(chi_dir_info(store, &after));
	assert_int_equal(before.sequence, after.sequence);
	check_totals(store, GAMES);
	chi_dir_close(store);
}

/* Changes LMDB's file behind the store's back. */
static void meddle(const char *path, const uint8_t *id, bool drop)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val key = {CHI_GAME_ID_SIZE, NULL};
	MDB_val value;
	uint8_t bytes[CHI_GAME_ID_SIZE];
	uint8_t damaged[CHI_GAME_VALUE_MAX + CHI_CHAIN_LINK];
	memcpy(bytes, id, sizeof(bytes));
	key.mv_data = bytes;
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 16), 0);
	assert_int_equal(mdb_env_open(env, path, 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "ids", 0, &dbi), 0);
	assert_int_equal(mdb_get(txn, dbi, &key, &value), 0);
	memcpy(damaged, value.mv_data, value.mv_size);
	damaged[CHI_CHAIN_LINK] ^= 1;
	value.mv_data = damaged;
	assert_int_equal(drop ? mdb_del(txn, dbi, &key, NULL) : mdb_put(txn, dbi, &key, &value, 0),
			 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

CASE(test_damage)
{
	for (int drop = 0; drop < 2; drop++) {
		struct chi_dir *store = help_store("games", CHI_STATISTIC_CONTROL);
		struct chi_verify_result result;
		struct chi_game_id page[GAMES];
		struct chi_read *read;
		size_t n;
		add_all(store);
		chi_dir_close(store);
		meddle(help_path("games"), games[42].id, drop != 0);
		store = help_open(help_path("games"), CHI_STORE_READ);
		assert_int_equal(help_verify(store, &result), -CHI_ECORRUPT);
		assert_true(result.errors > 0);
		ok(chi_read_begin(store, &read));
		assert_int_equal(chi_read_game_ids(read, NULL, page, GAMES, &n), -CHI_ECORRUPT);
		chi_read_end(read);
		chi_dir_close(store);
	}
}

int main(void)
{
	make();
	int failed = cases_run(NULL, NULL);
	help_clean();
	return failed;
}
