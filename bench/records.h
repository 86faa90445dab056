/* SPDX-License-Identifier: MIT */
/* The records of a store, which is what the peers are filled with. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Key and value of one entry of a tree; valid during the call. */
typedef void bench_record(void *context, const void *key, size_t key_len, const void *value,
			  size_t value_len);

/* All entries of the tree ("position", "strength") of the store in the directory `path`, in order;
 * returns their number. No other environment of this path may be open in the process. */
uint64_t bench_records_each(const char *path, const char *tree, bench_record *each, void *context);

/* The same records in an LMDB environment beside the store, an entry each with a checksum each, as
 * before there were blocks: what the store is held against. Made if it is not there; its path. */
#define BENCH_PLAIN_SIZE 4096
void bench_records_plain(const char *path, char plain[BENCH_PLAIN_SIZE]);
