/* SPDX-License-Identifier: MIT */
/* Lists of games in the postings tree that are not what their records say. */
#include "tests/import/session.h"

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "store/chain/chain.h"
#include "store/lmdb_err.h"
#include "store/postings/postings.h"
#include "tests/store/raw.h"

/* Games that all begin alike: more than two chunks hold of their first position. */
#define GAMES 5000u

static char *games(unsigned from, unsigned n)
{
	size_t room = (size_t)n * 80 + 1;
	size_t len = 0;
	char *text = malloc(room);
	assert_non_null(text);
	for (unsigned i = from; i < from + n; i++) {
		len += (size_t)snprintf(
			text + len, room - len,
			"[Event \"e\"]\n[White \"a\"]\n[Black \"%u\"]\n\n1. e4 e5 *\n\n", i);
	}
	return text;
}

static int import(enum chi_import_kind kind, unsigned from, unsigned n)
{
	struct import_session session = {.options.kind = kind, .statistic = CHI_STATISTIC_EXTERNAL};
	_cleanup_(chi_freep) char *text = games(from, n);
	return session_run(&session, "lists", (const char *[]){text, NULL});
}

static struct chi_key initial(void)
{
	struct chi_position position;
	struct chi_key key;
	ok(chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &position, NULL));
	chi_key_encode(&position, &key);
	return key;
}

/* The chunks of the list of the initial position, by their keys; returns how many. */
static size_t find_chunks(uint8_t (*keys)[CHI_POSTINGS_CHUNK_KEY_MAX], size_t most)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_cursor *cursor;
	MDB_val value;
	struct chi_key key = initial();
	MDB_val found = chi_val(key.bytes, key.len);
	size_t n = 0;
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 16), 0);
	assert_int_equal(mdb_env_open(env, help_path("lists"), MDB_RDONLY, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "postings", 0, &dbi), 0);
	assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
	int rc = chi_chain_step(cursor, CHI_CHAIN_POSTINGS, &found, &value, MDB_SET_RANGE);
	while (rc == 0 && memcmp(found.mv_data, key.bytes, key.len) == 0) {
		assert_true(n < most && found.mv_size == CHI_POSTINGS_CHUNK_KEY_MAX);
		memcpy(keys[n++], found.mv_data, found.mv_size);
		rc = chi_chain_step(cursor, CHI_CHAIN_POSTINGS, &found, &value, MDB_NEXT);
	}
	mdb_cursor_close(cursor);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	return n;
}

/* Whatever chunk is missing, games are neither added nor taken out, and the position is named. */
CASE(a_missing_chunk_is_an_error, NULL, help_teardown)
{
	uint8_t keys[16][CHI_POSTINGS_CHUNK_KEY_MAX];
	size_t n = 2;
	for (size_t i = 0; i < n; i++) {
		help_remove(help_path("lists"));
		ok(import(CHI_IMPORT_ADD, 0, GAMES));
		n = find_chunks(keys, CHI_COUNT(keys));
		assert_true(n > 2);
		raw_put("lists", "postings", keys[i], sizeof(keys[i]), NULL, 0);
		assert_int_equal(import(CHI_IMPORT_ADD, GAMES, 1), -CHI_ECORRUPT);
		assert_non_null(strstr(fault.text, "position " CHI_FEN_START ": "));
		assert_int_equal(import(CHI_IMPORT_SUBTRACT, GAMES / 2, 1), -CHI_ECORRUPT);
		assert_non_null(strstr(fault.text, "position " CHI_FEN_START ": "));
		assert_int_equal(import(CHI_IMPORT_ADD, GAMES, 2 * GAMES), -CHI_ECORRUPT);
		assert_non_null(strstr(fault.text, "position " CHI_FEN_START ": "));
		assert_int_equal(find_chunks(keys, CHI_COUNT(keys)), n - 1);
	}
}

/* A damaged record takes its list along, unless the batch is taken back. */
CASE(a_damaged_record_leaves_no_list, NULL, help_teardown)
{
	static const uint8_t bad[] = {0x80}; /* sections, and none follows */
	uint8_t keys[16][CHI_POSTINGS_CHUNK_KEY_MAX];
	struct chi_key key = initial();
	struct chi_put_entry put = {
		.key = key, .parts = CHI_PUT_RESTORE, .record = {.counts.white = 7}};
	ok(chi_put_check(&put, CHI_STATISTIC_EXTERNAL, &fault));
	for (int restore = 0; restore < 2; restore++) {
		struct chi_write *write;
		struct chi_put_result result = {0};
		help_remove(help_path("lists"));
		ok(import(CHI_IMPORT_ADD, 0, GAMES));
		size_t n = find_chunks(keys, CHI_COUNT(keys));
		raw_change("lists", "position", key.bytes, key.len, bad, sizeof(bad));
		struct chi_dir *store = help_open(help_path("lists"), CHI_STORE_WRITE);
		ok(chi_write_begin(store, &write, &fault));
		ok(chi_write_savepoint(write));
		ok(chi_write_delete(write, &key));
		ok(chi_write_rollback(write));
		ok(chi_write_commit(write, &fault));
		chi_dir_close(store);
		assert_int_equal(find_chunks(keys, CHI_COUNT(keys)), n);
		store = help_open(help_path("lists"), CHI_STORE_WRITE);
		ok(chi_write_begin(store, &write, &fault));
		ok(restore ? chi_write_put(write, &put, &result) : chi_write_delete(write, &key));
		ok(chi_write_commit(write, &fault));
		chi_dir_close(store);
		assert_int_equal(find_chunks(keys, CHI_COUNT(keys)), 0);
	}
}
