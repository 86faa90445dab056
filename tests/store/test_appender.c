/* SPDX-License-Identifier: MIT */
/* The thread that appends to a new store: everything arrives, or the failure does. LMDB's commit is
 * answered here when it is to fail. */
#undef NDEBUG
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "store/lmdb_err.h"
#include "store/load/appender.h"
#include "store/record/codec.h"
#include "tests/store/help.h"

#define TREES 3

static atomic_int commits_left = INT32_MAX;

int __real_mdb_txn_commit(MDB_txn *txn);
int __wrap_mdb_txn_commit(MDB_txn *txn);
int __wrap_mdb_txn_commit(MDB_txn *txn)
{
	if (atomic_fetch_sub(&commits_left, 1) <= 0) {
		mdb_txn_abort(txn);
		return ENOSPC;
	}
	return __real_mdb_txn_commit(txn);
}

struct world {
	MDB_env *env;
	MDB_dbi trees[TREES];
	struct chi_appender *appender;
};

static void open_world(struct world *w, const char *path)
{
	static const char *const names[TREES] = {"a", "b", "c"};
	MDB_txn *txn;
	atomic_store(&commits_left, INT32_MAX);
	assert_int_equal(mdb_env_create(&w->env), 0);
	assert_int_equal(mdb_env_set_maxdbs(w->env, TREES), 0);
	assert_int_equal(mdb_env_set_mapsize(w->env, (size_t)1 << 30), 0);
	assert_int_equal(mdb_env_open(w->env, path, MDB_NOSUBDIR | MDB_NOSYNC, 0600), 0);
	assert_int_equal(mdb_txn_begin(w->env, NULL, 0, &txn), 0);
	for (size_t i = 0; i < TREES; i++) {
		assert_int_equal(mdb_dbi_open(txn, names[i], MDB_CREATE, &w->trees[i]), 0);
	}
	assert_int_equal(mdb_txn_commit(txn), 0);
	assert_int_equal(chi_appender_start(w->env, &w->appender), 0);
}

/* Most are short, some as long as a record may be. */
static size_t length_of(uint32_t i)
{
	return i % 1000 == 999 ? CHI_RECORD_BYTES_MAX : i % 1900;
}

static int put(struct world *w, uint32_t i)
{
	static uint8_t bytes[CHI_RECORD_BYTES_MAX];
	uint32_t number = htobe32(i);
	MDB_val key = chi_val(&number, sizeof(number));
	MDB_val value = {length_of(i), bytes};
	memset(bytes, (int)(i % 251), value.mv_size);
	return chi_appender_put(w->appender, w->trees[i % TREES], &key, &value);
}

/* How many entries there are from 0 on; there are no others. */
static uint32_t count(struct world *w)
{
	MDB_txn *txn;
	MDB_val value;
	uint32_t n = 0;
	size_t all = 0;
	assert_int_equal(mdb_txn_begin(w->env, NULL, MDB_RDONLY, &txn), 0);
	for (;; n++) {
		uint32_t number = htobe32(n);
		MDB_val key = chi_val(&number, sizeof(number));
		if (mdb_get(txn, w->trees[n % TREES], &key, &value) != 0) {
			break;
		}
		assert_int_equal(value.mv_size, length_of(n));
		for (size_t i = 0; i < value.mv_size; i++) {
			assert_int_equal(((const uint8_t *)value.mv_data)[i], n % 251);
		}
	}
	for (size_t i = 0; i < TREES; i++) {
		MDB_stat stat;
		assert_int_equal(mdb_stat(txn, w->trees[i], &stat), 0);
		all += stat.ms_entries;
	}
	mdb_txn_abort(txn);
	assert_int_equal(all, n);
	return n;
}

CASE(everything_arrives, NULL, help_teardown)
{
	struct world w;
	open_world(&w, help_path("all"));
	for (uint32_t i = 0; i < 20000; i++) {
		assert_int_equal(put(&w, i), 0);
	}
	assert_int_equal(chi_appender_finish(w.appender), 0);
	assert_int_equal(count(&w), 20000);
	/* The transaction is free again, and there may be another thread. */
	assert_int_equal(chi_appender_start(w.env, &w.appender), 0);
	assert_int_equal(put(&w, 20000), 0);
	assert_int_equal(chi_appender_finish(w.appender), 0);
	assert_int_equal(count(&w), 20001);
	mdb_env_close(w.env);
}

CASE(a_failed_commit_is_told_to_the_end, NULL, help_teardown)
{
	struct world w;
	open_world(&w, help_path("failed"));
	atomic_store(&commits_left, 3);
	uint32_t i = 0;
	while (put(&w, i) == 0) {
		assert_true(++i < 100000);
	}
	for (uint32_t more = 0; more < 1000; more++) {
		assert_int_equal(put(&w, i + more), ENOSPC);
	}
	assert_int_equal(chi_appender_finish(w.appender), ENOSPC);
	assert_in_range(count(&w), 1, i);
	mdb_env_close(w.env);
}

CASE(the_last_commit_may_fail, NULL, help_teardown)
{
	struct world w;
	open_world(&w, help_path("last"));
	atomic_store(&commits_left, 0);
	assert_int_equal(put(&w, 0), 0);
	assert_int_equal(chi_appender_finish(w.appender), ENOSPC);
	assert_int_equal(count(&w), 0);
	mdb_env_close(w.env);
}

CASE(what_does_not_ascend_is_refused, NULL, help_teardown)
{
	struct world w;
	open_world(&w, help_path("order"));
	assert_int_equal(put(&w, 5), 0);
	assert_int_equal(put(&w, 2), 0);
	assert_int_equal(chi_appender_finish(w.appender), MDB_CORRUPTED);
	assert_int_equal(count(&w), 0);
	mdb_env_close(w.env);
}

CASE(what_is_abandoned_ends_at_a_commit, NULL, help_teardown)
{
	struct world w;
	open_world(&w, help_path("abandoned"));
	for (uint32_t i = 0; i < 5000; i++) {
		assert_int_equal(put(&w, i), 0);
	}
	chi_appender_abandon(w.appender);
	chi_appender_abandon(NULL);
	assert_in_range(count(&w), 1, 4999);
	MDB_txn *txn;
	assert_int_equal(mdb_txn_begin(w.env, NULL, 0, &txn), 0);
	mdb_txn_abort(txn);
	mdb_env_close(w.env);
}
