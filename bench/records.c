/* SPDX-License-Identifier: MIT */
/* A store's records out of the blocks of its trees, and in trees of their own. */
#include "bench/records.h"

#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bench.h"
#include "store/block/block.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"

/* Address space of a plain copy. */
#define MAP_BYTES ((size_t)1 << 40)

/* Bytes of a transaction. */
#define COMMIT_BYTES ((size_t)32 << 20)

/* Bytes of checksum that each entry had before there were blocks. */
#define RECORD_SUM   4
#define STRENGTH_SUM 2

/* Ends the program unless `status` is 0. */
static void must(int status, const char *what)
{
	if (status != 0) {
		bench_die("%s: %s", what, mdb_strerror(status));
	}
}

static MDB_env *open_env(const char *path, unsigned flags)
{
	MDB_env *env;
	must(mdb_env_create(&env), "mdb_env_create");
	must(mdb_env_set_maxdbs(env, 16), "mdb_env_set_maxdbs");
	must(mdb_env_set_maxreaders(env, 1024), "mdb_env_set_maxreaders");
	must(mdb_env_set_mapsize(env, MAP_BYTES), "mdb_env_set_mapsize");
	must(mdb_env_open(env, path, flags | MDB_NOTLS, 0600), path);
	return env;
}

static uint64_t each_of_block(const struct chi_block *block, bench_record *each, void *context)
{
	struct chi_block_entry entries[CHI_GROUP_MOST];
	uint64_t all = 0;
	uint32_t n;
	for (uint32_t i = 0; i < block->groups; i++) {
		if (chi_group_read(block, i, entries, &n) < 0) {
			bench_die("a damaged group");
		}
		for (uint32_t j = 0; j < n; j++) {
			each(context, chi_entry_key(&entries[j], block->kind),
			     chi_entry_key_len(&entries[j], block->kind), entries[j].value,
			     entries[j].len);
		}
		all += n;
	}
	return all;
}

uint64_t bench_records_each(const char *path, const char *tree, bench_record *each, void *context)
{
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	uint64_t n = 0;
	int status;
	enum chi_tree_kind kind =
		strcmp(tree, "strength") == 0 ? CHI_TREE_STRENGTH : CHI_TREE_POSITION;
	MDB_env *env = open_env(path, MDB_RDONLY);
	must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), "mdb_txn_begin");
	/* Walking from end to end asks for no comparison: the tree's own order need not be set. */
	must(mdb_dbi_open(txn, tree, 0, &dbi), tree);
	must(mdb_cursor_open(txn, dbi, &cursor), "mdb_cursor_open");
	while ((status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
		struct chi_block block;
		if (chi_block_open(kind, key.mv_data, key.mv_size, value.mv_data, value.mv_size,
				   &block) < 0) {
			bench_die("%s: a damaged block", path);
		}
		n += each_of_block(&block, each, context);
	}
	if (status != MDB_NOTFOUND) {
		must(status, tree);
	}
	mdb_cursor_close(cursor);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	return n;
}

/* A plain copy that is being made. */
struct plain {
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	size_t sum;	/* bytes of checksum of each entry */
	size_t unsaved; /* bytes since the last commit */
};

static int compare_strength(const MDB_val *a, const MDB_val *b)
{
	return chi_strength_compare(a->mv_data, a->mv_size, b->mv_data, b->mv_size);
}

static void add_plain(void *context, const void *key, size_t key_len, const void *value,
		      size_t value_len)
{
	struct plain *plain = context;
	static uint8_t bytes[CHI_RECORD_BYTES_MAX + RECORD_SUM];
	memcpy(bytes, value, value_len);
	MDB_val k = chi_val(key, key_len);
	MDB_val v = {value_len + plain->sum, bytes};
	must(mdb_put(plain->txn, plain->dbi, &k, &v, MDB_APPEND), "mdb_put");
	plain->unsaved += key_len + value_len;
	if (plain->unsaved > COMMIT_BYTES) {
		plain->unsaved = 0;
		must(mdb_txn_commit(plain->txn), "mdb_txn_commit");
		must(mdb_txn_begin(plain->env, NULL, 0, &plain->txn), "mdb_txn_begin");
	}
}

void bench_records_plain(const char *path, char plain_path[BENCH_PLAIN_SIZE])
{
	static const char *const trees[] = {"position", "strength"};
	struct plain plain = {.env = NULL};
	int n = snprintf(plain_path, BENCH_PLAIN_SIZE, "%s.plain", path);
	if (n < 0 || n >= BENCH_PLAIN_SIZE) {
		bench_die("'%s' is too long", path);
	}
	if (mkdir(plain_path, 0700) != 0) {
		/* It was made before. */
		return;
	}
	plain.env = open_env(plain_path, MDB_NOSYNC | MDB_NOMETASYNC);
	must(mdb_txn_begin(plain.env, NULL, 0, &plain.txn), "mdb_txn_begin");
	for (unsigned i = 0; i < 2; i++) {
		must(mdb_dbi_open(plain.txn, trees[i], MDB_CREATE, &plain.dbi), trees[i]);
		plain.sum = i == 0 ? RECORD_SUM : STRENGTH_SUM;
		if (i == 1) {
			must(mdb_set_compare(plain.txn, plain.dbi, compare_strength), trees[i]);
		}
		must(mdb_txn_commit(plain.txn), "mdb_txn_commit");
		must(mdb_txn_begin(plain.env, NULL, 0, &plain.txn), "mdb_txn_begin");
		(void)bench_records_each(path, trees[i], add_plain, &plain);
	}
	must(mdb_txn_commit(plain.txn), "mdb_txn_commit");
	mdb_env_close(plain.env);
}
