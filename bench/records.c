/* SPDX-License-Identifier: MIT */
/* A store's records as they stand in its trees. */
#include "bench/records.h"

#include <lmdb.h>

#include "bench/bench.h"

/* Ends the program unless `status` is 0. */
static void must(int status, const char *what)
{
	if (status != 0) {
		bench_die("%s: %s", what, mdb_strerror(status));
	}
}

uint64_t bench_records_each(const char *path, const char *tree, bench_record *each, void *context)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	uint64_t n = 0;
	int status;
	must(mdb_env_create(&env), "mdb_env_create");
	must(mdb_env_set_maxdbs(env, 16), "mdb_env_set_maxdbs");
	must(mdb_env_set_maxreaders(env, 1024), "mdb_env_set_maxreaders");
	must(mdb_env_open(env, path, MDB_RDONLY | MDB_NOTLS, 0), path);
	must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), "mdb_txn_begin");
	/* Walking from end to end asks for no comparison: the tree's own order need not be set. */
	must(mdb_dbi_open(txn, tree, 0, &dbi), tree);
	must(mdb_cursor_open(txn, dbi, &cursor), "mdb_cursor_open");
	while ((status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
		each(context, key.mv_data, key.mv_size, value.mv_data, value.mv_size);
		n++;
	}
	if (status != MDB_NOTFOUND) {
		must(status, tree);
	}
	mdb_cursor_close(cursor);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	return n;
}
