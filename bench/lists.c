/* SPDX-License-Identifier: MIT */
/* Lists of keys in files, and a store's records as they stand in its trees. */
#include "bench/lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lmdb.h>

#include "bench/bench.h"

#define SHUFFLE_SEED 20040301

/* The structs themselves: programs of one build read what another one of it wrote. */
static FILE *open_list(const char *folder, const char *name, const char *mode)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/%s.keys", folder, name);
	FILE *file = fopen(path, mode);
	if (file == NULL) {
		bench_die("cannot open '%s'", path);
	}
	return file;
}

void bench_list_save(const char *folder, const char *name, const struct bench_list *list)
{
	FILE *file = open_list(folder, name, "wb");
	size_t n = fwrite(list->keys, sizeof(*list->keys), list->n, file);
	if (fclose(file) != 0 || n != list->n) {
		bench_die("list '%s' cannot be written", name);
	}
}

void bench_list_load(const char *folder, const char *name, struct bench_list *out)
{
	size_t capacity = 0;
	struct chi_key key;
	FILE *file = open_list(folder, name, "rb");
	memset(out, 0, sizeof(*out));
	while (fread(&key, sizeof(key), 1, file) == 1) {
		bench_list_append(out, &capacity, &key);
	}
	if (ferror(file) || out->n == 0) {
		bench_die("list '%s' cannot be read, or is empty", name);
	}
	fclose(file);
}

void bench_list_free(struct bench_list *list)
{
	free(list->keys);
	memset(list, 0, sizeof(*list));
}

void bench_list_append(struct bench_list *list, size_t *capacity, const struct chi_key *key)
{
	if (list->n == *capacity) {
		*capacity = *capacity == 0 ? 65536 : *capacity * 2;
		list->keys = realloc(list->keys, *capacity * sizeof(*list->keys));
		if (list->keys == NULL) {
			bench_die("out of memory at %zu positions", list->n);
		}
	}
	list->keys[list->n++] = *key;
}

void bench_list_shuffle(struct bench_list *list)
{
	uint64_t state = SHUFFLE_SEED;
	for (size_t i = list->n; i > 1; i--) {
		size_t j = (size_t)(bench_random(&state) % i);
		struct chi_key key = list->keys[i - 1];
		list->keys[i - 1] = list->keys[j];
		list->keys[j] = key;
	}
}

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
