/* SPDX-License-Identifier: MIT */
/*
 * Lists of keys in files, the orders that all programs are asked in (make_lists writes them), and
 * the records of a store as LMDB has them, which is what the peers are filled with.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct bench_list {
	struct chi_key *keys;
	size_t n;
};

/* FOLDER/NAME.keys; each ends the program on failure. */
void bench_list_save(const char *folder, const char *name, const struct bench_list *list);
void bench_list_load(const char *folder, const char *name, struct bench_list *out);
void bench_list_free(struct bench_list *list);

/* Grows by doubling; `capacity` belongs to whoever appends. */
void bench_list_append(struct bench_list *list, size_t *capacity, const struct chi_key *key);

/* Fisher and Yates with a fixed seed: the same order in every run. */
void bench_list_shuffle(struct bench_list *list);

/* Key and value of one entry of a tree; valid during the call. */
typedef void bench_record(void *context, const void *key, size_t key_len, const void *value,
			  size_t value_len);

/* All entries of the tree ("position", "strength") of the store in the directory `path`, in order;
 * returns their number. No other environment of this path may be open in the process. */
uint64_t bench_records_each(const char *path, const char *tree, bench_record *each, void *context);
