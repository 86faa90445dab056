/* SPDX-License-Identifier: MIT */
/*
 * bench_client ADDRESS STORE LISTS [once]: our library against any address, as a program would use
 * it; what bench_hiredis is for Redis, and the writing. `once`: writes are not sent again, and so
 * bear no mark. Operations:
 *
 *   get LIST COUNT, mget LIST BATCH COUNT, pipe LIST PIPELINE COUNT   chi_probe, pipeline_probe
 *   range             the whole strength order, keys and statistic
 *   bulk BATCH        puts the records of STORE, shuffled, into ADDRESS, and flushes
 *   pace RATE MS      puts RATE records a second for so long, 50 a commit, synced
 *   puts sync|none PIPELINE COUNT   puts a record a request, and flushes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/lists.h"
#include "cli/bench/pipeline.h"
#include "chistore.h"

#define BATCH_MAX    10000
#define PIPELINE_MAX 64 /* requests that our library has on the way at most */
#define PACE_BATCH   50

static const char *const names[] = {"games", "random", "search"};
#define LISTS (sizeof(names) / sizeof(names[0]))

struct bench {
	struct chi_client *client;
	const char *source;
	struct bench_list lists[LISTS];
	struct chi_row rows[BATCH_MAX];
	struct chi_put_entry entries[BATCH_MAX];
	struct chi_row *records; /* those of the source, shuffled, once they are asked for */
	size_t n_records;
	uint64_t turn; /* puts differ from those before */
};

static void must(const struct bench *bench, int status, const char *what)
{
	if (status != CHI_OK) {
		bench_die("%s: %s (%s)", what, chi_strerror(status), chi_error(bench->client));
	}
}

static void count(const struct chi_row *rows, size_t n, struct bench_result *out)
{
	for (size_t i = 0; i < n; i++) {
		out->sum += rows[i].found;
	}
}

static void get(struct bench *bench, const struct bench_list *list, size_t batch, size_t n,
		struct bench_result *out)
{
	for (size_t i = 0; i < n; i += batch) {
		size_t len = n - i < batch ? n - i : batch;
		must(bench, chi_probe(bench->client, list->keys + i, len, bench->rows),
		     "chi_probe");
		count(bench->rows, len, out);
	}
}

static void take_answer(struct bench *bench, struct bench_result *out)
{
	struct pipeline_answer answer;
	must(bench, pipeline_next(bench->client, &answer), "pipeline_next");
	must(bench, answer.status, "answer");
	out->sum += answer.found;
}

static void pipe_gets(struct bench *bench, const struct bench_list *list, size_t pipeline, size_t n,
		      struct bench_result *out)
{
	for (size_t i = 0; i < n; i += pipeline) {
		size_t len = n - i < pipeline ? n - i : pipeline;
		uint64_t id;
		for (size_t j = 0; j < len; j++) {
			must(bench,
			     pipeline_probe(bench->client, j == 0, &list->keys[i + j], 1, &id),
			     "pipeline_probe");
		}
		for (size_t j = 0; j < len; j++) {
			take_answer(bench, out);
		}
	}
}

static void range(struct bench *bench, struct bench_result *out)
{
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_min = 1, .chi2_max = CHI_CHI2_MAX,
				     .want = CHI_WANT_KEYS};
	struct chi_rows *iter;
	const struct chi_row *row;
	int status;
	must(bench, chi_scan_open(bench->client, &spec, &iter), "chi_scan_open");
	while ((status = chi_scan_next(iter, &row, NULL)) == CHI_OK) {
		out->sum += row->chi2;
		out->done++;
	}
	chi_rows_close(iter);
	if (status != CHI_NONE) {
		must(bench, status, "chi_scan_next");
	}
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* All records, in an order of its own. */
static void read_records(struct bench *bench)
{
	struct chi_client *client;
	struct chi_rows *iter;
	const struct chi_row *row;
	struct chi_fault fault = {""};
	size_t capacity = 0;
	uint64_t state = 1;
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
				     .order = CHI_ORDER_POSITION, .want = CHI_WANT_COUNTS};
	if (chi_open(bench->source, NULL, &client, &fault) != CHI_OK ||
	    chi_scan_open(client, &spec, &iter) != CHI_OK) {
		bench_die("cannot read '%s': %s", bench->source, fault.text);
	}
	while (chi_scan_next(iter, &row, NULL) == CHI_OK) {
		if (bench->n_records == capacity) {
			capacity = capacity == 0 ? 65536 : capacity * 2;
			bench->records =
				realloc(bench->records, capacity * sizeof(*bench->records));
			if (bench->records == NULL) {
				bench_die("out of memory");
			}
		}
		bench->records[bench->n_records++] = *row;
	}
	chi_rows_close(iter);
	chi_close(client);
	for (size_t i = bench->n_records; i > 1; i--) {
		size_t j = (size_t)(bench_random(&state) % i);
		struct chi_row swap = bench->records[i - 1];
		bench->records[i - 1] = bench->records[j];
		bench->records[j] = swap;
	}
}

static void bulk(struct bench *bench, size_t batch, struct bench_result *out)
{
	if (bench->records == NULL) {
		read_records(bench);
	}
	uint64_t start = bench_now();
	for (size_t i = 0; i < bench->n_records; i += batch) {
		size_t left = bench->n_records - i;
		size_t n = left < batch ? left : batch;
		for (size_t j = 0; j < n; j++) {
			const struct chi_row *row = &bench->records[i + j];
			bench->entries[j] = (struct chi_put_entry){
				.key = row->key,
				.parts = CHI_PUT_COUNTS,
				.record.counts = row->counts,
			};
		}
		must(bench, chi_put(bench->client, bench->entries, n, CHI_ASYNC, NULL), "chi_put");
	}
	must(bench, chi_flush(bench->client), "chi_flush");
	out->ns = bench_now() - start;
	out->done = bench->n_records;
}

static void sleep_until(uint64_t ns)
{
	struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* If a commit takes longer than its turn the rate is not reached, which the result tells. */
static void pace(struct bench *bench, uint64_t rate, uint64_t ms, struct bench_result *out)
{
	const struct bench_list *random = &bench->lists[1];
	uint64_t start = bench_now();
	uint64_t now = start;
	while (now - start < ms * 1000000u) {
		bench->turn++;
		for (size_t i = 0; i < PACE_BATCH; i++) {
			bench->entries[i] = (struct chi_put_entry){
				.key = random->keys[(out->done + i) % random->n],
				.parts = CHI_PUT_COUNTS,
				.record.counts.white = bench->turn,
			};
		}
		must(bench, chi_put(bench->client, bench->entries, PACE_BATCH, CHI_SYNC, NULL),
		     "chi_put");
		out->done += PACE_BATCH;
		sleep_until(start + out->done * 1000000000u / rate);
		now = bench_now();
	}
	out->ns = now - start;
}

/* What was put before is put again with other counts. */
static void puts_on_the_way(struct bench *bench, enum chi_durability durability, size_t pipeline,
			    size_t n, struct bench_result *out)
{
	const struct bench_list *random = &bench->lists[1];
	uint64_t start = bench_now();
	bench->turn++;
	for (size_t sent = 0; out->done < n; out->done++) {
		uint64_t id;
		for (; sent < n && sent - out->done < pipeline; sent++) {
			struct chi_put_entry put = {
				.key = random->keys[sent % random->n],
				.parts = CHI_PUT_COUNTS,
				.record.counts.white = bench->turn,
			};
			must(bench,
			     pipeline_put(bench->client, sent == out->done, &put, 1, durability,
					  &id),
			     "pipeline_put");
		}
		take_answer(bench, out);
	}
	must(bench, chi_flush(bench->client), "chi_flush");
	out->ns = bench_now() - start;
}

/* ---- The conversation ---------------------------------------------------------------------- */

static const struct bench_list *find_list(const struct bench *bench, const char *name, size_t *n)
{
	for (size_t i = 0; i < LISTS; i++) {
		if (strcmp(name, names[i]) == 0) {
			*n = *n < bench->lists[i].n ? *n : bench->lists[i].n;
			return &bench->lists[i];
		}
	}
	bench_die("no such list: '%s'", name);
}

static bool run_reads(struct bench *bench, const char *line, struct bench_result *out)
{
	char name[16];
	size_t group = 1;
	size_t n;
	uint64_t start = bench_now();
	if (strcmp(line, "range") == 0) {
		range(bench, out);
		n = out->done;
	} else if (sscanf(line, "get %15s %zu", name, &n) == 2 ||
		   (sscanf(line, "mget %15s %zu %zu", name, &group, &n) == 3 && group > 0 &&
		    group <= BATCH_MAX)) {
		const struct bench_list *list = find_list(bench, name, &n);
		get(bench, list, group, n, out);
	} else if (sscanf(line, "pipe %15s %zu %zu", name, &group, &n) == 3 && group > 0 &&
		   group <= PIPELINE_MAX) {
		const struct bench_list *list = find_list(bench, name, &n);
		pipe_gets(bench, list, group, n, out);
	} else {
		return false;
	}
	out->ns = bench_now() - start;
	out->done = n;
	return true;
}

static bool run_line(void *context, const char *line, struct bench_result *out)
{
	struct bench *bench = context;
	size_t batch;
	size_t n;
	uint64_t rate;
	uint64_t ms;
	char how[8];
	if (sscanf(line, "puts %7s %zu %zu", how, &batch, &n) == 3 && batch > 0 &&
	    batch <= PIPELINE_MAX) {
		enum chi_durability durability = strcmp(how, "sync") == 0 ? CHI_SYNC : CHI_ASYNC;
		puts_on_the_way(bench, durability, batch, n, out);
		return true;
	}
	if (sscanf(line, "bulk %zu", &batch) == 1 && batch > 0 && batch <= BATCH_MAX) {
		bulk(bench, batch, out);
		return true;
	}
	if (sscanf(line, "pace %lu %lu", &rate, &ms) == 2 && rate > 0) {
		pace(bench, rate, ms, out);
		return true;
	}
	return run_reads(bench, line, out);
}

int main(int argc, char **argv)
{
	static struct bench bench; /* its batches are too large for a stack */
	struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
	struct chi_fault fault = {""};
	if (argc < 4 || argc > 5 || (argc == 5 && strcmp(argv[4], "once") != 0)) {
		fprintf(stderr, "usage: bench_client ADDRESS STORE LISTS [once]\n");
		return 2;
	}
	options.repeat_ms = argc == 5 ? CHI_NO_REPEAT : 0;
	bench.source = argv[2];
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_load(argv[3], names[i], &bench.lists[i]);
	}
	if (chi_open(argv[1], &options, &bench.client, &fault) != CHI_OK) {
		bench_die("cannot open '%s': %s", argv[1], fault.text);
	}
	bench_serve(run_line, &bench);
	chi_close(bench.client);
	free(bench.records);
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_free(&bench.lists[i]);
	}
	return 0;
}
