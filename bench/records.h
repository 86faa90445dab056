/* SPDX-License-Identifier: MIT */
/* The records of a store as LMDB has them, which is what the peers are filled with. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Key and value of one entry of a tree; valid during the call. */
typedef void bench_record(void *context, const void *key, size_t key_len, const void *value,
			  size_t value_len);

/* All entries of the tree ("position", "strength") of the store in the directory `path`, in order;
 * returns their number. No other environment of this path may be open in the process. */
uint64_t bench_records_each(const char *path, const char *tree, bench_record *each, void *context);
