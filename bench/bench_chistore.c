/* SPDX-License-Identifier: MIT */
/*
 * bench_chistore ADDRESS LISTS: the library's own figures. On a directory the operations
 * at store level work on the same environment that the client has opened (it is shared inside the
 * process); on a server's address they are refused.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/bench_prober.h"
#include "chess/material.h"
#include "chistore.h"
#include "store/store.h"

/* Positions asked one at a time over a socket in one round: enough for a second or so. */
#define SINGLES_MAX 50000
/* The largest batch a server takes. */
#define BATCH_MAX 4096
/* Rows a store-level scan fills at once, as the daemon does it. */
#define ROWS 256

struct bench {
	struct bench_keys keys;
	struct chi_client *client;
	struct chi_dir *store; /* NULL on a server's address */
	struct chi_row *rows;  /* BATCH_MAX */
	struct bench_prober prober;
};

static void must(const struct bench *bench, int status, const char *what)
{
	if (status != CHI_OK) {
		bench_die("%s: %s (%s)", what, chi_strerror(status),
			  bench->client != NULL ? chi_error(bench->client) : "");
	}
}

/* A client in this process waits for no one. */
static uint64_t clock_of(const struct bench *bench)
{
	return bench->store != NULL ? bench_cpu() : bench_now();
}

static uint64_t row_sum(const struct bench *bench, const struct chi_row *row)
{
	if (!row->found) {
		must(bench, -CHI_ENOSTORE, "a position is not in the store");
	}
	return row->chi2 + row->counts.white;
}

/* chi_probe of `batch` positions a call, `n` in all. */
static void probe(struct bench *bench, const struct chi_key *keys, size_t n, size_t batch,
		  struct bench_result *out)
{
	uint64_t start = clock_of(bench);
	for (size_t i = 0; i < n; i += batch) {
		size_t len = n - i < batch ? n - i : batch;
		must(bench, chi_probe(bench->client, keys + i, len, bench->rows), "chi_probe");
		for (size_t j = 0; j < len; j++) {
			out->sum += row_sum(bench, &bench->rows[j]);
		}
	}
	out->ns = clock_of(bench) - start;
	out->done = n;
}

/* A snapshot for each position, as a probe of one key takes it. */
static void get_rows(struct bench *bench, const struct chi_key *keys, struct bench_result *out)
{
	uint64_t start = bench_cpu();
	for (size_t i = 0; i < bench->keys.n; i++) {
		struct chi_read *read;
		must(bench, chi_read_begin(bench->store, &read), "chi_read_begin");
		must(bench, chi_read_row(read, &keys[i], bench->rows), "chi_read_row");
		chi_read_end(read);
		out->sum += row_sum(bench, bench->rows);
	}
	out->ns = bench_cpu() - start;
	out->done = bench->keys.n;
}

/* One snapshot held over all, as raw mdb_get has it. */
static void get_rows_held(struct bench *bench, const struct chi_key *keys, struct bench_result *out)
{
	struct chi_read *read;
	uint64_t start = bench_cpu();
	must(bench, chi_read_begin(bench->store, &read), "chi_read_begin");
	for (size_t i = 0; i < bench->keys.n; i++) {
		must(bench, chi_read_row(read, &keys[i], bench->rows), "chi_read_row");
		out->sum += row_sum(bench, bench->rows);
	}
	chi_read_end(read);
	out->ns = bench_cpu() - start;
	out->done = bench->keys.n;
}

/* The whole strength tree, not the positions without a statistic. */
static const struct chi_scan_spec everything = {CHI_SCAN_SPEC_INIT, .chi2_min = 1,
						.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_KEYS};

static void scan_iter(struct bench *bench, uint8_t want, struct bench_result *out)
{
	struct chi_rows *iter;
	struct chi_scan_spec spec = everything;
	const struct chi_row *row;
	int status;
	uint64_t start = clock_of(bench);
	spec.want = want;
	must(bench, chi_scan_open(bench->client, &spec, &iter), "chi_scan_open");
	while ((status = chi_scan_next(iter, &row, NULL)) == CHI_OK) {
		out->sum += row->chi2;
		out->done++;
	}
	chi_rows_close(iter);
	out->ns = clock_of(bench) - start;
	if (status != CHI_NONE) {
		must(bench, status, "chi_scan_next");
	}
}

/* Known positions with this material, of which there are few. */
static struct chi_scan_spec few(const struct bench *bench)
{
	static const char material[] = "KRPKR";
	struct chi_scan_spec spec = everything;
	spec.filter.has_material = true;
	spec.filter.either_colour = true;
	must(bench, chi_material_parse(material, strlen(material), &spec.filter.material, NULL),
	     material);
	return spec;
}

/* The entries that a walk through the strength tree would touch. */
static uint64_t known(const struct bench *bench)
{
	uint64_t count = 0;
	must(bench, chi_scan_count(bench->client, &everything, &count, NULL), "chi_scan_count");
	return count;
}

/* By as many threads as chi_scan_count takes, so that the time is that of the clock on the wall. */
static void count(const struct bench *bench, const struct chi_scan_spec *spec,
		  struct bench_result *out)
{
	out->done = known(bench);
	uint64_t start = bench_now();
	must(bench, chi_scan_count(bench->client, spec, &out->sum, NULL), "chi_scan_count");
	out->ns = bench_now() - start;
}

/* All bands but the last, whose count the tree's size does not tell. */
static void count_band(const struct bench *bench, struct bench_result *out)
{
	struct chi_scan_spec spec = everything;
	spec.chi2_max = CHI_CHI2_MAX - 1;
	count(bench, &spec, out);
}

static void scan_rows(struct bench *bench, const struct chi_scan_spec *spec,
		      struct bench_result *out)
{
	struct chi_read *read;
	struct chi_scan *scan;
	int status;
	uint64_t start = bench_cpu();
	must(bench, chi_read_begin(bench->store, &read), "chi_read_begin");
	must(bench, chi_read_scan(read, spec, &scan, NULL), "chi_read_scan");
	do {
		size_t n = 0;
		status = chi_scan_rows(scan, bench->rows, ROWS, 1u << 20, &n);
		for (size_t i = 0; i < n; i++) {
			out->sum += bench->rows[i].chi2;
		}
		out->done += n;
	} while (status == CHI_OK);
	chi_scan_free(scan);
	chi_read_end(read);
	out->ns = bench_cpu() - start;
	if (status != CHI_NONE) {
		must(bench, status, "chi_scan_rows");
	}
}

/* Counts and scans that look at entries and deliver few: what is done is what they looked at. */
static bool run_few(struct bench *bench, const char *name, struct bench_result *out)
{
	struct chi_scan_spec spec = few(bench);
	if (strcmp(name, "count-band") == 0) {
		count_band(bench, out);
	} else if (strcmp(name, "count-material") == 0) {
		count(bench, &spec, out);
	} else if (strcmp(name, "scan-material") == 0) {
		scan_rows(bench, &spec, out);
		out->done = known(bench);
	} else {
		return false;
	}
	return true;
}

/* "many-N-games", "many-N-random": chi_probe of N positions a call, all of the list. */
static bool run_many(struct bench *bench, const char *name, struct bench_result *out)
{
	char *order;
	unsigned long batch = strtoul(name + strlen("many-"), &order, 10);
	bool games = strcmp(order, "-games") == 0;
	if (batch == 0 || batch > BATCH_MAX || (!games && strcmp(order, "-random") != 0)) {
		return false;
	}
	probe(bench, games ? bench->keys.games : bench->keys.random, bench->keys.n, batch, out);
	return true;
}

/* "batch-N": N positions a call, in the order of games. */
static bool run_batch(struct bench *bench, const char *name, struct bench_result *out)
{
	unsigned long batch = strtoul(name + strlen("batch-"), NULL, 10);
	size_t n = bench->keys.n;
	if (batch == 0 || batch > BATCH_MAX) {
		return false;
	}
	if (batch == 1 && n > SINGLES_MAX) {
		n = SINGLES_MAX;
	}
	probe(bench, bench->keys.games, n, batch, out);
	return true;
}

/* What needs the store itself, in this process. */
static bool run_store(struct bench *bench, const char *name, struct bench_result *out)
{
	if (bench->store == NULL) {
		return false;
	}
	if (strcmp(name, "row-games") == 0) {
		get_rows(bench, bench->keys.games, out);
	} else if (strcmp(name, "row-random") == 0) {
		get_rows(bench, bench->keys.random, out);
	} else if (strcmp(name, "held-games") == 0) {
		get_rows_held(bench, bench->keys.games, out);
	} else if (strcmp(name, "held-random") == 0) {
		get_rows_held(bench, bench->keys.random, out);
	} else if (strcmp(name, "scan-rows") == 0) {
		scan_rows(bench, &everything, out);
	} else {
		return run_few(bench, name, out);
	}
	return true;
}

static bool run_step(void *context, const char *name, struct bench_result *out)
{
	struct bench *bench = context;
	if (strcmp(name, "probe-games") == 0) {
		probe(bench, bench->keys.games, bench->keys.n, 1, out);
	} else if (strcmp(name, "probe-random") == 0) {
		probe(bench, bench->keys.random, bench->keys.n, 1, out);
	} else if (strncmp(name, "prober-", 7) == 0) {
		return bench_prober_run(&bench->prober, &bench->keys, name + 7, out);
	} else if (strncmp(name, "batch-", 6) == 0) {
		return run_batch(bench, name, out);
	} else if (strncmp(name, "many-", 5) == 0) {
		return run_many(bench, name, out);
	} else if (strcmp(name, "scan-iter") == 0) {
		scan_iter(bench, CHI_WANT_KEYS, out);
	} else if (strcmp(name, "scan-counts") == 0) {
		scan_iter(bench, CHI_WANT_COUNTS, out);
	} else {
		return run_store(bench, name, out);
	}
	return true;
}

static void open_bench(struct bench *bench, const char *address)
{
	struct chi_fault fault = {""};
	struct chi_dir_options options = {.mode = CHI_STORE_READ};
	if (chi_open(address, NULL, &bench->client, &fault) != CHI_OK) {
		bench_die("cannot open '%s': %s", address, fault.text);
	}
	if (strncmp(address, "unix:", 5) != 0 && strncmp(address, "tcp:", 4) != 0 &&
	    chi_dir_open(address, &options, &bench->store, &fault) != CHI_OK) {
		bench_die("cannot open '%s': %s", address, fault.text);
	}
	bench->rows = calloc(BATCH_MAX, sizeof(*bench->rows));
	if (bench->rows == NULL) {
		bench_die("out of memory");
	}
}

int main(int argc, char **argv)
{
	struct bench bench = {0};
	if (argc != 3) {
		fprintf(stderr, "usage: bench_chistore ADDRESS LISTS\n");
		return 2;
	}
	bench_keys_load(argv[2], &bench.keys);
	open_bench(&bench, argv[1]);
	bench_prober_open(bench.client, &bench.keys, &bench.prober);
	bench_serve(run_step, &bench);
	bench_prober_close(&bench.prober);
	free(bench.rows);
	chi_dir_close(bench.store);
	chi_close(bench.client);
	bench_keys_free(&bench.keys);
	return 0;
}
