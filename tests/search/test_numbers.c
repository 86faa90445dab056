/* SPDX-License-Identifier: MIT */
/* Sets of numbers against plain arrays, in memory and as they are stored; with damage in the bytes,
 * and with memory that runs out. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "search/filter/numbers.h"
#include "tests/base/cases.h"
#include "tests/base/nomem.h"
#include "tests/base/seed.h"

#define MOST (3u << 16) /* numbers of a random set are below, but for the last chunk's */
#define ROOM (MOST + CHI_COLUMNS_ROWS)
#define PAGE 4096 /* numbers */

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
	bool theirs[ROOM];
	bool top; /* and the greatest number that there can be */
};

static void add_some(struct pair *pair)
{
	for (uint32_t n = below(60); n > 0; n--) {
		uint32_t number = below(MOST);
		ok(chi_numbers_add(pair->ours, number));
		pair->theirs[number] = true;
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
					pair->theirs[first + 64 * w + bit] = true;
				}
			}
		}
		ok(chi_numbers_add_hits(pair->ours, first, &hits));
	}
}

static struct pair *make_pair(void)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	assert_non_null(pair);
	ok(chi_numbers_new(&pair->ours));
	for (uint32_t n = below(4); n > 0; n--) {
		if (below(2) == 0) {
			add_some(pair);
		} else {
			add_chunks(pair);
		}
	}
	if (below(8) == 0) {
		ok(chi_numbers_add(pair->ours, UINT32_MAX));
		pair->top = true;
	}
	return pair;
}

static void free_pair(struct pair *pair)
{
	chi_numbers_free(pair->ours);
	free(pair);
}

/* The same numbers by every question. */
static void check_same(const struct chi_numbers *ours, const struct pair *pair)
{
	uint32_t number = 0;
	uint64_t n = pair->top;
	for (uint32_t i = 0; i < ROOM; i++) {
		assert_int_equal(chi_numbers_has(ours, i), pair->theirs[i]);
		if (pair->theirs[i]) {
			assert_true(chi_numbers_next(ours, number, &number));
			assert_int_equal(number++, i);
			n++;
		}
	}
	assert_int_equal(chi_numbers_count(ours), n);
	assert_int_equal(chi_numbers_next(ours, number, &number), pair->top);
	for (size_t i = 0; i < 20; i++) {
		struct chi_hits hits;
		uint32_t first = below(MOST);
		uint32_t rows = 1 + below(CHI_COLUMNS_ROWS);
		chi_numbers_hits(ours, first, rows, &hits);
		for (uint32_t row = 0; row < CHI_COLUMNS_ROWS; row++) {
			assert_int_equal(hits.words[row / 64] >> (row % 64) & 1,
					 row < rows && pair->theirs[first + row]);
		}
	}
}

static uint8_t *written(const struct chi_numbers *numbers, size_t *len)
{
	size_t room = chi_numbers_room(numbers);
	uint8_t *bytes = malloc(room + 1);
	assert_non_null(bytes);
	*len = chi_numbers_write(numbers, bytes);
	assert_in_range(*len, 0, room);
	return bytes;
}

/* A page takes no more than its bits, or a byte or two for each number. */
static size_t most_bytes(const struct pair *pair)
{
	size_t bytes = pair->top ? 5 + 1 + 2 : 0;
	for (uint32_t page = 0; page < ROOM / PAGE + 1; page++) {
		size_t n = 0;
		for (uint32_t i = page * PAGE; i < (page + 1) * PAGE && i < ROOM; i++) {
			n += pair->theirs[i];
		}
		bytes += n == 0 ? 0 : 3 + (n > PAGE / 16 ? PAGE / 8 : 2 * n);
	}
	return bytes;
}

CASE(test_sets_come_back_as_they_were_stored)
{
	for (size_t round = 0; round < seed_rounds(12); round++) {
		struct pair *pair = make_pair();
		struct chi_numbers *read;
		size_t len;
		check_same(pair->ours, pair);
		_cleanup_(chi_freep) uint8_t *bytes = written(pair->ours, &len);
		assert_in_range(len, 0, most_bytes(pair));
		ok(chi_numbers_read(bytes, len, UINT32_MAX, &read));
		check_same(read, pair);
		chi_numbers_free(read);
		free_pair(pair);
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

CASE(test_damaged_bytes_are_refused_or_harmless)
{
	for (size_t round = 0; round < seed_rounds(10); round++) {
		struct pair *pair = make_pair();
		size_t len;
		_cleanup_(chi_freep) uint8_t *bytes = written(pair->ours, &len);
		for (size_t i = 0; len > 0 && i < 100; i++) {
			size_t at = below(2) == 0 ? seed_below(&seed, len)
						  : seed_below(&seed, len < 40 ? len : 40);
			uint8_t was = bytes[at];
			bytes[at] = (uint8_t)seed_next(&seed);
			read_any(bytes, len, MOST);
			bytes[at] = was;
			read_any(bytes, at, MOST);
		}
		free_pair(pair);
	}
}

struct bad {
	const char *name;
	size_t len;
	uint8_t bytes[16];
};

/* Each a set { 3, 17, 70000 } with one thing wrong. */
static const struct bad bads[] = {
	{"no number", 2, {0, 0}},
	{"one more", 8, {0, 3, 3, 13, 16, 1, 0xf0, 2}},
	{"too few", 7, {0, 2, 3, 13, 16, 1, 0xf0}},
	{"more bytes", 9, {0, 2, 3, 13, 16, 1, 0xf0, 2, 0}},
	{"above the page", 5, {0, 2, 3, 0xfc, 0x1f}},
	{"round to the start", 13, {0, 2, 3, 0xfd, 255, 255, 255, 255, 255, 255, 255, 255, 1}},
	{"above the last", 8, {0, 2, 3, 13, 16, 1, 0xf1, 2}},
	{"above the last page", 8, {0, 2, 3, 13, 17, 1, 0xf0, 2}},
	{"page of no number that there can be",
	 13,
	 {255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1, 3}},
};

CASE(test_each_rule_of_the_format_is_asked)
{
	static const uint8_t good[] = {0, 2, 3, 13, 16, 1, 0xf0, 2};
	static uint8_t bits[3 + PAGE / 8] = {0, 0x81, 2}; /* 257 numbers */
	struct chi_numbers *numbers;
	ok(chi_numbers_read(good, sizeof(good), 70000, &numbers));
	assert_int_equal(chi_numbers_count(numbers), 3);
	assert_true(chi_numbers_has(numbers, 70000));
	chi_numbers_free(numbers);
	memset(bits + 3, 255, 32);
	assert_int_equal(chi_numbers_read(bits, sizeof(bits), PAGE, &numbers), -CHI_ECORRUPT);
	bits[3 + 32] = 1;
	ok(chi_numbers_read(bits, sizeof(bits), PAGE, &numbers));
	assert_int_equal(chi_numbers_count(numbers), 257);
	chi_numbers_free(numbers);
	for (size_t i = 0; i < CHI_COUNT(bads); i++) {
		if (chi_numbers_read(bads[i].bytes, bads[i].len, 70000, &numbers) !=
		    -CHI_ECORRUPT) {
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

CASE(test_memory_that_runs_out_is_said)
{
	assert_in_range(nomem_sweep("sets of numbers", make_with, NULL, 100), 10, 100);
}

int main(void)
{
	seed = seed_start("search_numbers");
	return cases_run(NULL, NULL);
}
