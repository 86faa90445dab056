/* SPDX-License-Identifier: MIT */
/* The sorter against qsort: whatever the memory, the threads and the parts, nothing is lost,
 * nothing is out of order, and no group is cut. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/attr.h"
#include "base/sorter.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define MIB (UINT64_C(1) << 20)

/* How items differ: `spread` distinct values for each of the bytes named by `mask`. */
struct shape {
	const char *name;
	size_t n;
	uint64_t memory;
	uint64_t part_items;
	unsigned threads;
	size_t spread;
	uint32_t mask;
};

struct feeder {
	struct chi_sorter *sorter;
	const struct chi_sort_item *items;
	size_t n;
	int rc;
};

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, CHI_SORT_ITEM);
}

static void *feed(void *argument)
{
	struct feeder *feeder = argument;
	size_t at = 0;
	while (at < feeder->n) {
		struct chi_sort_item *block;
		size_t capacity;
		feeder->rc = chi_sorter_take(feeder->sorter, &block, &capacity, NULL);
		if (feeder->rc != CHI_OK) {
			return NULL;
		}
		size_t n = feeder->n - at < capacity ? feeder->n - at : capacity;
		memcpy(block, feeder->items + at, n * sizeof(*block));
		at += n;
		feeder->rc = chi_sorter_give(feeder->sorter, block, n, NULL);
		if (feeder->rc != CHI_OK) {
			return NULL;
		}
	}
	return NULL;
}

static struct chi_sort_item *make_items(const struct shape *shape, struct seed *seed)
{
	struct chi_sort_item *items = calloc(shape->n + 1, sizeof(*items));
	assert_non_null(items);
	for (size_t i = 0; i < shape->n; i++) {
		for (size_t byte = 0; byte < CHI_SORT_ITEM; byte++) {
			if ((shape->mask >> byte & 1) != 0) {
				items[i].bytes[byte] =
					(uint8_t)(255 - seed_below(seed, shape->spread));
			}
		}
	}
	return items;
}

static void feed_all(struct chi_sorter *sorter, const struct chi_sort_item *items, size_t n,
		     unsigned threads)
{
	struct feeder feeders[8];
	pthread_t ids[8];
	assert_true(threads <= 8);
	for (unsigned i = 0; i < threads; i++) {
		size_t from = n * i / threads;
		feeders[i] = (struct feeder){sorter, items + from, n * (i + 1) / threads - from, 0};
		assert_int_equal(pthread_create(&ids[i], NULL, feed, &feeders[i]), 0);
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		assert_int_equal(feeders[i].rc, CHI_OK);
	}
}

/* Reads all parts one after the other and compares; returns the size of the largest. */
static size_t read_all(struct chi_sorter *sorter, size_t n_parts, const struct chi_sort_item *want,
		       size_t n)
{
	size_t at = 0;
	size_t largest = 0;
	for (size_t part = 0; part < n_parts; part++) {
		struct chi_sort_reader *reader;
		size_t start = at;
		assert_int_equal(chi_sort_open(sorter, part, &reader, NULL), CHI_OK);
		const struct chi_sort_item *item;
		int rc;
		while ((rc = chi_sort_next(reader, &item)) == CHI_OK) {
			assert_true(at < n);
			assert_memory_equal(item, &want[at], CHI_SORT_ITEM);
			if (at == start && at > 0) {
				assert_memory_not_equal(item, &want[at - 1], CHI_SORT_GROUP);
			}
			at++;
		}
		assert_int_equal(rc, CHI_NONE);
		assert_int_equal(chi_sort_next(reader, &item), CHI_NONE);
		chi_sort_close(reader);
		largest = at - start > largest ? at - start : largest;
	}
	assert_int_equal(at, n);
	return largest;
}

static void check_shape(const struct shape *shape, struct seed *seed)
{
	print_message("# %s\n", shape->name);
	_cleanup_(chi_freep) struct chi_sort_item *items = make_items(shape, seed);
	struct chi_sorter *sorter;
	assert_int_equal(chi_sorter_new("/tmp", shape->memory, shape->threads, &sorter), CHI_OK);
	feed_all(sorter, items, shape->n, shape->threads);
	assert_int_equal(chi_sorter_count(sorter), shape->n);
	size_t n_parts = 0;
	assert_int_equal(chi_sorter_seal(sorter, shape->part_items, &n_parts, NULL), CHI_OK);
	assert_true(n_parts >= 1);
	qsort(items, shape->n, sizeof(*items), compare);
	size_t largest = read_all(sorter, n_parts, items, shape->n);
	/* With groups of one item, parts are about as large as asked for. */
	if (shape->spread == 256 && (shape->mask & 0xff) == 0xff && shape->n > shape->part_items) {
		assert_in_range(largest, shape->part_items / 2, shape->part_items * 4);
	}
	struct chi_sort_reader *reader;
	assert_int_equal(chi_sort_open(sorter, n_parts, &reader, NULL), -CHI_EINVAL);
	chi_sorter_free(sorter);
}

CASE(any_shape_comes_out_sorted)
{
	static const struct shape shapes[] = {
		{"nothing", 0, MIB, 100, 1, 256, UINT32_MAX},
		{"one item", 1, MIB, 100, 1, 256, UINT32_MAX},
		{"two items", 2, MIB, 1, 2, 256, UINT32_MAX},
		{"random, in memory", 100000, 64 * MIB, 10000, 3, 256, UINT32_MAX},
		{"random, a block", 60000, 512 * MIB, 1000, 1, 256, UINT32_MAX},
		{"random, spilled", 200000, MIB, 20000, 4, 256, UINT32_MAX},
		{"random, parts of one", 2000, MIB, 1, 2, 256, UINT32_MAX},
		{"all equal", 50000, MIB, 1000, 2, 1, UINT32_MAX},
		{"few groups, spilled", 100000, MIB, 500, 3, 2, 0x80000007},
		{"few groups", 100000, 64 * MIB, 500, 3, 2, 0x80000007},
		{"differing at the end", 70000, 16 * MIB, 1000, 2, 256, 0xff000000},
		{"differing in the middle", 70000, 512 * MIB, 1000, 1, 4, 0x0000ff00},
		{"ties of all lengths", 120000, 512 * MIB, 1000, 1, 3, 0x00a5a5a5},
		{"all ones", 3000, MIB, 10, 2, 1, 0},
	};
	struct seed seed = seed_start("any_shape_comes_out_sorted");
	for (size_t i = 0; i < CHI_COUNT(shapes); i++) {
		check_shape(&shapes[i], &seed);
	}
}

CASE(random_shapes_too)
{
	struct seed seed = seed_start("random_shapes_too");
	for (size_t round = 0; round < seed_rounds(16); round++) {
		struct shape shape = {
			.name = "random shape",
			.n = seed_below(&seed, 120000),
			.memory = MIB << seed_below(&seed, 5),
			.part_items = 1 + seed_below(&seed, 30000),
			.threads = 1 + (unsigned)seed_below(&seed, 4),
			.spread = 1 + seed_below(&seed, 255),
			.mask = (uint32_t)(seed_next(&seed) & seed_next(&seed)),
		};
		check_shape(&shape, &seed);
	}
}

struct part_reader {
	struct chi_sorter *sorter;
	size_t n_parts;
	size_t first;
	uint64_t n;
	uint64_t sum;
};

static void *read_every_other(void *argument)
{
	struct part_reader *me = argument;
	for (size_t part = me->first; part < me->n_parts; part += 2) {
		struct chi_sort_reader *reader;
		if (chi_sort_open(me->sorter, part, &reader, NULL) != CHI_OK) {
			return NULL;
		}
		const struct chi_sort_item *item;
		while (chi_sort_next(reader, &item) == CHI_OK) {
			me->n++;
			me->sum += item->bytes[31];
		}
		chi_sort_close(reader);
	}
	return NULL;
}

CASE(parts_are_read_side_by_side)
{
	struct seed seed = seed_start("parts_are_read_side_by_side");
	const struct shape shape = {"", 100000, MIB, 2000, 2, 256, UINT32_MAX};
	_cleanup_(chi_freep) struct chi_sort_item *items = make_items(&shape, &seed);
	struct chi_sorter *sorter;
	assert_int_equal(chi_sorter_new("/tmp", shape.memory, 1, &sorter), CHI_OK);
	feed_all(sorter, items, shape.n, shape.threads);
	size_t n_parts;
	assert_int_equal(chi_sorter_seal(sorter, shape.part_items, &n_parts, NULL), CHI_OK);
	struct part_reader readers[2] = {{sorter, n_parts, 0, 0, 0}, {sorter, n_parts, 1, 0, 0}};
	pthread_t ids[2];
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&ids[i], NULL, read_every_other, &readers[i]), 0);
	}
	uint64_t sum = 0;
	for (size_t i = 0; i < shape.n; i++) {
		sum += items[i].bytes[31];
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(ids[i], NULL);
	}
	assert_int_equal(readers[0].n + readers[1].n, shape.n);
	assert_int_equal(readers[0].sum + readers[1].sum, sum);
	chi_sorter_free(sorter);
}

/* In place of parts, also where some was spilled. */
CASE(all_is_read_more_than_once)
{
	const struct shape shape = {"spilled", 100000, MIB, 0, 2, 256, 0xffffffff};
	struct seed seed = seed_start("all_is_read_more_than_once");
	_cleanup_(chi_freep) struct chi_sort_item *items = make_items(&shape, &seed);
	struct chi_sorter *sorter;
	assert_int_equal(chi_sorter_new("/tmp", shape.memory, shape.threads, &sorter), CHI_OK);
	feed_all(sorter, items, shape.n, shape.threads);
	qsort(items, shape.n, sizeof(*items), compare);
	for (int i = 0; i < 2; i++) {
		const struct chi_sort_item *item;
		struct chi_sort_reader *reader;
		assert_int_equal(chi_sorter_read(sorter, &reader, NULL), CHI_OK);
		for (size_t at = 0; at < shape.n; at++) {
			assert_int_equal(chi_sort_next(reader, &item), CHI_OK);
			assert_memory_equal(item, &items[at], CHI_SORT_ITEM);
		}
		assert_int_equal(chi_sort_next(reader, &item), CHI_NONE);
		chi_sort_close(reader);
	}
	chi_sorter_free(sorter);
}

/* Blocks may be given back empty, or not be given back at all before the sorter is freed. */
CASE(empty_blocks_count_for_nothing)
{
	struct chi_sorter *sorter;
	struct chi_sort_item *block;
	size_t capacity;
	assert_int_equal(chi_sorter_new("/tmp", MIB, 1, &sorter), CHI_OK);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(chi_sorter_take(sorter, &block, &capacity, NULL), CHI_OK);
		assert_true(capacity >= 1024);
		assert_int_equal(chi_sorter_give(sorter, block, 0, NULL), CHI_OK);
	}
	size_t n_parts = 0;
	assert_int_equal(chi_sorter_seal(sorter, 10, &n_parts, NULL), CHI_OK);
	assert_int_equal(n_parts, 1);
	chi_sorter_free(sorter);
	chi_sorter_free(NULL);
}

/* Feeds until it fails, with files held to `limit` bytes. */
static int fill_up(const char *dir, rlim_t limit)
{
	struct rlimit old;
	struct rlimit small;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = limit;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	struct chi_sorter *sorter;
	assert_int_equal(chi_sorter_new(dir, MIB, 1, &sorter), CHI_OK);
	struct chi_fault fault = {{0}};
	int rc = CHI_OK;
	for (int i = 0; i < 200 && rc == CHI_OK; i++) {
		struct chi_sort_item *block;
		size_t capacity;
		rc = chi_sorter_take(sorter, &block, &capacity, &fault);
		if (rc == CHI_OK) {
			memset(block, i, capacity * sizeof(*block));
			rc = chi_sorter_give(sorter, block, capacity, &fault);
		}
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_true((rc == CHI_OK) == (fault.text[0] == '\0'));
	chi_sorter_free(sorter);
	return rc;
}

CASE(a_full_disk_is_told)
{
	assert_int_equal(fill_up("/tmp", 3 << 20), -CHI_EFULL);
	assert_int_equal(fill_up("/tmp", RLIM_INFINITY), CHI_OK);
}

CASE(a_directory_that_is_not_there_is_told)
{
	assert_int_equal(fill_up("/nonexistent/place", RLIM_INFINITY), -CHI_EIO);
}
