/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of the client library and of the rooms below it fails once: the call says so
 * or does without, nothing crashes, and nothing is left allocated. The linker puts the functions
 * below in the place of the C library's. Argument: file or unix.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/client/world.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *pointer);

static bool armed;
static unsigned long calls;   /* since it was armed */
static unsigned long failing; /* the call that fails, from 1 */

/* What was allocated here and not freed. Some functions of the C library allocate for their
 * caller (realpath); those pointers come to free() without being known, and do not count. */
#define LIVE_MAX 100000
static void *live[LIVE_MAX];
static size_t n_live;

static bool fails(void)
{
	return armed && ++calls == failing;
}

static void *born(void *pointer)
{
	if (pointer != NULL) {
		if (n_live == LIVE_MAX) {
			abort();
		}
		live[n_live++] = pointer;
	}
	return pointer;
}

/* The young die first. */
static void died(const void *pointer)
{
	for (size_t i = n_live; i-- > 0;) {
		if (live[i] == pointer) {
			live[i] = live[--n_live];
			return;
		}
	}
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : born(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : born(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	if (fails()) {
		return NULL;
	}
	died(old);
	return born(__real_realloc(old, size));
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : born(__real_strdup(text));
}

void __wrap_free(void *pointer)
{
	died(pointer);
	__real_free(pointer);
}

/* Remembers the worst that happened; only lack of memory may. A connection that was given up for
 * it leaves later calls to a new one. */
static int worst;

static bool went(int status, const char *text)
{
	if (status < 0) {
		worst = status;
		if (status != -CHI_ENOMEM || text[0] == '\0') {
			fail_msg("allocation %lu failed: status %d, '%s'", failing, status, text);
		}
	}
	return status >= 0;
}

static void read_back(struct chi_client *client, const struct chi_put *puts)
{
	struct chi_row rows[3];
	struct chi_key keys[3] = {puts[0].key, puts[1].key, world_key(99)};
	struct chi_record record;
	uint64_t count = 0;
	struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX, .want = CHI_WANT_RECORDS};
	if (went(chi_probe(client, keys, 3, rows), chi_error(client))) {
		assert_true(rows[0].found && rows[1].found && !rows[2].found);
	}
	if (went(chi_get(client, keys, &record), chi_error(client))) {
		assert_string_equal(record.note, "a note");
		assert_int_equal(record.n_evals, 1);
		assert_string_equal(record.evals[0].engine, "E");
	}
	struct chi_explore explore;
	if (went(chi_explore(client, keys, &explore), chi_error(client))) {
		assert_true(explore.position.found);
	}
	if (went(chi_count(client, &spec, &count, NULL), chi_error(client))) {
		assert_int_equal(count, 2);
	}
	for (spec.want = CHI_WANT_KEYS; spec.want <= CHI_WANT_RECORDS; spec.want++) {
		struct chi_iter *iter = NULL;
		const struct chi_row *row = NULL;
		if (!went(chi_iter_open(client, &spec, &iter), chi_error(client))) {
			continue;
		}
		int status = CHI_OK;
		unsigned n = 0;
		while ((status = chi_iter_next(iter, &row, NULL)) == CHI_OK) {
			n++;
		}
		if (went(status, chi_error(client))) {
			assert_int_equal(n, 2);
		}
		chi_iter_close(iter);
	}
}

static void pipe_both(struct chi_client *client, const struct chi_put *puts)
{
	struct chi_answer answer;
	(void)went(chi_pipe_probe(client, &puts[0].key, 1), chi_error(client));
	(void)went(chi_pipe_put(client, puts, 2, CHI_ASYNC), chi_error(client));
	int status = CHI_OK;
	while ((status = chi_pipe_next(client, &answer)) == CHI_OK) {
		(void)went(answer.status, chi_error(client));
	}
	(void)went(status, chi_error(client));
}

/* One run of everything; the store holds two positions before and after. */
static void use(const struct world *world)
{
	struct chi_options options = {.writable = true};
	struct chi_client *client = NULL;
	struct chi_fault fault = {{0}};
	struct chi_eval eval = {.engine = "E", .engine_len = 1, .depth = 1, .score = 10};
	/* The second carries a note that it does not name: a copy is made without it. */
	struct chi_put puts[2] = {
		{.key = world_key(1),
		 .parts = CHI_PUT_NOTE | CHI_PUT_EVALS,
		 .record = {.note = "a note", .n_note = 6, .evals = &eval, .n_evals = 1}},
		{.key = world_key(2),
		 .parts = CHI_PUT_CHI2,
		 .record = {.chi2 = 7, .note = "x", .n_note = 1}},
	};
	if (!went(chi_open(world->address, &options, &client, &fault), fault.text)) {
		assert_null(client);
		return;
	}
	(void)went(chi_put(client, puts, 2, CHI_SYNC, NULL), chi_error(client));
	read_back(client, puts);
	pipe_both(client, puts);
	chi_close(client);
}

static void every_allocation_fails_once(void **state)
{
	(void)state;
	struct world world;
	world_make(&world, world_chosen(), CHI_STATISTIC_EXTERNAL);
	chi_close(world.client);
	world.client = NULL;
	/* Once without failures: what lives for the whole process is made, and the positions. */
	use(&world);
	assert_int_equal(worst, 0);
	size_t before = n_live;
	unsigned long failures = 0;
	for (failing = 1;; failing++) {
		armed = true;
		calls = 0;
		worst = 0;
		use(&world);
		armed = false;
		if (n_live != before) {
			fail_msg("allocation %lu failed: %zu live, not %zu", failing, n_live,
				 before);
		}
		if (calls < failing) {
			break;
		}
		failures += worst != 0;
	}
	/* The harness sees allocations, and they matter. */
	print_message("# %lu allocations, %lu of them failed a call\n", failing - 1, failures);
	assert_true(failures >= 5);
	world_free(&world);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_fails_once),
	};
	if (!world_choose(argc, argv)) {
		return 0;
	}
	return cmocka_run_group_tests_name("nomem", tests, NULL, NULL);
}
