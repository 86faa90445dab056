/* SPDX-License-Identifier: MIT */
/*
 * bench_fill STORE LISTS OPERATIONS: how full blocks stay while positions come, change and go at
 * random. STORE is empty and of statistic external, so that both trees change with each operation.
 * The positions are those of random.keys; a fifth of the operations each is spent growing,
 * changing without growth, shrinking to a tenth, changing again, and growing again. Changes
 * alternate between a put, a delete and an update, a thousand of a kind in a transaction.
 *
 * Prints a line now and then, and last the least fullness of all lines but those of the first
 * tenth, while the tree has few blocks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "bench/bench.h"
#include "chistore.h"

#define OPERATIONS_MAX 10000000000u
#define BATCH	       1000u
#define LINES	       100 /* printed of all */
#define SEED	       20040303
#define BLOCK_BYTES    2030

struct churn {
	struct bench_keys keys; /* of random: the first `stored` are in the store */
	size_t stored;
	struct chi_client *client;
	uint64_t random;
	struct chi_put_entry puts[BATCH];
	char note[64]; /* its start is the note of a record, so that records differ in length */
};

static void must(const struct churn *churn, int status, const char *what)
{
	if (status != CHI_OK) {
		bench_die("%s: %s (%s)", what, chi_strerror(status),
			  churn->client != NULL ? chi_error(churn->client) : "");
	}
}

static size_t below(struct churn *churn, size_t n)
{
	return (size_t)(bench_random(&churn->random) % n);
}

static void swap(struct churn *churn, size_t a, size_t b)
{
	struct chi_key key = churn->keys.random[a];
	churn->keys.random[a] = churn->keys.random[b];
	churn->keys.random[b] = key;
}

/* Any statistic, some counts, now and then a note. */
static struct chi_put_entry random_put(struct churn *churn, const struct chi_key *key)
{
	uint64_t random = bench_random(&churn->random);
	return (struct chi_put_entry){
		.key = *key,
		.parts = CHI_PUT_CHI2 | CHI_PUT_COUNTS | CHI_PUT_NOTE,
		.record = {.chi2 = (uint16_t)(1 + random % CHI_CHI2_MAX),
			   .counts = {.white = random >> 20 & 3, .black = random >> 30 & 255},
			   .note = churn->note,
			   .n_note = (random >> 40 & 7) == 0 ? (size_t)(random >> 50 & 63) : 0},
	};
}

/* A thousand that are not stored. */
static void grow(struct churn *churn)
{
	size_t n = 0;
	struct chi_put_result result;
	for (; n < BATCH && churn->stored < churn->keys.n; n++, churn->stored++) {
		swap(churn, churn->stored,
		     churn->stored + below(churn, churn->keys.n - churn->stored));
		churn->puts[n] = random_put(churn, &churn->keys.random[churn->stored]);
	}
	must(churn, chi_put(churn->client, churn->puts, n, CHI_SYNC, &result), "chi_put");
}

static void shrink(struct churn *churn)
{
	struct chi_key keys[BATCH];
	size_t n = 0;
	uint64_t removed;
	for (; n < BATCH && churn->stored > 0; n++) {
		swap(churn, below(churn, churn->stored), churn->stored - 1);
		keys[n] = churn->keys.random[--churn->stored];
	}
	must(churn, chi_delete(churn->client, keys, n, CHI_SYNC, &removed), "chi_delete");
	if (removed != n) {
		bench_die("%" PRIu64 " of %zu positions were there", removed, n);
	}
}

static void update(struct churn *churn)
{
	struct chi_put_result result;
	for (size_t i = 0; i < BATCH; i++) {
		size_t at = below(churn, churn->stored);
		churn->puts[i] = random_put(churn, &churn->keys.random[at]);
	}
	must(churn, chi_put(churn->client, churn->puts, BATCH, CHI_SYNC, &result), "chi_put");
}

/* One batch, `i` of `n`. */
static void step(struct churn *churn, uint64_t i, uint64_t n)
{
	uint64_t fifth = i * 5 / n;
	bool grows = fifth == 0 || fifth == 4;
	bool shrinks = fifth == 2;
	if (shrinks ? churn->stored > churn->keys.n / 10 : !grows && i % 3 == 0) {
		shrink(churn);
	} else if (!shrinks && churn->stored < churn->keys.n && (grows || i % 3 == 1)) {
		grow(churn);
	} else {
		update(churn);
	}
}

/* Of the blocks of both trees. */
static double fullness(struct churn *churn)
{
	struct chi_info info;
	must(churn, chi_store_info(churn->client, &info), "chi_store_info");
	return (double)info.block_bytes / ((double)info.blocks * BLOCK_BYTES);
}

static void run_churn(struct churn *churn, uint64_t operations)
{
	uint64_t n = operations / BATCH;
	double least = 1;
	for (uint64_t i = 0; i < n; i++) {
		step(churn, i, n);
		if ((i + 1) * LINES / n == i * LINES / n) {
			continue;
		}
		double full = fullness(churn);
		printf("%" PRIu64 " operations: %zu positions, %.1f %% full\n", (i + 1) * BATCH,
		       churn->stored, 100 * full);
		least = i >= n / 10 && full < least ? full : least;
	}
	printf("least %.1f %%\n", 100 * least);
}

int main(int argc, char **argv)
{
	static struct churn churn = {.random = SEED};
	struct chi_fault fault = {.text = ""};
	const struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
	uint64_t operations;
	if (argc != 4 ||
	    chi_num_u64(argv[3], strlen(argv[3]), OPERATIONS_MAX, &operations) != CHI_OK ||
	    operations < (uint64_t)LINES * BATCH) {
		(void)fputs("usage: bench_fill STORE LISTS OPERATIONS\n", stderr);
		return 2;
	}
	bench_keys_load(argv[2], &churn.keys);
	for (size_t i = 0; i < sizeof(churn.note); i++) {
		churn.note[i] = 'n';
	}
	if (chi_open(argv[1], &options, &churn.client, &fault) != CHI_OK) {
		bench_die("%s", fault.text);
	}
	run_churn(&churn, operations);
	chi_close(churn.client);
	bench_keys_free(&churn.keys);
	return 0;
}
