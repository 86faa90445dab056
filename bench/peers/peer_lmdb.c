/* SPDX-License-Identifier: MIT */
/* LMDB itself on the records of our store, PATH being its directory, an entry each (records.h):
 * mdb_get in one read transaction, nothing decoded. */
#include "bench/peers/peer.h"

#include <stdlib.h>

#include <lmdb.h>

#include "bench/bench.h"
#include "bench/records.h"

struct raw {
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi position;
};

static void must(int status, const char *what)
{
	if (status != 0) {
		bench_die("%s: %s", what, mdb_strerror(status));
	}
}

static void *open_raw(const char *path)
{
	struct raw *raw = calloc(1, sizeof(*raw));
	if (raw == NULL) {
		bench_die("out of memory");
	}
	static char plain[BENCH_PLAIN_SIZE];
	bench_records_plain(path, plain);
	path = plain;
	must(mdb_env_create(&raw->env), "mdb_env_create");
	must(mdb_env_set_maxdbs(raw->env, 16), "mdb_env_set_maxdbs");
	must(mdb_env_set_maxreaders(raw->env, 1024), "mdb_env_set_maxreaders");
	must(mdb_env_open(raw->env, path, MDB_RDONLY | MDB_NOTLS, 0), path);
	must(mdb_txn_begin(raw->env, NULL, MDB_RDONLY, &raw->txn), "mdb_txn_begin");
	must(mdb_dbi_open(raw->txn, "position", 0, &raw->position), "position");
	return raw;
}

static bool get(void *store, const struct chi_key *key, uint64_t *touched)
{
	struct raw *raw = store;
	/* LMDB takes keys without const and does not write to them. */
	MDB_val name = {key->len, (void *)(uintptr_t)key->bytes};
	MDB_val value;
	int status = mdb_get(raw->txn, raw->position, &name, &value);
	if (status == MDB_NOTFOUND) {
		return false;
	}
	must(status, "mdb_get");
	*touched += *(const uint8_t *)value.mv_data;
	return true;
}

static void close_raw(void *store)
{
	struct raw *raw = store;
	mdb_txn_abort(raw->txn);
	mdb_env_close(raw->env);
	free(raw);
}

const struct peer peer = {
	.is_filled = true,
	.open = open_raw,
	.get = get,
	.close = close_raw,
};
