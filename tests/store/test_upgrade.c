/* SPDX-License-Identifier: MIT */
/* Stores of earlier programs: as they are for readers, brought up to date by the first writer. */
#include "tests/store/help.h"

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/codec.h"
#include "store/lock.h"
#include "store/meta.h"

#define POSITIONS 40

static struct chi_key keys[POSITIONS];

static char stamp_name[] = "stamp";
static char state_name[] = "state";

#define SUM 8 /* bytes of a meta record's checksum */

/* The state as it was written before games were counted. */
static void put_old_state(MDB_txn *txn, MDB_dbi meta, const struct chi_state *state)
{
	uint8_t bytes[CHI_STATE_SIZE];
	MDB_val key = {strlen(state_name), state_name};
	MDB_val value = {CHI_STATE_SIZE_OLD, bytes};
	size_t body = CHI_STATE_SIZE_OLD - SUM;
	chi_state_encode(state, bytes);
	uint64_t sum = chi_checksum((uint8_t *)state_name, key.mv_size, bytes, body);
	for (size_t i = 0; i < SUM; i++) {
		bytes[body + i] = (uint8_t)(sum >> 8 * i);
	}
	assert_int_equal(mdb_put(txn, meta, &key, &value, 0), 0);
}

/* Reads the stamp's incompatible features, or makes the store one without plies and games. */
static uint64_t features(const char *path, bool make_old)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val key = {strlen(stamp_name), stamp_name};
	MDB_val value;
	struct chi_stamp stamp;
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 8), 0);
	/* Else it is the file's, a terabyte, for which valgrind has no room. */
	assert_int_equal(mdb_env_set_mapsize(env, (size_t)1 << 30), 0);
	assert_int_equal(mdb_env_open(env, path, 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "meta", 0, &dbi), 0);
	assert_int_equal(mdb_get(txn, dbi, &key, &value), 0);
	ok(chi_stamp_decode(value.mv_data, value.mv_size, false, &stamp, &fault));
	uint64_t found = stamp.incompatible;
	if (make_old) {
		stamp.incompatible = 0;
		assert_int_equal(chi_stamp_put(txn, dbi, &stamp), 0);
		/* A store's sequence number and LMDB's transaction number go side by side. */
		struct chi_state state;
		ok(chi_state_get(txn, dbi, &state));
		state.sequence++;
		put_old_state(txn, dbi, &state);
		assert_int_equal(mdb_dbi_open(txn, "games", 0, &dbi), 0);
		assert_int_equal(mdb_drop(txn, dbi, 1), 0);
		assert_int_equal(mdb_dbi_open(txn, "clients", 0, &dbi), 0);
		assert_int_equal(mdb_drop(txn, dbi, 1), 0);
	}
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
	return found;
}

/* An old store with positions; returns its dump. */
static char *make_old(const char *name)
{
	size_t len;
	struct chi_store *store = help_store(name, CHI_STATISTIC_CONTROL);
	help_keys(keys, POSITIONS);
	help_fill(store, keys, POSITIONS);
	char *dump = help_dump(store, &len);
	chi_store_close(store);
	assert_int_equal(features(help_path(name), true), CHI_FEATURE_PLIES);
	return dump;
}

/* The sequence number and the dump of a store, opened for reading. */
static uint64_t look(const char *name, const char *dump)
{
	size_t len;
	struct chi_store *store = help_open(help_path(name), CHI_STORE_READ);
	struct chi_read *read;
	char *now = help_dump(store, &len);
	assert_string_equal(now, dump);
	free(now);
	struct chi_info info;
	ok(chi_store_info(store, &info));
	assert_int_equal(info.games.white + info.games.draws + info.games.black, 0);
	ok(help_verify(store, NULL));
	ok(chi_read_begin(store, &read));
	uint64_t sequence = chi_read_sequence(read);
	chi_read_end(read);
	chi_store_close(store);
	return sequence;
}

static bool read_byte(int fd)
{
	char byte;
	return read(fd, &byte, 1) == 1;
}

static void test_reading_leaves_it(void **state)
{
	(void)state;
	char *dump = make_old("old");
	uint64_t sequence = look("old", dump);
	assert_int_equal(look("old", dump), sequence);
	assert_int_equal(features(help_path("old"), false), 0);
	free(dump);
}

/* One transaction, the first time; and whoever reads in between keeps his snapshot's number. */
static void test_writing_upgrades_it(void **state)
{
	(void)state;
	static const enum chi_store_mode modes[] = {CHI_STORE_WRITE, CHI_STORE_DAEMON};
	for (size_t i = 0; i < 2; i++) {
		char *dump = make_old("old");
		uint64_t sequence = look("old", dump);
		for (int again = 0; again < 2; again++) {
			chi_store_close(help_open(help_path("old"), modes[i]));
			assert_int_equal(look("old", dump), sequence + 1);
			assert_int_equal(features(help_path("old"), false), CHI_FEATURE_PLIES);
		}
		struct chi_store *store = help_open(help_path("old"), modes[i]);
		struct chi_put put = {.key = keys[0],
				      .parts = CHI_PUT_NOTE,
				      .record = {.note = "new", .n_note = 3}};
		help_put(store, &put);
		/* Games can be counted at once, without opening it again. */
		struct chi_write *write;
		struct chi_game game = {.id = {1}, .result = CHI_RESULT_WHITE};
		ok(chi_write_begin(store, &write, &fault));
		ok(chi_write_game(write, &game));
		ok(chi_write_commit(write, &fault));
		ok(help_verify(store, NULL));
		chi_store_close(store);
		free(dump);
	}
}

/* Two processes open an old store: the one that reads cannot see the games that the other counts
 * now, and must not say that there are none. */
static void test_old_reader_denies_no_games(void **state)
{
	(void)state;
	char *dump = make_old("old");
	int opened[2];
	int counted[2];
	char byte = 0;
	assert_int_equal(pipe(opened), 0);
	assert_int_equal(pipe(counted), 0);
	pid_t pid = fork();
	if (pid == 0) {
		const struct chi_store_options options = {.mode = CHI_STORE_READ};
		struct chi_store *store = NULL;
		struct chi_read *txn = NULL;
		struct chi_game game = {.id = {1}};
		size_t n = 1;
		bool good = chi_store_open(help_path("old"), &options, &store, &fault) == CHI_OK &&
			    chi_read_begin(store, &txn) == CHI_OK &&
			    chi_read_games(txn, NULL, &game, 1, &n) == CHI_OK && n == 0 &&
			    chi_read_game(txn, game.id, &game) == CHI_NONE;
		chi_read_end(txn);
		good = good && write(opened[1], "o", 1) == 1 && read_byte(counted[0]) &&
		       chi_read_begin(store, &txn) == CHI_OK &&
		       chi_read_games(txn, NULL, &game, 1, &n) == -CHI_EBUSY &&
		       chi_read_game(txn, game.id, &game) == -CHI_EBUSY;
		struct chi_verify_result result;
		good = good && chi_store_verify(store, NULL, NULL, &result) == -CHI_EBUSY;
		_exit(good ? 0 : 1);
	}
	assert_int_equal(read(opened[0], &byte, 1), 1);
	struct chi_store *store = help_open(help_path("old"), CHI_STORE_WRITE);
	struct chi_write *write_txn;
	struct chi_game game = {.id = {1}, .result = CHI_RESULT_WHITE};
	ok(chi_write_begin(store, &write_txn, &fault));
	ok(chi_write_game(write_txn, &game));
	ok(chi_write_commit(write_txn, &fault));
	chi_store_close(store);
	assert_int_equal(write(counted[1], "c", 1), 1);
	assert_int_equal(help_child_status(pid), 0);
	free(dump);
}

/* A store that a program without plies made: what it holds is the example of a dump in FORMAT.md.
 */
static void test_a_real_one(void **state)
{
	(void)state;
	static const char *const dump =
		"chistore-dump\t1\nstatistic\tcontrol\nbase\t0\t0\t0\t0\n"
		"fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n"
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\t76.00\t2\t1\t300\t1\t"
		"d2d4:0/0/300/0 e2e4:2/1/0/0\t\tGull 3|20|cp:-35|1000000|1700000000|e2e4 e7e5\t"
		"e2e4 e7e5\tstart\nend\t1\t0\n";
	const char *data = getenv("CHISTORE_TEST_DATA");
	assert_non_null(data);
	char from[1024];
	char to[1024];
	static uint8_t bytes[1 << 16];
	const char *path = help_path("real");
	(void)snprintf(from, sizeof(from), "%s/old-store.mdb", data);
	(void)snprintf(to, sizeof(to), "%s/data.mdb", path);
	assert_int_equal(mkdir(path, 0700), 0);
	FILE *in = fopen(from, "rb");
	FILE *out = fopen(to, "wb");
	assert_true(in != NULL && out != NULL);
	size_t n = fread(bytes, 1, sizeof(bytes), in);
	assert_int_equal(fwrite(bytes, 1, n, out), n);
	assert_int_equal(fclose(in) + fclose(out), 0);
	uint64_t sequence = look("real", dump);
	chi_store_close(help_open(path, CHI_STORE_WRITE));
	assert_int_equal(look("real", dump), sequence + 1);
	assert_int_equal(features(path, false), CHI_FEATURE_PLIES);
}

/* Somebody else writes: an old store is opened when he is done, or not in time. */
static void test_waiting(void **state)
{
	(void)state;
	char *dump = make_old("old");
	const char *path = help_path("old");
	int begun[2];
	int over[2];
	char byte = 0;
	assert_int_equal(pipe(begun), 0);
	assert_int_equal(pipe(over), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct chi_lock lock = {.fd = -1};
		bool good = chi_lock_open(&lock, path, true, 0, NULL) == CHI_OK &&
			    chi_lock_writer(&lock, 0, "chistore", NULL) == CHI_OK &&
			    write(begun[1], "b", 1) == 1 && read(over[0], &byte, 1) == 1;
		chi_lock_close(&lock);
		_exit(good ? 0 : 1);
	}
	assert_int_equal(read(begun[0], &byte, 1), 1);
	/* For reading it opens all the same. */
	assert_int_equal(help_try(path, CHI_STORE_READ), CHI_OK);
	assert_int_equal(help_try(path, CHI_STORE_WRITE), -CHI_EBUSY);
	assert_non_null(strstr(fault.text, "process"));
	assert_int_equal(write(over[1], "o", 1), 1);
	struct chi_store_options options = {.mode = CHI_STORE_WRITE, .lock_wait_ms = 60000};
	struct chi_store *store;
	ok(chi_store_open(path, &options, &store, &fault));
	chi_store_close(store);
	assert_int_equal(help_child_status(pid), 0);
	assert_int_equal(features(path, false), CHI_FEATURE_PLIES);
	free(dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading_leaves_it),
		cmocka_unit_test(test_writing_upgrades_it),
		cmocka_unit_test(test_old_reader_denies_no_games),
		cmocka_unit_test(test_a_real_one),
		cmocka_unit_test(test_waiting),
	};
	int failed = cmocka_run_group_tests_name("store/upgrade", tests, NULL, NULL);
	help_clean();
	return failed;
}
