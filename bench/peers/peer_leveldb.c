/* SPDX-License-Identifier: MIT */
/* LevelDB through its C interface. Its get hands out a copy that the caller frees: there is no
 * other. */
#include "bench/peers/peer.h"

#include <stdlib.h>

#include <leveldb/c.h>

#include "bench/bench.h"

struct level {
	leveldb_t *db;
	leveldb_writebatch_t *batch;
	leveldb_readoptions_t *read;
	leveldb_writeoptions_t *write;
	leveldb_options_t *options;
	leveldb_cache_t *cache;
	leveldb_filterpolicy_t *filter;
	int n; /* records in the batch */
};

static void must(const char *error, const char *what)
{
	if (error != NULL) {
		bench_die("%s: %s", what, error);
	}
}

static void *open_level(const char *path)
{
	char *error = NULL;
	struct level *level = calloc(1, sizeof(*level));
	if (level == NULL) {
		bench_die("out of memory");
	}
	leveldb_options_t *options = level->options = leveldb_options_create();
	level->cache = leveldb_cache_create_lru(PEER_CACHE_BYTES);
	level->filter = leveldb_filterpolicy_create_bloom(10);
	leveldb_options_set_create_if_missing(options, 1);
	leveldb_options_set_compression(options, leveldb_no_compression);
	leveldb_options_set_write_buffer_size(options, (size_t)64 << 20);
	leveldb_options_set_cache(options, level->cache);
	leveldb_options_set_filter_policy(options, level->filter);
	level->db = leveldb_open(options, path, &error);
	must(error, "leveldb_open");
	level->batch = leveldb_writebatch_create();
	level->read = leveldb_readoptions_create();
	leveldb_readoptions_set_verify_checksums(level->read, 0);
	level->write = leveldb_writeoptions_create();
	return level;
}

static void write_batch(struct level *level)
{
	char *error = NULL;
	leveldb_write(level->db, level->write, level->batch, &error);
	must(error, "leveldb_write");
	leveldb_writebatch_clear(level->batch);
	level->n = 0;
}

static void put(void *store, const void *key, size_t key_len, const void *value, size_t value_len)
{
	struct level *level = store;
	leveldb_writebatch_put(level->batch, key, key_len, value, value_len);
	if (++level->n == PEER_BATCH) {
		write_batch(level);
	}
}

static void filled(void *store)
{
	struct level *level = store;
	write_batch(level);
	leveldb_compact_range(level->db, NULL, 0, NULL, 0);
}

static bool get(void *store, const struct chi_key *key, uint64_t *touched)
{
	struct level *level = store;
	char *error = NULL;
	size_t len = 0;
	char *value = leveldb_get(level->db, level->read, (const char *)key->bytes, key->len, &len,
				  &error);
	must(error, "leveldb_get");
	if (value == NULL) {
		return false;
	}
	*touched += (unsigned char)value[0];
	leveldb_free(value);
	return true;
}

static void close_level(void *store)
{
	struct level *level = store;
	leveldb_close(level->db);
	leveldb_writebatch_destroy(level->batch);
	leveldb_readoptions_destroy(level->read);
	leveldb_writeoptions_destroy(level->write);
	leveldb_options_destroy(level->options);
	leveldb_cache_destroy(level->cache);
	leveldb_filterpolicy_destroy(level->filter);
	free(level);
}

const struct peer peer = {
	.open = open_level,
	.put = put,
	.filled = filled,
	.get = get,
	.close = close_level,
};
