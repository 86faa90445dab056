/* SPDX-License-Identifier: MIT */
/* Lists of keys in files: the orders that all programs are asked in. make_lists writes them. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "chistore/types.h"

struct bench_list {
	struct chi_key *keys;
	size_t n;
};

/* FOLDER/NAME.keys; each ends the program on failure. */
void bench_list_save(const char *folder, const char *name, const struct bench_list *list);
void bench_list_load(const char *folder, const char *name, struct bench_list *out);
void bench_list_free(struct bench_list *list);

/* Grows by doubling; `capacity` belongs to the appender. */
void bench_list_append(struct bench_list *list, size_t *capacity, const struct chi_key *key);

/* Fisher and Yates with a fixed seed: the same order in every run. */
void bench_list_shuffle(struct bench_list *list);

/* Appends the positions of all games, until there are `most`; ends the program on failure. */
void bench_list_read_pgn(FILE *file, size_t most, struct bench_list *list, size_t *capacity);
