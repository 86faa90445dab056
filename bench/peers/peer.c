/* SPDX-License-Identifier: MIT */
/*
 * peer_NAME PATH STORE LISTS: fills the store of another make in the directory PATH with the
 * records of our STORE, and looks up the lists of keys in the directory LISTS. Operations:
 * "load"; "get-LIST", a key a call; "many-LIST", many a call. "sum" is how many were found.
 */
#include "bench/peers/peer.h"

#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/lists.h"
#include "bench/records.h"

static const char *const names[] = {"games", "random", "search"};
#define LISTS (sizeof(names) / sizeof(names[0]))

struct bench {
	void *store;
	const char *source;
	struct bench_list lists[LISTS];
	volatile uint64_t touched; /* so that reading the values is not left out */
};

static void put(void *context, const void *key, size_t key_len, const void *value, size_t value_len)
{
	const struct bench *bench = context;
	peer.put(bench->store, key, key_len, value, value_len);
}

static void load(struct bench *bench, struct bench_result *out)
{
	uint64_t start = bench_now();
	out->done = 1;
	if (!peer.is_filled) {
		out->done = bench_records_each(bench->source, "position", put, bench);
		peer.filled(bench->store);
	}
	out->ns = bench_now() - start;
}

static void get(struct bench *bench, const struct bench_list *list, struct bench_result *out)
{
	uint64_t touched = 0;
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < list->n; i++) {
		out->sum += peer.get(bench->store, &list->keys[i], &touched);
	}
	out->ns = bench_cpu() - start;
	out->done = list->n;
	bench->touched = touched;
}

static void get_many(struct bench *bench, const struct bench_list *list, struct bench_result *out)
{
	uint64_t start = bench_cpu();
	out->sum = peer.get_many(bench->store, list->keys, list->n);
	out->ns = bench_cpu() - start;
	out->done = list->n;
}

static bool run_step(void *context, const char *name, struct bench_result *out)
{
	struct bench *bench = context;
	if (strcmp(name, "load") == 0) {
		load(bench, out);
		return true;
	}
	const char *order = strchr(name, '-');
	for (size_t i = 0; order != NULL && i < LISTS; i++) {
		if (strcmp(order + 1, names[i]) != 0) {
			continue;
		}
		if (strncmp(name, "get-", 4) == 0) {
			get(bench, &bench->lists[i], out);
			return true;
		}
		if (strncmp(name, "many-", 5) == 0 && peer.get_many != NULL) {
			get_many(bench, &bench->lists[i], out);
			return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	struct bench bench = {0};
	if (argc != 4) {
		fprintf(stderr, "usage: %s PATH STORE LISTS\n", argv[0]);
		return 2;
	}
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_load(argv[3], names[i], &bench.lists[i]);
	}
	bench.source = argv[2];
	bench.store = peer.open(argv[1]);
	bench_serve(run_step, &bench);
	peer.close(bench.store);
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_free(&bench.lists[i]);
	}
	return 0;
}
