/* SPDX-License-Identifier: MIT */
/*
 * bench_raw STORE LISTS: what LMDB itself does with the same records, an entry each (records.h),
 * the measure that the store is held against. A process of its own, because one process must never
 * open an environment twice. Nothing is decoded or checked: one read transaction is held
 * throughout, and one byte of what is found is touched.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lmdb.h>

#include "bench/bench.h"
#include "bench/records.h"

#define LINE_BYTES 64
#define TOUCHES	   1000000

struct raw {
	struct bench_keys keys;
	struct bench_search search;
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi position;
	MDB_dbi strength;
	const char *path;
	const uint8_t *map; /* the data file once more, when it is touched */
	size_t map_len;
	volatile uint64_t values; /* of the last walk, so that touching them is not left out */
};

/* Ends the program unless `status` is 0. */
static void must(int status, const char *what)
{
	if (status != 0) {
		bench_die("%s: %s", what, mdb_strerror(status));
	}
}

static void open_raw(struct raw *raw, const char *path)
{
	must(mdb_env_create(&raw->env), "mdb_env_create");
	must(mdb_env_set_maxdbs(raw->env, 16), "mdb_env_set_maxdbs");
	must(mdb_env_set_maxreaders(raw->env, 1024), "mdb_env_set_maxreaders");
	must(mdb_env_open(raw->env, path, MDB_RDONLY | MDB_NOTLS, 0), "mdb_env_open");
	must(mdb_txn_begin(raw->env, NULL, MDB_RDONLY, &raw->txn), "mdb_txn_begin");
	must(mdb_dbi_open(raw->txn, "position", 0, &raw->position), "open 'position'");
	/* Walking from end to end asks for no comparison, so the tree's own order need not be
	 * set. */
	must(mdb_dbi_open(raw->txn, "strength", 0, &raw->strength), "open 'strength'");
	/* Committing is what keeps the handles when the next one is reset. */
	must(mdb_txn_commit(raw->txn), "mdb_txn_commit");
	must(mdb_txn_begin(raw->env, NULL, MDB_RDONLY, &raw->txn), "mdb_txn_begin");
}

static void get_all(struct raw *raw, const struct chi_key *keys, bool renews,
		    struct bench_result *out)
{
	uint64_t sum = 0;
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < raw->keys.n; i++) {
		/* LMDB takes keys without const and does not write to them. */
		MDB_val key = {keys[i].len, (void *)(uintptr_t)keys[i].bytes};
		MDB_val value;
		if (renews) {
			mdb_txn_reset(raw->txn);
			must(mdb_txn_renew(raw->txn), "mdb_txn_renew");
		}
		int status = mdb_get(raw->txn, raw->position, &key, &value);
		if (status != 0) {
			bench_die("position %zu: %s", i, mdb_strerror(status));
		}
		sum += *(const uint8_t *)value.mv_data;
	}
	out->ns = bench_cpu() - start;
	out->done = raw->keys.n;
	out->sum = sum;
}

/* What a search asks for need not be stored. The sum counts what is. */
static void get_search(struct raw *raw, bool renews, struct bench_result *out)
{
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < raw->search.n; i++) {
		const struct bench_node *node = &raw->search.nodes[i];
		for (size_t j = 0; j < node->visited; j++) {
			const struct chi_key *asked = &raw->search.keys[node->first + j];
			MDB_val key = {asked->len, (void *)(uintptr_t)asked->bytes};
			MDB_val value;
			if (renews) {
				mdb_txn_reset(raw->txn);
				must(mdb_txn_renew(raw->txn), "mdb_txn_renew");
			}
			int status = mdb_get(raw->txn, raw->position, &key, &value);
			if (status != 0 && status != MDB_NOTFOUND) {
				bench_die("search: %s", mdb_strerror(status));
			}
			out->sum += status == 0;
		}
	}
	out->ns = bench_cpu() - start;
	out->done = raw->search.visited;
}

/* Touches each key and each value; a value of no bytes has only its address. */
static void walk(struct raw *raw, struct bench_result *out)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	int status;
	uint64_t sum = 0;
	uint64_t values = 0;
	uint64_t start = bench_cpu();
	must(mdb_cursor_open(raw->txn, raw->strength, &cursor), "mdb_cursor_open");
	while ((status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
		const uint8_t *bytes = key.mv_data;
		sum += (uint64_t)bytes[1] * 100 + bytes[0];
		values += value.mv_size != 0 ? *(const uint8_t *)value.mv_data : 0;
		out->done++;
	}
	mdb_cursor_close(cursor);
	out->ns = bench_cpu() - start;
	out->sum = sum;
	raw->values = values;
	if (status != MDB_NOTFOUND) {
		bench_die("walk: %s", mdb_strerror(status));
	}
}

/* LMDB takes no lock on the data file, so that mapping it once more, and closing it, loses none. */
static void map_file(struct raw *raw)
{
	char path[4096];
	struct stat info;
	(void)snprintf(path, sizeof(path), "%s/data.mdb", raw->path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) != 0 || info.st_size < LINE_BYTES) {
		bench_die("cannot read '%s'", path);
	}
	raw->map_len = (size_t)info.st_size;
	raw->map = mmap(NULL, raw->map_len, PROT_READ, MAP_SHARED, fd, 0);
	if (raw->map == MAP_FAILED) {
		bench_die("cannot map '%s'", path);
	}
	close(fd);
}

/* One cache line of the data file after the other, by chance, each after the answer of the one
 * before: what a single wait for memory of that size costs. */
static void touch(struct raw *raw, struct bench_result *out)
{
	uint64_t state = 1;
	uint64_t bit = 0;
	if (raw->map == NULL) {
		map_file(raw);
	}
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < TOUCHES; i++) {
		state += bit; /* the next line is not known before */
		bit = raw->map[bench_random(&state) % (raw->map_len / LINE_BYTES) * LINE_BYTES] & 1;
	}
	out->ns = bench_cpu() - start;
	out->done = TOUCHES;
	raw->values = bit;
}

static bool run_step(void *context, const char *name, struct bench_result *out)
{
	struct raw *raw = context;
	/* In one snapshot, or each in one of its own. */
	bool renews = strncmp(name, "renew-", strlen("renew-")) == 0;
	const char *order = strchr(name, '-');
	bool gets = order != NULL && (renews || strncmp(name, "get-", strlen("get-")) == 0);
	if (gets && strcmp(order, "-games") == 0) {
		get_all(raw, raw->keys.games, renews, out);
	} else if (gets && strcmp(order, "-random") == 0) {
		get_all(raw, raw->keys.random, renews, out);
	} else if (gets && strcmp(order, "-search") == 0) {
		get_search(raw, renews, out);
	} else if (strcmp(name, "walk") == 0) {
		walk(raw, out);
	} else if (strcmp(name, "touch") == 0) {
		touch(raw, out);
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct raw raw = {0};
	if (argc != 3) {
		fprintf(stderr, "usage: bench_raw STORE LISTS\n");
		return 2;
	}
	bench_keys_load(argv[2], &raw.keys);
	bench_search_make(&raw.keys, &raw.search);
	static char plain[BENCH_PLAIN_SIZE];
	bench_records_plain(argv[1], plain);
	raw.path = plain;
	open_raw(&raw, plain);
	bench_serve(run_step, &raw);
	mdb_txn_abort(raw.txn);
	mdb_env_close(raw.env);
	if (raw.map != NULL) {
		(void)munmap((void *)(uintptr_t)raw.map, raw.map_len);
	}
	bench_search_free(&raw.search);
	bench_keys_free(&raw.keys);
	return 0;
}
