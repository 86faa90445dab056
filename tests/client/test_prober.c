/* SPDX-License-Identifier: MIT */
/*
 * Probers say what chi_get says, however they are asked and wherever the store is; prefetches are
 * kept, overtaken, dropped and taken again after a commit; threads and processes read whole states.
 * The linker puts the functions below in the place of malloc and its like, to count them.
 * Argument: file, unix or tcp.
 */
#include <stdio.h>
#include <string.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/base/expect_row.h"
#include "tests/base/seed.h"
#include "tests/client/world.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static atomic_uint allocations;

void *__wrap_malloc(size_t size)
{
	atomic_fetch_add(&allocations, 1);
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	atomic_fetch_add(&allocations, 1);
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	atomic_fetch_add(&allocations, 1);
	return __real_realloc(old, size);
}

#define RECORDS 600
#define ASKED	(RECORDS + 100) /* the rest is not stored */
#define SET	40		/* positions that a commit changes together */

static struct chi_key keys[ASKED];
static struct chi_row wanted[ASKED];

/* Random records, one in three without evaluations, some with all else there is before them. */
static void put_random(struct chi_client *client, unsigned i, struct seed *seed)
{
	static const char *const names[] = {"a", "bb", "ccc", "dddd"};
	struct chi_eval evals[CHI_COUNT(names)];
	size_t n = seed_below(seed, 3) == 0 ? 0 : 1 + seed_below(seed, CHI_COUNT(names));
	struct chi_legal_move legal[3];
	size_t n_legal = 0;
	struct chi_key key = world_key(i);
	assert_int_equal(chi_key_moves(&key, 0, legal, CHI_COUNT(legal), &n_legal, NULL), CHI_OK);
	n_legal = n_legal < CHI_COUNT(legal) ? n_legal : CHI_COUNT(legal);
	for (size_t j = 0; j < n; j++) {
		evals[j] = (struct chi_eval){
			.engine = names[j],
			.engine_len = strlen(names[j]),
			.depth = (uint32_t)seed_below(seed, 4),
			.is_mate = seed_below(seed, 2) == 0,
			.score = (int32_t)seed_below(seed, 2001) - 1000,
			.nodes = seed_below(seed, 3),
			.date = seed_below(seed, 3),
			.pv = &legal[1].move,
			.n_pv = n_legal > 1 && seed_below(seed, 2) == 0,
		};
	}
	struct chi_ply_stat plies[2] = {{3, 1}, {7, 2}};
	struct chi_move_stat played[3];
	struct chi_put_entry put = {
		.key = key,
		.parts = CHI_PUT_CHI2 | CHI_PUT_COUNTS | CHI_PUT_EVALS | CHI_PUT_NOTE |
			 CHI_PUT_MOVES | CHI_PUT_LINE,
		.record = {.evals = evals, .n_evals = n, .note = "note", .n_note = 4},
	};
	put.record.moves = played;
	put.record.n_moves = seed_below(seed, n_legal + 1);
	for (size_t j = 0; j < put.record.n_moves; j++) {
		played[j] = (struct chi_move_stat){
			legal[j].move, {seed_below(seed, 3), seed_below(seed, 300), 0, 0}};
	}
	put.record.line = &legal[0].move;
	put.record.n_line = n_legal > 0 && seed_below(seed, 3) == 0;
	put.record.chi2 = (uint16_t)seed_below(seed, 3);
	put.record.counts = (struct chi_counts){seed_below(seed, 9) + 3, 1, 2, 0};
	put.record.plies = plies;
	put.record.n_plies = seed_below(seed, 3);
	world_ok(client, chi_put(client, &put, 1, CHI_ASYNC, NULL));
}

/* By chi_get, and the rules in types.h. */
static void expect(struct chi_client *client, const struct chi_key *key, struct chi_row *out)
{
	struct chi_record record;
	*out = (struct chi_row){0};
	int status = chi_get(client, key, &record);
	assert_in_range(status, CHI_OK, CHI_NONE);
	if (status == CHI_OK) {
		expect_row(&record, out);
	}
}

static struct chi_prober *prober_of(struct chi_client *client)
{
	struct chi_prober *prober = NULL;
	world_ok(client, chi_prober_open(client, &world_patience, &prober));
	return prober;
}

static void fill(struct chi_client *client)
{
	struct seed seed = seed_start("prober");
	for (unsigned i = 0; i < ASKED; i++) {
		keys[i] = world_key(i);
		if (i < RECORDS) {
			put_random(client, i, &seed);
		}
	}
	world_ok(client, chi_flush(client));
	for (unsigned i = 0; i < ASKED; i++) {
		expect(client, &keys[i], &wanted[i]);
	}
}

static void collect_as_wanted(struct chi_prober *prober, uint64_t ticket, unsigned i)
{
	struct chi_row strength;
	assert_int_equal(chi_prober_collect(prober, ticket, &strength), CHI_OK);
	assert_true(same_row(&strength, &wanted[i]));
}

CASE(says_what_get_says, world_external, world_drop)
{
	struct world *world = *state;
	static struct chi_row many[ASKED];
	fill(world->client);
	struct chi_prober *prober = prober_of(world->client);
	uint64_t tickets[CHI_PREFETCH_MAX];
	assert_int_equal(chi_probe(world->client, keys, ASKED, many), CHI_OK);
	for (unsigned i = 0; i < ASKED; i++) {
		assert_true(same_row(&many[i], &wanted[i]));
	}
	assert_int_equal(chi_prober_many(prober, keys, ASKED, many), CHI_OK);
	for (unsigned i = 0; i < ASKED; i++) {
		struct chi_row one;
		assert_true(same_row(&many[i], &wanted[i]));
		assert_int_equal(chi_prober_key(prober, &keys[i], &one), CHI_OK);
		assert_true(same_row(&one, &wanted[i]));
	}
	/* Prefetched in windows of all sizes, collected forth and back. */
	for (unsigned from = 0, n = 1; from + n <= ASKED; from += n, n = n % CHI_PREFETCH_MAX + 1) {
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(
				chi_prober_prefetch(prober, &keys[from + i], 1, &tickets[i]),
				CHI_OK);
		}
		for (unsigned i = 0; i < n; i++) {
			unsigned j = n % 2 == 0 ? i : n - 1 - i;
			collect_as_wanted(prober, tickets[j], from + j);
		}
	}
	/* The same as lists, with some asked one by one between. */
	for (unsigned from = 0, n = 1; from + n <= ASKED; from += n, n = n % CHI_PREFETCH_MAX + 1) {
		unsigned head = n % 3;
		head = head < n ? head : 0;
		for (unsigned i = 0; i < head; i++) {
			assert_int_equal(
				chi_prober_prefetch(prober, &keys[from + i], 1, &tickets[i]),
				CHI_OK);
		}
		assert_int_equal(
			chi_prober_prefetch(prober, keys + from + head, n - head, tickets + head),
			CHI_OK);
		for (unsigned i = 0; i < n; i++) {
			unsigned j = from % 2 == 0 ? i : n - 1 - i;
			collect_as_wanted(prober, tickets[j], from + j);
		}
	}
	chi_prober_close(prober);
}

/* The first of a long list are kept, and nothing of one with a key that is none. */
#define NOTES	  100 /* positions with notes that fill more than one answer of a server */
#define NOTE_SIZE 60000

struct told {
	size_t n;
	size_t end; /* give up after so many */
};

static int check_record(void *context, size_t i, const struct chi_record *record)
{
	struct told *told = context;
	assert_int_equal(i, told->n++);
	assert_int_equal(record != NULL, wanted[i].found);
	if (record != NULL) {
		assert_int_equal(record->chi2, wanted[i].chi2);
		assert_int_equal(record->counts.white, wanted[i].counts.white);
		assert_int_equal(record->n_note, i < NOTES ? NOTE_SIZE : 4);
		assert_true(i >= NOTES || record->note[NOTE_SIZE - 1] == (char)('a' + i % 26));
	}
	return told->n < told->end ? CHI_OK : -CHI_ECANCELED;
}

/* Also where an answer is too long for one response; and an end before the end. */
CASE(gets_many, world_external, world_drop)
{
	struct world *world = *state;
	static char note[NOTE_SIZE];
	struct told told = {.end = SIZE_MAX};
	fill(world->client);
	for (unsigned i = 0; i < NOTES; i++) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_NOTE};
		memset(note, 'a' + (int)(i % 26), sizeof(note));
		put.record.note = note;
		put.record.n_note = sizeof(note);
		world_ok(world->client, chi_put(world->client, &put, 1, CHI_ASYNC, NULL));
	}
	world_ok(world->client, chi_flush(world->client));
	world_ok(world->client, chi_get_many(world->client, keys, ASKED, check_record, &told));
	assert_int_equal(told.n, ASKED);
	told = (struct told){.end = 300};
	assert_int_equal(chi_get_many(world->client, keys, ASKED, check_record, &told),
			 -CHI_ECANCELED);
	assert_int_equal(told.n, 300);
	told = (struct told){.end = SIZE_MAX};
	world_ok(world->client, chi_get_many(world->client, keys, 0, check_record, &told));
	assert_int_equal(told.n, 0);
}

CASE(long_lists, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_row strength;
	uint64_t tickets[CHI_PREFETCH_MAX + 3];
	fill(world->client);
	struct chi_prober *prober = prober_of(world->client);
	assert_int_equal(chi_prober_prefetch(prober, &keys[99], 1, &tickets[0]), CHI_OK);
	assert_int_equal(chi_prober_prefetch(prober, keys, 0, tickets), CHI_OK);
	collect_as_wanted(prober, tickets[0], 99);
	for (unsigned n = CHI_PREFETCH_MAX; n <= CHI_PREFETCH_MAX + 3; n++) {
		assert_int_equal(chi_prober_prefetch(prober, keys, n, tickets), CHI_OK);
		for (unsigned i = 0; i < CHI_PREFETCH_MAX; i++) {
			collect_as_wanted(prober, tickets[i], i);
		}
		for (unsigned i = CHI_PREFETCH_MAX; i < n; i++) {
			assert_int_equal(tickets[i], 0);
			assert_int_equal(chi_prober_collect(prober, tickets[i], &strength),
					 CHI_NONE);
		}
	}
	struct chi_key sound = keys[1];
	keys[1].len = 3;
	assert_int_equal(chi_prober_prefetch(prober, keys, 2, tickets), -CHI_EKEY);
	keys[1] = sound;
	assert_int_equal(tickets[0], 0);
	assert_non_null(strstr(chi_prober_error(prober), "entry 1"));
	chi_prober_close(prober);
}

CASE(tickets_end, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_row strength;
	fill(world->client);
	struct chi_prober *prober = prober_of(world->client);
	uint64_t tickets[CHI_PREFETCH_MAX + 1];
	for (unsigned i = 0; i <= CHI_PREFETCH_MAX; i++) {
		assert_int_equal(chi_prober_prefetch(prober, &keys[i], 1, &tickets[i]), CHI_OK);
	}
	/* Overtaken; never given; collected before; dropped. */
	assert_int_equal(chi_prober_collect(prober, tickets[0], &strength), CHI_NONE);
	assert_int_equal(chi_prober_collect(prober, 0, &strength), CHI_NONE);
	assert_int_equal(chi_prober_collect(prober, tickets[64] + 1, &strength), CHI_NONE);
	collect_as_wanted(prober, tickets[CHI_PREFETCH_MAX], CHI_PREFETCH_MAX);
	collect_as_wanted(prober, tickets[1], 1);
	assert_int_equal(chi_prober_collect(prober, tickets[1], &strength), CHI_NONE);
	chi_prober_drop(prober);
	assert_int_equal(chi_prober_collect(prober, tickets[2], &strength), CHI_NONE);
	struct chi_key bad = keys[0];
	bad.len = 3;
	assert_int_equal(chi_prober_key(prober, &bad, &strength), -CHI_EKEY);
	assert_string_not_equal(chi_prober_error(prober), "");
	assert_int_equal(chi_prober_prefetch(prober, &bad, 1, &tickets[0]), -CHI_EKEY);
	/* One byte too many, of a key that fits a look-up; alone, and beside one that is stored. */
	struct chi_key pair[2] = {keys[0], keys[0]};
	struct chi_row rows[2];
	pair[1].len = (uint8_t)(pair[1].len < CHI_KEY_MAX ? pair[1].len + 1 : pair[1].len - 1);
	assert_int_equal(chi_prober_key(prober, &pair[1], &strength), -CHI_EKEY);
	assert_non_null(strstr(chi_prober_error(prober), "entry 0"));
	assert_int_equal(chi_prober_many(prober, pair, 2, rows), -CHI_EKEY);
	assert_non_null(strstr(chi_prober_error(prober), "entry 1"));
	/* The client may go first. */
	chi_close(world->client);
	world->client = NULL;
	assert_int_equal(chi_prober_key(prober, &keys[5], &strength), CHI_OK);
	assert_true(same_row(&strength, &wanted[5]));
	chi_prober_close(prober);
}

/* The answer is of the state that is newest when it is collected, whatever was found before. */
CASE(commits_come_in_between, world_external, world_drop)
{
	struct world *world = *state;
	fill(world->client);
	struct chi_prober *prober = prober_of(world->client);
	uint64_t tickets[CHI_PREFETCH_MAX];
	struct chi_row strength;
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < SET; i++) {
			assert_int_equal(chi_prober_prefetch(prober, &keys[i], 1, &tickets[i]),
					 CHI_OK);
		}
		if (world_chosen() == WORLD_FILE) {
			collect_as_wanted(prober, tickets[SET - 1], SET - 1);
		}
		struct chi_put_entry put = {.key = keys[round], .parts = CHI_PUT_COUNTS};
		put.record.counts.white = 1000 + round;
		wanted[round].counts = put.record.counts;
		world_ok(world->client, chi_put(world->client, &put, 1, CHI_SYNC, NULL));
		for (unsigned i = 0; i < SET - 1; i++) {
			collect_as_wanted(prober, tickets[i], i);
		}
		assert_in_range(chi_prober_collect(prober, tickets[SET - 1], &strength), CHI_OK,
				CHI_NONE);
	}
	chi_prober_close(prober);
}

/* A prober that answers from one state for so long. */
static struct chi_prober *holder_of(struct chi_client *client, uint32_t hold_ms)
{
	struct chi_prober_options options = world_patience;
	struct chi_prober *prober = NULL;
	options.hold_ms = hold_ms;
	world_ok(client, chi_prober_open(client, &options, &prober));
	return prober;
}

static uint64_t number_now(struct chi_prober *prober)
{
	struct chi_row row = {0};
	assert_int_equal(chi_prober_key(prober, keys, &row), CHI_OK);
	return row.counts.white;
}

static int put_number(struct chi_client *client, uint64_t number);

CASE(held_state, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_row row;
	uint64_t ticket;
	if (world_chosen() != WORLD_FILE) {
		print_message("# skipped: a server's states are not held\n");
		return;
	}
	keys[0] = world_key(0);
	world_ok(world->client, put_number(world->client, 1));
	struct chi_prober *held = holder_of(world->client, CHI_HOLD_MS_MAX);
	struct chi_prober *brief = holder_of(world->client, 1);
	assert_int_equal(number_now(held), 1);
	assert_int_equal(number_now(brief), 1);
	world_ok(world->client, put_number(world->client, 2));
	assert_int_equal(number_now(held), 1);
	assert_int_equal(chi_prober_prefetch(held, keys, 1, &ticket), CHI_OK);
	assert_int_equal(chi_prober_collect(held, ticket, &row), CHI_OK);
	assert_int_equal(row.counts.white, 2);
	assert_int_equal(number_now(held), 1);
	/* The other's time ends by itself. */
	while (number_now(brief) == 1) {
	}
	assert_int_equal(number_now(brief), 2);
	chi_prober_release(held);
	assert_int_equal(number_now(held), 2);
	chi_prober_close(held);
	chi_prober_close(brief);
}

CASE(held_too_long, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_prober_options options = {CHI_PROBER_OPTIONS_INIT,
					     .hold_ms = CHI_HOLD_MS_MAX + 1};
	struct chi_prober *prober = NULL;
	int status = chi_prober_open(world->client, &options, &prober);
	if (world_chosen() == WORLD_FILE) {
		assert_int_equal(status, -CHI_EINVAL);
		assert_null(prober);
		assert_non_null(strstr(chi_error(world->client), "10000 ms"));
	}
	chi_prober_close(prober);
}

static atomic_bool over;
static atomic_uint bad;

/* Of each position the number never goes back, and the two that its record has are one. */
static bool is_torn(const struct chi_row *row, uint64_t *last)
{
	bool torn = row->counts.white < *last || row->score != (int32_t)row->counts.white;
	*last = row->counts.white;
	return torn;
}

/* All of the set carry one number in each committed state. On RADOS there is no state of all
 * shards.
 */
static void *watch(void *context)
{
	struct chi_prober *prober = context;
	bool one_state = world_chosen() != WORLD_RADOS;
	struct chi_row set[SET];
	uint64_t tickets[SET];
	uint64_t last[SET] = {0};
	bool torn = false;
	while (!atomic_load(&over) && !torn) {
		torn = chi_prober_many(prober, keys, SET, set) != CHI_OK;
		uint64_t number = set[0].counts.white;
		for (unsigned i = 0; i < SET; i++) {
			torn |= is_torn(&set[i], &last[i]);
			torn |= one_state && set[i].counts.white != number;
			torn |= chi_prober_prefetch(prober, &keys[i], 1, &tickets[i]) != CHI_OK;
		}
		for (unsigned i = 0; i < SET; i++) {
			torn |= chi_prober_collect(prober, tickets[i], &set[i]) != CHI_OK;
			torn |= is_torn(&set[i], &last[i]);
			torn |= one_state && set[i].counts.white < number;
			number = set[i].counts.white;
		}
		atomic_fetch_add(&bad, torn);
	}
	return NULL;
}

static int put_number(struct chi_client *client, uint64_t number)
{
	static struct chi_put_entry puts[SET];
	struct chi_eval eval = {.engine = "e", .engine_len = 1, .score = (int32_t)number};
	for (unsigned i = 0; i < SET; i++) {
		puts[i] = (struct chi_put_entry){.key = world_key(i),
						 .parts = CHI_PUT_COUNTS | CHI_PUT_EVALS,
						 .record = {.evals = &eval, .n_evals = 1}};
		puts[i].record.counts.white = number;
	}
	return chi_put(client, puts, SET, CHI_SYNC, NULL);
}

/* Opens the store itself, as another program would. */
static int write_many(const char *address)
{
	struct chi_options options = {CHI_OPTIONS_INIT, .writable = true, .lock_wait_ms = 10000};
	struct chi_client *client = NULL;
	int status = chi_open(address, &options, &client, NULL);
	uint64_t end = world_chosen() == WORLD_RADOS ? 30 : 400;
	for (uint64_t number = 2; number < end && status == CHI_OK; number++) {
		status = put_number(client, number);
	}
	chi_close(client);
	return status == CHI_OK ? 0 : 1;
}

CASE(threads_beside_a_writer, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_prober *probers[2];
	pthread_t threads[2];
	int status = 0;
	for (unsigned i = 0; i < SET; i++) {
		keys[i] = world_key(i);
	}
	world_ok(world->client, put_number(world->client, 1));
	/* The writer opens again after the fork: a store's handles do not survive it. */
	chi_close(world->client);
	world->client = NULL;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		_exit(write_many(world->address));
	}
	world->client = world_open(world);
	atomic_store(&over, false);
	for (unsigned i = 0; i < 2; i++) {
		probers[i] = prober_of(world->client);
		assert_int_equal(pthread_create(&threads[i], NULL, watch, probers[i]), 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	atomic_store(&over, true);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		chi_prober_close(probers[i]);
	}
	assert_int_equal(status, 0);
	assert_int_equal(atomic_load(&bad), 0);
}

static void probe_in_a_cage(const char *address)
{
	struct chi_client *client = NULL;
	struct chi_prober *prober = NULL;
	struct chi_row strengths[100];
	uint64_t tickets[20];
	alarm(60);
	if (chi_open(address, NULL, &client, NULL) != CHI_OK ||
	    chi_prober_open(client, &world_patience, &prober) != CHI_OK ||
	    chi_prober_key(prober, keys, strengths) != CHI_OK) {
		_exit(2);
	}
	if (!world_under_valgrind() && !world_cage()) {
		_exit(3);
	}
	int wrong = 0;
	unsigned before = atomic_load(&allocations);
	for (unsigned i = 0; i < 10000; i++) {
		unsigned at = i % (ASKED - 100);
		wrong |= chi_prober_many(prober, keys + at, 100, strengths) != CHI_OK;
		wrong |= !same_row(&strengths[7], &wanted[at + 7]);
		wrong |= chi_prober_prefetch(prober, &keys[at], 1, &tickets[0]) != CHI_OK;
		wrong |= chi_prober_collect(prober, tickets[0], strengths) != CHI_OK;
		wrong |= !same_row(&strengths[0], &wanted[at]);
		wrong |= chi_prober_prefetch(prober, &keys[at], 20, tickets) != CHI_OK;
		wrong |= chi_prober_collect(prober, tickets[19], strengths) != CHI_OK;
		wrong |= !same_row(&strengths[0], &wanted[at + 19]);
		wrong |= chi_prober_key(prober, &keys[at], strengths) != CHI_OK;
		wrong |= !same_row(&strengths[0], &wanted[at]);
	}
	wrong |= atomic_load(&allocations) != before;
	syscall(SYS_exit, wrong);
}

/* In this process alone. */
CASE(no_system_call_no_memory, world_external, world_drop)
{
	struct world *world = *state;
	int status = 0;
	if (UNDER_TSAN || world_chosen() != WORLD_FILE) {
		print_message("# skipped: a probe makes system calls here\n");
		return;
	}
	fill(world->client);
	chi_close(world->client);
	world->client = NULL;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		probe_in_a_cage(world->address);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int use_after_fork(struct chi_prober *prober, uint64_t ticket)
{
	struct chi_row strength;
	int wrong = chi_prober_key(prober, keys, &strength) != -CHI_EFORK;
	wrong |= chi_prober_collect(prober, ticket, &strength) != -CHI_EFORK;
	wrong |= chi_prober_error(prober)[0] == '\0';
	chi_prober_close(prober);
	return wrong;
}

CASE(forked, world_external, world_drop)
{
	struct world *world = *state;
	uint64_t ticket;
	int status = 0;
	if (world_chosen() != WORLD_FILE) {
		print_message("# skipped: a connection is its owner's to guard\n");
		return;
	}
	fill(world->client);
	struct chi_prober *prober = holder_of(world->client, CHI_HOLD_MS_MAX);
	struct chi_row before;
	struct chi_row after;
	assert_int_equal(chi_prober_key(prober, &keys[1], &before), CHI_OK);
	assert_int_equal(chi_prober_prefetch(prober, &keys[3], 1, &ticket), CHI_OK);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		_exit(use_after_fork(prober, ticket));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	collect_as_wanted(prober, ticket, 3);
	/* The child did not end the state that this process holds. */
	world_ok(world->client, chi_delete(world->client, &keys[1], 1, CHI_SYNC, NULL));
	assert_int_equal(chi_prober_key(prober, &keys[1], &after), CHI_OK);
	assert_true(before.found);
	assert_true(same_row(&before, &after));
	chi_prober_close(prober);
}

/* A compaction moves all pages under what is prefetched. */
CASE(compacted_in_between, world_external, world_drop)
{
	struct world *world = *state;
	uint64_t tickets[SET];
	uint64_t before;
	uint64_t after;
	if (world_chosen() != WORLD_FILE) {
		print_message("# skipped: a server's prefetches hold no pages\n");
		return;
	}
	fill(world->client);
	struct chi_prober *prober = prober_of(world->client);
	for (unsigned i = 0; i < SET; i++) {
		assert_int_equal(chi_prober_prefetch(prober, &keys[i], 1, &tickets[i]), CHI_OK);
	}
	collect_as_wanted(prober, tickets[0], 0);
	world_ok(world->client, chi_store_compact(world->client, &before, &after));
	for (unsigned i = 1; i < SET; i++) {
		collect_as_wanted(prober, tickets[i], i);
	}
	chi_prober_close(prober);
}

WORLD_MAIN
