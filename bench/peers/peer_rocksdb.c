/* SPDX-License-Identifier: MIT */
/* RocksDB through its C interface: pinned values, so that nothing is copied; multi_get in groups of
 * 32 for many keys. */
#include "bench/peers/peer.h"

#include <stdlib.h>

#include <rocksdb/c.h>

#include "bench/bench.h"

#define GROUP 32

struct rocks {
	rocksdb_t *db;
	rocksdb_writebatch_t *batch;
	rocksdb_readoptions_t *read;
	rocksdb_writeoptions_t *write;
	rocksdb_column_family_handle_t *family;
	rocksdb_options_t *options;
	int n; /* records in the batch */
};

static void must(const char *error, const char *what)
{
	if (error != NULL) {
		bench_die("%s: %s", what, error);
	}
}

/* What the options are made of they share the ownership of, but for the cache's handle. */
static rocksdb_options_t *make_options(void)
{
	rocksdb_options_t *options = rocksdb_options_create();
	rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
	rocksdb_cache_t *cache = rocksdb_cache_create_lru(PEER_CACHE_BYTES);
	rocksdb_options_set_create_if_missing(options, 1);
	rocksdb_options_set_compression(options, rocksdb_no_compression);
	rocksdb_options_set_write_buffer_size(options, (size_t)64 << 20);
	rocksdb_block_based_options_set_block_cache(table, cache);
	rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10));
	/* A hash index inside the blocks: its manual's advice for point look-ups. */
	rocksdb_block_based_options_set_data_block_index_type(
		table, rocksdb_block_based_table_data_block_index_type_binary_search_and_hash);
	rocksdb_options_set_block_based_table_factory(options, table);
	rocksdb_block_based_options_destroy(table);
	rocksdb_cache_destroy(cache);
	return options;
}

static void *open_rocks(const char *path)
{
	char *error = NULL;
	struct rocks *rocks = calloc(1, sizeof(*rocks));
	if (rocks == NULL) {
		bench_die("out of memory");
	}
	const char *name = "default";
	rocks->options = make_options();
	const rocksdb_options_t *family_options = rocks->options;
	rocks->db = rocksdb_open_column_families(rocks->options, path, 1, &name, &family_options,
						 &rocks->family, &error);
	must(error, "rocksdb_open_column_families");
	rocks->batch = rocksdb_writebatch_create();
	rocks->read = rocksdb_readoptions_create();
	rocksdb_readoptions_set_verify_checksums(rocks->read, 0);
	rocks->write = rocksdb_writeoptions_create();
	rocksdb_writeoptions_disable_WAL(rocks->write, 1);
	return rocks;
}

static void write_batch(struct rocks *rocks)
{
	char *error = NULL;
	rocksdb_write(rocks->db, rocks->write, rocks->batch, &error);
	must(error, "rocksdb_write");
	rocksdb_writebatch_clear(rocks->batch);
	rocks->n = 0;
}

static void put(void *store, const void *key, size_t key_len, const void *value, size_t value_len)
{
	struct rocks *rocks = store;
	rocksdb_writebatch_put(rocks->batch, key, key_len, value, value_len);
	if (++rocks->n == PEER_BATCH) {
		write_batch(rocks);
	}
}

static void filled(void *store)
{
	struct rocks *rocks = store;
	char *error = NULL;
	rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
	write_batch(rocks);
	rocksdb_flush(rocks->db, flush, &error);
	must(error, "rocksdb_flush");
	rocksdb_compact_range(rocks->db, NULL, 0, NULL, 0);
	rocksdb_flushoptions_destroy(flush);
}

static bool get(void *store, const struct chi_key *key, uint64_t *touched)
{
	struct rocks *rocks = store;
	char *error = NULL;
	size_t len = 0;
	rocksdb_pinnableslice_t *slice = rocksdb_get_pinned(
		rocks->db, rocks->read, (const char *)key->bytes, key->len, &error);
	must(error, "rocksdb_get_pinned");
	if (slice == NULL) {
		return false;
	}
	*touched += (unsigned char)rocksdb_pinnableslice_value(slice, &len)[0];
	rocksdb_pinnableslice_destroy(slice);
	return true;
}

static uint64_t get_many(void *store, const struct chi_key *keys, size_t n)
{
	struct rocks *rocks = store;
	uint64_t found = 0;
	for (size_t i = 0; i < n; i += GROUP) {
		const char *names[GROUP];
		size_t lens[GROUP];
		rocksdb_pinnableslice_t *values[GROUP];
		char *errors[GROUP];
		size_t len = n - i < GROUP ? n - i : GROUP;
		for (size_t j = 0; j < len; j++) {
			names[j] = (const char *)keys[i + j].bytes;
			lens[j] = keys[i + j].len;
		}
		rocksdb_batched_multi_get_cf(rocks->db, rocks->read, rocks->family, len, names,
					     lens, values, errors, false);
		for (size_t j = 0; j < len; j++) {
			must(errors[j], "rocksdb_batched_multi_get_cf");
			found += values[j] != NULL;
			rocksdb_pinnableslice_destroy(values[j]);
		}
	}
	return found;
}

static void close_rocks(void *store)
{
	struct rocks *rocks = store;
	rocksdb_column_family_handle_destroy(rocks->family);
	rocksdb_close(rocks->db);
	rocksdb_writebatch_destroy(rocks->batch);
	rocksdb_readoptions_destroy(rocks->read);
	rocksdb_writeoptions_destroy(rocks->write);
	rocksdb_options_destroy(rocks->options);
	free(rocks);
}

const struct peer peer = {
	.open = open_rocks,
	.put = put,
	.filled = filled,
	.get = get,
	.get_many = get_many,
	.close = close_rocks,
};
