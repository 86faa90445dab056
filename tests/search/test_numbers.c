/* SPDX-License-Identifier: MIT */
/* Sets of numbers against CRoaring, which must read what they write and write what they read; with
 * damage in the bytes, and with memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <roaring/roaring.h>

#include "base/attr.h"
#include "search/filter/numbers.h"
#include "tests/base/nomem.h"
#include "tests/base/seed.h"

#define MOST (3u << 16) /* numbers of a random set are below */

static struct seed seed;

static uint32_t below(uint32_t bound)
{
	return (uint32_t)seed_below(&seed, bound);
}

static void ok(int rc)
{
	assert_int_equal(rc, CHI_OK);
}

/* ---- Sets made at random, both ways ------------------------------------------------------- */

struct pair {
	struct chi_numbers *ours;
	roaring_bitmap_t *theirs;
};

static void add_some(struct pair *pair)
{
	for (uint32_t n = below(60); n > 0; n--) {
		uint32_t number = below(MOST);
		ok(chi_numbers_add(pair->ours, number));
		roaring_bitmap_add(pair->theirs, number);
	}
}

/* Rows of a chunk: dense ones make containers of bits. */
static void add_chunks(struct pair *pair)
{
	uint32_t first = below(MOST);
	bool is_dense = below(2) == 0;
	for (uint32_t n = below(60); n > 0 && first < MOST; n--, first += CHI_COLUMNS_ROWS) {
		struct chi_hits hits;
		for (size_t w = 0; w < CHI_HIT_WORDS; w++) {
			uint64_t bits = seed_next(&seed);
			hits.words[w] = is_dense ? bits | seed_next(&seed) : bits & 0x1000000001;
			for (uint32_t bit = 0; bit < 64; bit++) {
				if ((hits.words[w] >> bit & 1) != 0) {
					roaring_bitmap_add(pair->theirs,
							   first + 64 * (uint32_t)w + bit);
				}
			}
		}
		ok(chi_numbers_add_hits(pair->ours, first, &hits));
	}
}

static struct pair make_pair(void)
{
	struct pair pair = {.theirs = roaring_bitmap_create()};
	ok(chi_numbers_new(&pair.ours));
	for (uint32_t n = below(4); n > 0; n--) {
		if (below(2) == 0) {
			add_some(&pair);
		} else {
			add_chunks(&pair);
		}
	}
	if (below(8) == 0) {
		ok(chi_numbers_add(pair.ours, UINT32_MAX));
		roaring_bitmap_add(pair.theirs, UINT32_MAX);
	}
	return pair;
}

static void free_pair(struct pair *pair)
{
	chi_numbers_free(pair->ours);
	roaring_bitmap_free(pair->theirs);
}

/* The same numbers by every question. */
static void check_same(const struct chi_numbers *ours, const roaring_bitmap_t *theirs)
{
	roaring_uint32_iterator_t at;
	uint32_t number = 0;
	uint64_t n = 0;
	roaring_init_iterator(theirs, &at);
	for (bool more = at.has_value; more; more = roaring_advance_uint32_iterator(&at)) {
		assert_true(chi_numbers_next(ours, number, &number));
		assert_int_equal(number, at.current_value);
		assert_true(chi_numbers_has(ours, number));
		number += number < UINT32_MAX;
		n++;
	}
	assert_int_equal(chi_numbers_count(ours), n);
	assert_true(number == UINT32_MAX || !chi_numbers_next(ours, number, &number));
	for (size_t i = 0; i < 20; i++) {
		struct chi_hits hits;
		uint32_t first = below(MOST);
		uint32_t rows = 1 + below(CHI_COLUMNS_ROWS);
		chi_numbers_hits(ours, first, rows, &hits);
		for (uint32_t row = 0; row < CHI_COLUMNS_ROWS; row++) {
			assert_int_equal(hits.words[row / 64] >> (row % 64) & 1,
					 row < rows &&
						 roaring_bitmap_contains(theirs, first + row));
		}
	}
}

static uint8_t *written(const struct chi_numbers *numbers, size_t *len)
{
	*len = chi_numbers_size(numbers);
	uint8_t *bytes = malloc(*len);
	assert_non_null(bytes);
	chi_numbers_write(numbers, bytes, *len);
	return bytes;
}

static void test_croaring_writes_the_same_bytes(void **state)
{
	(void)state;
	for (size_t round = 0; round < seed_rounds(12); round++) {
		struct pair pair = make_pair();
		size_t len;
		check_same(pair.ours, pair.theirs);
		_cleanup_(chi_freep) uint8_t *bytes = written(pair.ours, &len);
		assert_int_equal(roaring_bitmap_portable_size_in_bytes(pair.theirs), len);
		_cleanup_(chi_freep) char *expected = malloc(len);
		assert_non_null(expected);
		(void)roaring_bitmap_portable_serialize(pair.theirs, expected);
		assert_memory_equal(bytes, expected, len);
		free_pair(&pair);
	}
}

static void test_croarings_runs_are_read(void **state)
{
	(void)state;
	for (size_t round = 0; round < seed_rounds(12); round++) {
		struct pair pair = make_pair();
		for (uint32_t n = below(5); n > 0; n--) {
			uint32_t first = below(2 * MOST);
			roaring_bitmap_add_range(pair.theirs, first, first + below(MOST / 2));
		}
		(void)roaring_bitmap_run_optimize(pair.theirs);
		size_t len = roaring_bitmap_portable_size_in_bytes(pair.theirs);
		_cleanup_(chi_freep) char *bytes = malloc(len);
		assert_non_null(bytes);
		(void)roaring_bitmap_portable_serialize(pair.theirs, bytes);
		struct chi_numbers *read;
		ok(chi_numbers_read((const uint8_t *)bytes, len, UINT32_MAX, &read));
		check_same(read, pair.theirs);
		chi_numbers_free(read);
		free_pair(&pair);
	}
}

/* ---- Bytes that are wrong ----------------------------------------------------------------- */

/* Whatever the bytes are: refused, or a set of numbers up to the last. */
static void read_any(const uint8_t *bytes, size_t len, uint32_t last)
{
	struct chi_numbers *numbers = NULL;
	uint32_t above;
	/* At its true length, so that a sanitizer sees what is read after it. */
	_cleanup_(chi_freep) uint8_t *copy = malloc(len > 0 ? len : 1);
	assert_non_null(copy);
	memcpy(copy, bytes, len);
	int rc = chi_numbers_read(copy, len, last, &numbers);
	assert_true(rc == CHI_OK || rc == -CHI_ECORRUPT);
	if (rc == CHI_OK) {
		assert_true(last == UINT32_MAX || !chi_numbers_next(numbers, last + 1, &above));
		assert_true(chi_numbers_memory(numbers) <= last / 8 + 4 * 8192);
		chi_numbers_free(numbers);
	}
}

static void test_damaged_bytes_are_refused_or_harmless(void **state)
{
	(void)state;
	for (size_t round = 0; round < seed_rounds(10); round++) {
		struct pair pair = make_pair();
		if (below(2) == 0) {
			roaring_bitmap_add_range(pair.theirs, 70, 4000 + below(70000));
			(void)roaring_bitmap_run_optimize(pair.theirs);
		}
		size_t len = roaring_bitmap_portable_size_in_bytes(pair.theirs);
		_cleanup_(chi_freep) uint8_t *bytes = malloc(len);
		assert_non_null(bytes);
		(void)roaring_bitmap_portable_serialize(pair.theirs, (char *)bytes);
		for (size_t i = 0; i < 100; i++) {
			size_t at = below(2) == 0 ? seed_below(&seed, len)
						  : seed_below(&seed, len < 40 ? len : 40);
			uint8_t was = bytes[at];
			bytes[at] = (uint8_t)seed_next(&seed);
			read_any(bytes, len, MOST);
			bytes[at] = was;
			read_any(bytes, at, MOST);
		}
		free_pair(&pair);
	}
}

struct bad {
	const char *name;
	size_t len;
	uint8_t bytes[40];
};

/* Each a set { 3, 17 } with one thing wrong. */
static const struct bad bads[] = {
	{"cookie", 20, {0x3c, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 3, 0, 17, 0}},
	{"containers", 20, {0x3a, 0x30, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 3, 0, 17, 0}},
	{"offset", 20, {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 17, 0, 0, 0, 3, 0, 17, 0}},
	{"order", 20, {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 17, 0, 3, 0}},
	{"twice", 20, {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 3, 0, 3, 0}},
	{"too few", 18, {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 3, 0}},
	{"more bytes", 21, {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 3, 0, 17, 0, 0}},
	{"above the last", 20, {0x3a, 0x30, 0,	0, 1, 0, 0, 0, 0,  0,
				1,    0,    16, 0, 0, 0, 3, 0, 18, 0}},
	{"run's end", 15, {0x3b, 0x30, 0, 0, 1, 0, 0, 1, 0, 1, 0, 3, 0, 14, 0}},
	{"run's count", 15, {0x3b, 0x30, 0, 0, 1, 0, 0, 5, 0, 1, 0, 3, 0, 4, 0}},
	{"runs overlap", 19, {0x3b, 0x30, 0, 0, 1, 0, 0, 5, 0, 2, 0, 3, 0, 3, 0, 6, 0, 1, 0}},
};

static void test_each_rule_of_the_format_is_asked(void **state)
{
	(void)state;
	static const uint8_t good[] = {0x3a, 0x30, 0,  0, 1, 0, 0, 0, 0,  0,
				       1,    0,	   16, 0, 0, 0, 3, 0, 17, 0};
	static const uint8_t run[] = {0x3b, 0x30, 0, 0, 1, 0, 0, 4, 0, 1, 0, 3, 0, 4, 0};
	struct chi_numbers *numbers;
	ok(chi_numbers_read(good, sizeof(good), 17, &numbers));
	assert_int_equal(chi_numbers_count(numbers), 2);
	chi_numbers_free(numbers);
	ok(chi_numbers_read(run, sizeof(run), 7, &numbers));
	assert_int_equal(chi_numbers_count(numbers), 5);
	chi_numbers_free(numbers);
	for (size_t i = 0; i < CHI_COUNT(bads); i++) {
		if (chi_numbers_read(bads[i].bytes, bads[i].len, 17, &numbers) != -CHI_ECORRUPT) {
			fail_msg("%s: not refused", bads[i].name);
		}
	}
}

/* ---- No memory ---------------------------------------------------------------------------- */

static int fill(struct chi_numbers *numbers, const struct chi_hits *hits)
{
	int rc = chi_numbers_add(numbers, 5);
	rc = rc == CHI_OK ? chi_numbers_add(numbers, 9000000) : rc;
	return rc == CHI_OK ? chi_numbers_add_hits(numbers, 4000, hits) : rc;
}

static int read_back(const uint8_t *bytes, size_t len)
{
	struct chi_numbers *numbers;
	int rc = chi_numbers_read(bytes, len, UINT32_MAX, &numbers);
	if (rc == CHI_OK) {
		chi_numbers_free(numbers);
	}
	return rc;
}

/* CRoaring took what malloc gave it, NULL too. */
static int make_with(size_t failing, size_t *calls, const void *context)
{
	struct chi_hits hits;
	struct chi_numbers *numbers = NULL;
	size_t len;
	(void)context;
	memset(&hits, 0xff, sizeof(hits));
	nomem_arm(failing);
	int worst = chi_numbers_new(&numbers);
	if (worst == CHI_OK) {
		worst = fill(numbers, &hits);
	}
	*calls = nomem_disarm(NULL);
	if (numbers == NULL) {
		ok(chi_numbers_new(&numbers));
	}
	ok(fill(numbers, &hits));
	assert_int_equal(chi_numbers_count(numbers), 2 + CHI_COLUMNS_ROWS);
	uint8_t *bytes = written(numbers, &len);
	nomem_arm(failing > *calls ? failing - *calls : 0);
	int rc = read_back(bytes, len);
	*calls += nomem_disarm(NULL);
	ok(read_back(bytes, len));
	free(bytes);
	chi_numbers_free(numbers);
	return rc < 0 ? rc : worst;
}

static void test_memory_that_runs_out_is_said(void **state)
{
	(void)state;
	assert_in_range(nomem_sweep("sets of numbers", make_with, NULL, 100), 10, 100);
}

int main(void)
{
	seed = seed_start("search_numbers");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_croaring_writes_the_same_bytes),
		cmocka_unit_test(test_croarings_runs_are_read),
		cmocka_unit_test(test_damaged_bytes_are_refused_or_harmless),
		cmocka_unit_test(test_each_rule_of_the_format_is_asked),
		cmocka_unit_test(test_memory_that_runs_out_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
