/* SPDX-License-Identifier: MIT */
/*
 * bench_puts STORE LISTS BATCH OPERATION...: what writing costs this thread on a processor, BATCH
 * positions of random.keys a call. Operations, each over FROM-TO of the list:
 *
 *   put FROM TO      one game each, in the order of the list
 *   ordered FROM TO  the same by ascending key
 *   add FROM TO      one game more each
 *   same FROM TO     what is stored already: nothing changes
 *   delete FROM TO
 *
 * A call is durable when it returns, but for those of `put-async` and so on, which gather in one
 * transaction until the operation ends. Prints microseconds a position, one line an operation.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "bench/bench.h"
#include "chistore.h"

#define BATCH_MAX 10000u

struct put_writer {
	struct chi_client *client;
	struct bench_keys keys;
	struct chi_put_entry puts[BATCH_MAX];
	struct chi_key batch[BATCH_MAX];
	size_t size; /* of a batch */
};

static void must(const struct put_writer *writer, int status, const char *what)
{
	if (status != CHI_OK) {
		bench_die("%s: %s (%s)", what, chi_strerror(status),
			  writer->client != NULL ? chi_error(writer->client) : "");
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct chi_key *left = a;
	const struct chi_key *right = b;
	return memcmp(left->bytes, right->bytes, sizeof(left->bytes));
}

static void write_batch(struct put_writer *writer, bool removes, uint32_t parts, size_t n,
			enum chi_durability durability)
{
	struct chi_put_result result;
	uint64_t removed;
	if (removes) {
		must(writer, chi_delete(writer->client, writer->batch, n, durability, &removed),
		     "chi_delete");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		writer->puts[i] = (struct chi_put_entry){.key = writer->batch[i],
							 .parts = parts,
							 .record = {.counts = {.white = 1}}};
	}
	must(writer, chi_put(writer->client, writer->puts, n, durability, &result), "chi_put");
}

static void run_writer(struct put_writer *writer, const char *name, size_t from, size_t to)
{
	const char *suffix = strchr(name, '-');
	enum chi_durability durability = suffix != NULL ? CHI_ASYNC : CHI_SYNC;
	bool removes = name[0] == 'd';
	uint32_t parts = name[0] == 'a' ? CHI_PUT_ADD : CHI_PUT_COUNTS;
	struct chi_key *keys = malloc((to - from) * sizeof(*keys));
	if (keys == NULL || to > writer->keys.n || from >= to) {
		bench_die("%zu positions are not in the list", to);
	}
	memcpy(keys, writer->keys.random + from, (to - from) * sizeof(*keys));
	if (name[0] == 'o') {
		qsort(keys, to - from, sizeof(*keys), compare_keys);
	}
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < to - from; i += writer->size) {
		size_t n = to - from - i < writer->size ? to - from - i : writer->size;
		memcpy(writer->batch, keys + i, n * sizeof(*keys));
		write_batch(writer, removes, parts, n, durability);
	}
	must(writer, chi_flush(writer->client), "chi_flush");
	printf("%s %.3f\n", name, (double)(bench_cpu() - start) / 1000.0 / (double)(to - from));
	free(keys);
}

static size_t number(const char *text)
{
	uint64_t out;
	if (chi_num_u64(text, strlen(text), UINT32_MAX, &out) != CHI_OK) {
		bench_die("'%s' is no number", text);
	}
	return (size_t)out;
}

int main(int argc, char **argv)
{
	static struct put_writer writer;
	const struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
	struct chi_fault fault = {""};
	if (argc < 7 || (argc - 4) % 3 != 0) {
		bench_die("usage: bench_puts STORE LISTS BATCH OPERATION FROM TO ...");
	}
	writer.size = number(argv[3]);
	if (writer.size == 0 || writer.size > BATCH_MAX) {
		bench_die("batches of 1 to %u", BATCH_MAX);
	}
	bench_keys_load(argv[2], &writer.keys);
	if (chi_open(argv[1], &options, &writer.client, &fault) != CHI_OK) {
		bench_die("%s", fault.text);
	}
	for (int i = 4; i < argc; i += 3) {
		run_writer(&writer, argv[i], number(argv[i + 1]), number(argv[i + 2]));
	}
	chi_close(writer.client);
	bench_keys_free(&writer.keys);
	return 0;
}
