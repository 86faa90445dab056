/* SPDX-License-Identifier: MIT */
/*
 * Threads that add games to the same positions at once, and then count what is there. In an outcome
 * store with base rates: its strength tree changes with most of them.
 *
 *	writers ADDRESS WRITERS PUTS BATCH SEED [double|lose]
 *
 * Each writer has a client of its own and adds one game to BATCH random positions a call, until
 *PUTS were acknowledged in all. What was acknowledged is told on standard output in steps, so that
 *a test knows when to kill an OSD. A call that failed may or may not have happened, shard by shard:
 * its games are counted apart.
 *
 * At the end each position must have no fewer games than were acknowledged (else some were lost),
 *and no more than that with the uncertain ones (else some were counted twice). Exit 0: so it is; 1:
 *it is not; 2: it could not be found out. `double` and `lose`: a game is added or taken away before
 *the count, which must then find that.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/cases.h"
#include "tests/client/world.h"

#define POSITIONS 20000
/* Games a position: enough to have a statistic, which changes with each. */
#define GAMES_EACH  50
#define BATCH_MAX   4096
#define WRITERS_MAX 64
#define STEPS	    200
/* An OSD that does not come back for so long is a failure of the test. */
#define PATIENCE_MS   300000
#define FAILURES_TOLD 5

struct tally {
	uint32_t acknowledged[POSITIONS];
	uint32_t uncertain[POSITIONS];
};

struct writer {
	pthread_t thread;
	uint64_t random;
	struct tally tally;
	uint64_t failures;
};

static const char *address;
static size_t batch;
static uint64_t wanted;
static uint64_t n_positions;
static _Atomic uint64_t acknowledged;
static struct chi_key keys[POSITIONS];

static void die(const char *what, const char *why)
{
	(void)fprintf(stderr, "writers: %s: %s\n", what, why);
	exit(2);
}

static struct chi_client *open_store(void)
{
	struct chi_options options = {CHI_OPTIONS_INIT, .writable = true, .connect_ms = PATIENCE_MS,
				      .call_ms = PATIENCE_MS};
	struct chi_client *client = NULL;
	struct chi_fault fault;
	if (chi_open(address, &options, &client, &fault) != CHI_OK) {
		die("open", fault.text);
	}
	return client;
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void tell(uint64_t before, uint64_t after)
{
	uint64_t step = wanted / STEPS + 1;
	if (before / step != after / step) {
		(void)printf("%llu\n", (unsigned long long)after);
		(void)fflush(stdout);
	}
}

static void set_result(struct chi_counts *counts, uint64_t drawn)
{
	uint64_t *results[] = {&counts->white, &counts->draws, &counts->black};
	*results[drawn % 3] = 1;
}

static void *write_games(void *context)
{
	struct writer *writer = context;
	struct chi_client *client = open_store();
	static _Thread_local struct chi_put_entry puts[BATCH_MAX];
	static _Thread_local uint32_t chosen[BATCH_MAX];
	while (atomic_load(&acknowledged) < wanted) {
		for (size_t i = 0; i < batch; i++) {
			chosen[i] = (uint32_t)(draw(&writer->random) % n_positions);
			puts[i] = (struct chi_put_entry){.key = keys[chosen[i]],
							 .parts = CHI_PUT_ADD};
			set_result(&puts[i].record.counts, draw(&writer->random));
		}
		bool is_done = chi_put(client, puts, batch, CHI_SYNC, NULL) == CHI_OK;
		if (!is_done && writer->failures++ < FAILURES_TOLD) {
			(void)fprintf(stderr, "put: %s\n", chi_error(client));
		}
		uint32_t *counted = is_done ? writer->tally.acknowledged : writer->tally.uncertain;
		for (size_t i = 0; i < batch; i++) {
			counted[chosen[i]]++;
		}
		if (is_done) {
			uint64_t before = atomic_fetch_add(&acknowledged, batch);
			tell(before, before + batch);
		}
	}
	chi_close(client);
	return NULL;
}

struct sums {
	const struct writer *writers;
	size_t n_writers;
	uint64_t lost, doubled, uncertain, stored, known;
};

static int compare(void *context, size_t i, const struct chi_record *record)
{
	struct sums *sums = context;
	uint64_t least = 0;
	uint64_t uncertain = 0;
	for (size_t w = 0; w < sums->n_writers; w++) {
		least += sums->writers[w].tally.acknowledged[i];
		uncertain += sums->writers[w].tally.uncertain[i];
	}
	uint64_t games =
		record != NULL ? record->counts.white + record->counts.draws + record->counts.black
			       : 0;
	sums->known += record != NULL && record->chi2 != CHI_CHI2_UNKNOWN;
	sums->stored += record != NULL;
	sums->uncertain += uncertain;
	sums->lost += games < least ? least - games : 0;
	sums->doubled += games > least + uncertain ? games - least - uncertain : 0;
	return CHI_OK;
}

/* The control: without the tallies' knowledge. */
static void falsify(const char *how)
{
	struct chi_client *client = open_store();
	struct chi_put_entry put = {.key = keys[0], .parts = CHI_PUT_ADD, .record.counts.white = 1};
	int status = chi_put(client, &put, 1, CHI_SYNC, NULL);
	if (status == CHI_OK && strcmp(how, "lose") == 0) {
		put.record.counts.white = 2;
		put.parts = CHI_PUT_SUBTRACT;
		status = chi_put(client, &put, 1, CHI_SYNC, NULL);
	}
	if (status != CHI_OK) {
		die("control", chi_error(client));
	}
	chi_close(client);
}

static int check(const struct writer *writers, size_t n_writers)
{
	struct sums sums = {.writers = writers, .n_writers = n_writers};
	struct chi_client *client = open_store();
	struct chi_info info;
	if (chi_get_many(client, keys, n_positions, compare, &sums) != CHI_OK ||
	    chi_store_info(client, &info) != CHI_OK) {
		die("check", chi_error(client));
	}
	chi_close(client);
	uint64_t failures = 0;
	for (size_t w = 0; w < n_writers; w++) {
		failures += writers[w].failures;
	}
	(void)printf("acknowledged=%llu failures=%llu uncertain=%llu lost=%llu doubled=%llu "
		     "positions=%llu counted=%llu known=%llu\n",
		     (unsigned long long)atomic_load(&acknowledged), (unsigned long long)failures,
		     (unsigned long long)sums.uncertain, (unsigned long long)sums.lost,
		     (unsigned long long)sums.doubled, (unsigned long long)sums.stored,
		     (unsigned long long)info.positions, (unsigned long long)sums.known);
	return sums.lost == 0 && sums.doubled == 0 && sums.stored == info.positions ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc != 6 && argc != 7) {
		die("usage", "writers ADDRESS WRITERS PUTS BATCH SEED [double|lose]");
	}
	address = argv[1];
	size_t n_writers = strtoul(argv[2], NULL, 10);
	wanted = strtoull(argv[3], NULL, 10);
	batch = strtoul(argv[4], NULL, 10);
	if (n_writers == 0 || n_writers > WRITERS_MAX || batch == 0 || batch > BATCH_MAX) {
		die("usage", "1 to 64 writers, batches of 1 to 4096");
	}
	n_positions = wanted / GAMES_EACH + 1;
	n_positions = n_positions < POSITIONS ? n_positions : POSITIONS;
	struct writer *writers = calloc(n_writers, sizeof(*writers));
	if (writers == NULL) {
		die("writers", "out of memory");
	}
	for (unsigned i = 0; i < n_positions; i++) {
		keys[i] = world_key(i);
	}
	for (size_t w = 0; w < n_writers; w++) {
		writers[w].random = strtoull(argv[5], NULL, 10) * WRITERS_MAX + w;
		if (pthread_create(&writers[w].thread, NULL, write_games, &writers[w]) != 0) {
			die("writers", "no thread");
		}
	}
	for (size_t w = 0; w < n_writers; w++) {
		(void)pthread_join(writers[w].thread, NULL);
	}
	if (argc == 7) {
		falsify(argv[6]);
	}
	int status = check(writers, n_writers);
	free(writers);
	return status;
}
