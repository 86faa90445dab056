/* SPDX-License-Identifier: MIT */
/*
 * bench_librados CONF POOL NAME SHARDS STORE LISTS: plain librados on the entries that our store
 * has for the records of STORE, in the same number of objects; ours beside it is bench_client. What
 * a program would do at best that only wants its bytes back: nothing is read before it is written,
 * merged, checked or counted. A record is two omap entries of one object, written by one operation:
 * its position with the record's bytes, and a key of a statistic and the position.
 *
 *   get LIST COUNT         a key a call, one at a time
 *   mget LIST BATCH COUNT  BATCH keys, an operation for each object, all on the way at once
 *   puts sync 1 COUNT      two small entries a call, one call at a time
 *   bulk BATCH             all records, BATCH a call, an operation for each object
 *   range                  the second entries of one object after the other, 1,024 an operation
 */
#include <rados/librados.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/lists.h"
#include "bench/records.h"

#define SHARDS_MAX 4096
#define BATCH_MAX  10000
#define PAGE	   1024
#define KEY_ROOM   (2 * (CHI_KEY_MAX + 3))
#define VALUE_SIZE 12 /* of a record with one count */

static const char *const names[] = {"games", "random", "search"};
#define LISTS (sizeof(names) / sizeof(names[0]))

/* An omap key, and what belongs to it. */
struct entry {
	unsigned shard;
	size_t key_len;
	size_t value_len;
	const char *value;
	char key[KEY_ROOM + 1];
};

struct bench {
	rados_t cluster;
	rados_ioctx_t io;
	const char *name;
	const char *source;
	unsigned shards;
	struct bench_list lists[LISTS];
	struct entry *records;
	size_t n_records;
	size_t capacity;
	/* One call: its entries, sorted by shard, and an operation for each. */
	struct entry entries[2 * BATCH_MAX];
	const char *keys[2 * BATCH_MAX];
	const char *values[2 * BATCH_MAX];
	size_t key_lens[2 * BATCH_MAX];
	size_t value_lens[2 * BATCH_MAX];
	size_t first[SHARDS_MAX + 1];
	rados_completion_t done[SHARDS_MAX];
	rados_read_op_t reads[SHARDS_MAX];
	rados_write_op_t writes[SHARDS_MAX];
	rados_omap_iter_t found[SHARDS_MAX];
	int status[SHARDS_MAX];
};

static void must(int status, const char *what)
{
	if (status < 0) {
		bench_die("%s: %s", what, strerror(-status));
	}
}

/* FNV-1a: any spread does. */
static unsigned shard_of(const struct bench *bench, const uint8_t *key, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < len; i++) {
		hash = (hash ^ key[i]) * 0x100000001b3u;
	}
	return (unsigned)((hash ^ (hash >> 32)) % bench->shards);
}

static const char *object(const struct bench *bench, unsigned shard, char out[256])
{
	(void)snprintf(out, 256, "%s.%08x", bench->name, shard);
	return out;
}

/* No key may hold a NUL where librados takes it as a text. */
static void escape(char tree, const uint8_t *bytes, size_t len, struct entry *out)
{
	out->key_len = 0;
	out->key[out->key_len++] = tree;
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] <= 1) {
			out->key[out->key_len++] = 1;
			out->key[out->key_len++] = (char)(bytes[i] + 1);
		} else {
			out->key[out->key_len++] = (char)bytes[i];
		}
	}
	out->key[out->key_len] = '\0';
}

static void make_entry(const struct bench *bench, const uint8_t *key, size_t len, const char *value,
		       size_t value_len, struct entry *out)
{
	out->shard = shard_of(bench, key, len);
	out->value = value;
	out->value_len = value_len;
	escape('p', key, len, out);
}

/* The record's second entry: a statistic of some spread, and the position. */
static void make_second(const struct entry *record, struct entry *out)
{
	uint8_t drawn = (uint8_t)(record->key_len * 7 + (uint8_t)record->key[record->key_len - 1]);
	*out = *record;
	out->key[0] = 's';
	out->key[1] = (char)(2 + drawn % 90);
	out->key[2] = (char)(2 + drawn / 3);
	memcpy(out->key + 3, record->key + 1, record->key_len);
	out->key_len += 2;
	out->value = "";
	out->value_len = 0;
}

/* Sorts the first `n` entries by shard, into the arrays that librados takes. */
static void sort_by_shard(struct bench *bench, size_t n)
{
	size_t at[SHARDS_MAX + 1];
	memset(bench->first, 0, sizeof(bench->first));
	for (size_t i = 0; i < n; i++) {
		bench->first[bench->entries[i].shard + 1]++;
	}
	for (unsigned s = 0; s < bench->shards; s++) {
		bench->first[s + 1] += bench->first[s];
	}
	memcpy(at, bench->first, sizeof(at));
	for (size_t i = 0; i < n; i++) {
		const struct entry *entry = &bench->entries[i];
		size_t to = at[entry->shard]++;
		bench->keys[to] = entry->key;
		bench->key_lens[to] = entry->key_len;
		bench->values[to] = entry->value;
		bench->value_lens[to] = entry->value_len;
	}
}

static size_t share(const struct bench *bench, unsigned shard)
{
	return bench->first[shard + 1] - bench->first[shard];
}

/* How many of the first `n` entries are there. */
static uint64_t read_entries(struct bench *bench, size_t n)
{
	char name[256];
	uint64_t found = 0;
	sort_by_shard(bench, n);
	for (unsigned s = 0; s < bench->shards; s++) {
		size_t from = bench->first[s];
		if (share(bench, s) == 0) {
			continue;
		}
		bench->reads[s] = rados_create_read_op();
		rados_read_op_omap_get_vals_by_keys2(bench->reads[s], bench->keys + from,
						     share(bench, s), bench->key_lens + from,
						     &bench->found[s], &bench->status[s]);
		must(rados_aio_create_completion2(NULL, NULL, &bench->done[s]), "completion");
		must(rados_aio_read_op_operate(bench->reads[s], bench->io, bench->done[s],
					       object(bench, s, name), 0),
		     "read");
	}
	for (unsigned s = 0; s < bench->shards; s++) {
		if (share(bench, s) > 0) {
			(void)rados_aio_wait_for_complete(bench->done[s]);
			must(rados_aio_get_return_value(bench->done[s]), "read");
			must(bench->status[s], "read");
			found += rados_omap_iter_size(bench->found[s]);
			rados_omap_get_end(bench->found[s]);
			rados_aio_release(bench->done[s]);
			rados_release_read_op(bench->reads[s]);
		}
	}
	return found;
}

static void write_entries(struct bench *bench, size_t n)
{
	char name[256];
	sort_by_shard(bench, n);
	for (unsigned s = 0; s < bench->shards; s++) {
		size_t from = bench->first[s];
		if (share(bench, s) == 0) {
			continue;
		}
		bench->writes[s] = rados_create_write_op();
		rados_write_op_omap_set2(bench->writes[s], bench->keys + from, bench->values + from,
					 bench->key_lens + from, bench->value_lens + from,
					 share(bench, s));
		must(rados_aio_create_completion2(NULL, NULL, &bench->done[s]), "completion");
		must(rados_aio_write_op_operate(bench->writes[s], bench->io, bench->done[s],
						object(bench, s, name), NULL, 0),
		     "write");
	}
	for (unsigned s = 0; s < bench->shards; s++) {
		if (share(bench, s) > 0) {
			(void)rados_aio_wait_for_complete(bench->done[s]);
			must(rados_aio_get_return_value(bench->done[s]), "write");
			rados_aio_release(bench->done[s]);
			rados_release_write_op(bench->writes[s]);
		}
	}
}

/* ---- Operations ----------------------------------------------------------------------------- */

static void get(struct bench *bench, const struct bench_list *list, size_t batch, size_t n,
		struct bench_result *out)
{
	for (size_t i = 0; i < n; i += batch) {
		size_t len = n - i < batch ? n - i : batch;
		for (size_t j = 0; j < len; j++) {
			const struct chi_key *key = &list->keys[i + j];
			make_entry(bench, key->bytes, key->len, "", 0, &bench->entries[j]);
		}
		out->sum += read_entries(bench, len);
	}
	out->done = n;
}

static void put_small(struct bench *bench, size_t n, struct bench_result *out)
{
	static const char value[VALUE_SIZE] = {1};
	const struct bench_list *list = &bench->lists[1];
	for (size_t i = 0; i < n; i++) {
		const struct chi_key *key = &list->keys[i % list->n];
		make_entry(bench, key->bytes, key->len, value, sizeof(value), &bench->entries[0]);
		make_second(&bench->entries[0], &bench->entries[1]);
		write_entries(bench, 2);
	}
	out->done = n;
}

static void keep_record(void *context, const void *key, size_t key_len, const void *value,
			size_t value_len)
{
	struct bench *bench = context;
	if (bench->n_records == bench->capacity) {
		bench->capacity = bench->capacity == 0 ? 65536 : bench->capacity * 2;
		bench->records = realloc(bench->records, bench->capacity * sizeof(*bench->records));
	}
	char *copy = malloc(value_len);
	if (bench->records == NULL || copy == NULL) {
		bench_die("out of memory");
	}
	memcpy(copy, value, value_len);
	make_entry(bench, key, key_len, copy, value_len, &bench->records[bench->n_records++]);
}

static void bulk(struct bench *bench, size_t batch, struct bench_result *out)
{
	if (bench->records == NULL) {
		(void)bench_records_each(bench->source, "position", keep_record, bench);
	}
	uint64_t start = bench_now();
	for (size_t i = 0; i < bench->n_records; i += batch) {
		size_t left = bench->n_records - i;
		size_t n = left < batch ? left : batch;
		for (size_t j = 0; j < n; j++) {
			bench->entries[2 * j] = bench->records[i + j];
			make_second(&bench->records[i + j], &bench->entries[2 * j + 1]);
		}
		write_entries(bench, 2 * n);
	}
	out->ns = bench_now() - start;
	out->done = bench->n_records;
}

/* Returns how many entries the operation gave; `after` becomes the last of them. */
static size_t read_page(struct bench *bench, unsigned shard, char after[KEY_ROOM + 1])
{
	char name[256];
	rados_omap_iter_t found = NULL;
	unsigned char more = 0;
	int status = 0;
	char *key = NULL;
	char *value = NULL;
	size_t key_len = 0;
	size_t value_len = 0;
	size_t n = 0;
	rados_read_op_t op = rados_create_read_op();
	rados_read_op_omap_get_vals2(op, after, "s", PAGE, &found, &more, &status);
	must(rados_read_op_operate(op, bench->io, object(bench, shard, name), 0), "range");
	must(status, "range");
	while (rados_omap_get_next2(found, &key, &value, &key_len, &value_len) == 0 &&
	       key != NULL && key_len <= KEY_ROOM) {
		memcpy(after, key, key_len);
		after[key_len] = '\0';
		n++;
	}
	rados_omap_get_end(found);
	rados_release_read_op(op);
	return n;
}

static void range(struct bench *bench, struct bench_result *out)
{
	for (unsigned s = 0; s < bench->shards; s++) {
		char after[KEY_ROOM + 1] = "s";
		size_t n;
		while ((n = read_page(bench, s, after)) > 0) {
			out->done += n;
		}
	}
}

static bool run_line(void *context, const char *line, struct bench_result *out)
{
	struct bench *bench = context;
	char name[16] = "random";
	size_t batch = 1;
	size_t n = 0;
	uint64_t start = bench_now();
	if (strcmp(line, "range") == 0) {
		range(bench, out);
	} else if (sscanf(line, "bulk %zu", &batch) == 1 && batch > 0 && batch <= BATCH_MAX) {
		bulk(bench, batch, out); /* has its own clock */
		return true;
	} else if (sscanf(line, "puts sync 1 %zu", &n) == 1) {
		put_small(bench, n, out);
	} else if (sscanf(line, "get %15s %zu", name, &n) == 2 ||
		   (sscanf(line, "mget %15s %zu %zu", name, &batch, &n) == 3 && batch > 0 &&
		    batch <= BATCH_MAX)) {
		for (size_t i = 0; i < LISTS; i++) {
			if (strcmp(name, names[i]) == 0) {
				const struct bench_list *list = &bench->lists[i];
				get(bench, list, batch, n < list->n ? n : list->n, out);
			}
		}
	} else {
		return false;
	}
	out->ns = bench_now() - start;
	return true;
}

int main(int argc, char **argv)
{
	static struct bench bench; /* its batches are too large for a stack */
	if (argc != 7) {
		fprintf(stderr, "usage: bench_librados CONF POOL NAME SHARDS STORE LISTS\n");
		return 2;
	}
	bench.name = argv[3];
	bench.shards = (unsigned)strtoul(argv[4], NULL, 10);
	bench.source = argv[5];
	if (bench.shards == 0 || bench.shards > SHARDS_MAX) {
		bench_die("shards: 1 to %d", SHARDS_MAX);
	}
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_load(argv[6], names[i], &bench.lists[i]);
	}
	must(rados_create(&bench.cluster, NULL), "rados_create");
	must(rados_conf_read_file(bench.cluster, argv[1]), argv[1]);
	must(rados_connect(bench.cluster), "rados_connect");
	must(rados_ioctx_create(bench.cluster, argv[2], &bench.io), argv[2]);
	bench_serve(run_line, &bench);
	rados_ioctx_destroy(bench.io);
	rados_shutdown(bench.cluster);
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_free(&bench.lists[i]);
	}
	for (size_t i = 0; i < bench.n_records; i++) {
		free((char *)(uintptr_t)bench.records[i].value);
	}
	free(bench.records);
	return 0;
}
