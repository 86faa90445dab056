/* SPDX-License-Identifier: MIT */
/*
 * bench_disk DIR LISTS: probes that wait for the disk. At first the pages of the data file leave
 * the page cache, and random positions bring some of its branches back, a tenth of those listed, up
 * to 100,000. "cold-N" asks for 20,000 others, N a call. The sum that is answered is how many pages
 * of 4 KiB this process had read for these, if nothing is read ahead: as in a store larger than
 * half of the memory, of which such a run leaves some 100 MB in memory for the next.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/bench.h"
#include "chistore.h"

#define ASKED	  20000
#define WARM_MOST 100000
#define BATCH_MAX 4096

struct bench {
	const char *dir;
	struct bench_keys keys;
	size_t at; /* in keys.random: no position is asked for twice in a run through it */
	struct chi_client *client;
	struct chi_row rows[BATCH_MAX];
};

static void open_client(struct bench *bench)
{
	struct chi_fault fault = {""};
	if (chi_open(bench->dir, NULL, &bench->client, &fault) != CHI_OK) {
		bench_die("cannot open '%s': %s", bench->dir, fault.text);
	}
}

/* Only pages that no process has mapped go. */
static void evict(struct bench *bench)
{
	char path[4096];
	chi_close(bench->client);
	snprintf(path, sizeof(path), "%s/data.mdb", bench->dir);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || fsync(file) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) {
		bench_die("cannot drop the cache of '%s'", path);
	}
	close(file);
	open_client(bench);
}

static void ask(struct bench *bench, size_t asked, size_t batch)
{
	if (bench->keys.n - bench->at < asked) {
		bench->at = 0;
	}
	for (size_t i = 0; i < asked; i += batch) {
		size_t n = asked - i < batch ? asked - i : batch;
		const struct chi_key *keys = bench->keys.random + bench->at + i;
		if (chi_probe(bench->client, keys, n, bench->rows) != CHI_OK) {
			bench_die("chi_probe: %s", chi_error(bench->client));
		}
		for (size_t j = 0; j < n; j++) {
			if (!bench->rows[j].found) {
				bench_die("a position is not in the store");
			}
		}
	}
	bench->at += asked;
}

static uint64_t pages_read(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_inblock / (4096 / 512);
}

static bool run_step(void *context, const char *name, struct bench_result *out)
{
	struct bench *bench = context;
	if (strncmp(name, "cold-", 5) != 0) {
		return false;
	}
	unsigned long batch = strtoul(name + 5, NULL, 10);
	if (batch == 0 || batch > BATCH_MAX) {
		return false;
	}
	uint64_t before = pages_read();
	uint64_t start = bench_now();
	ask(bench, ASKED, batch);
	out->ns = bench_now() - start;
	out->done = ASKED;
	out->sum = pages_read() - before;
	return true;
}

int main(int argc, char **argv)
{
	static struct bench bench;
	if (argc != 3) {
		fprintf(stderr, "usage: bench_disk DIR LISTS\n");
		return 2;
	}
	bench.dir = argv[1];
	bench_keys_load(argv[2], &bench.keys);
	if (bench.keys.n < (size_t)2 * ASKED) {
		bench_die("fewer than %d positions in '%s'", 2 * ASKED, argv[2]);
	}
	open_client(&bench);
	evict(&bench);
	ask(&bench, bench.keys.n / 10 < WARM_MOST ? bench.keys.n / 10 : WARM_MOST, BATCH_MAX);
	bench_serve(run_step, &bench);
	chi_close(bench.client);
	bench_keys_free(&bench.keys);
	return 0;
}
