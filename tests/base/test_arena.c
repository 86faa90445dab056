/* SPDX-License-Identifier: MIT */
/* The arena: its budget to the byte, alignment, and that no two allocations share memory. */
#include <stdalign.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define UNIT alignof(max_align_t)

CASE(budget_is_exact)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, 10 * UNIT);
	assert_null(chi_arena_alloc(&arena, 10 * UNIT + 1));
	assert_int_equal(arena.used, 0);
	assert_non_null(chi_arena_alloc(&arena, 9 * UNIT));
	assert_null(chi_arena_alloc(&arena, UNIT + 1));
	assert_non_null(chi_arena_alloc(&arena, UNIT));
	assert_null(chi_arena_alloc(&arena, 1));
	assert_null(chi_arena_alloc(&arena, 0));
	chi_arena_reset(&arena);
	assert_non_null(chi_arena_alloc(&arena, 10 * UNIT));
}

CASE(sizes_that_overflow)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, SIZE_MAX);
	assert_non_null(chi_arena_alloc(&arena, 1));
	assert_null(chi_arena_alloc(&arena, SIZE_MAX));
	assert_null(chi_arena_alloc(&arena, SIZE_MAX - UNIT + 1));
	assert_null(chi_arena_alloc(&arena, SIZE_MAX - UNIT));
	assert_null(chi_arena_array(&arena, SIZE_MAX / 2 + 1, 2));
	assert_null(chi_arena_array(&arena, (size_t)1 << 33, (size_t)1 << 33));
	assert_null(chi_arena_text(&arena, "x", SIZE_MAX));
	assert_non_null(chi_arena_array(&arena, 0, SIZE_MAX));
	assert_non_null(chi_arena_array(&arena, SIZE_MAX, 0));
}

CASE(empty_allocations_differ)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, 4096);
	void *a = chi_arena_alloc(&arena, 0);
	void *b = chi_arena_alloc(&arena, 0);
	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_not_equal(a, b);
}

CASE(text_ends_with_nul)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, 4096);
	memset(chi_arena_alloc(&arena, 1000), 0xff, 1000);
	chi_arena_reset(&arena);
	char *text = chi_arena_text(&arena, "abcdef", 3);
	assert_string_equal(text, "abc");
	assert_string_equal(chi_arena_text(&arena, NULL, 0), "");
}

CASE(arrays_are_zeroed_after_reuse)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, 4096);
	memset(chi_arena_alloc(&arena, 2000), 0xff, 2000);
	chi_arena_reset(&arena);
	uint64_t *array = chi_arena_array(&arena, 250, sizeof(*array));
	for (size_t i = 0; i < 250; i++) {
		assert_true(array[i] == 0);
	}
}

/* An arena lives as long as its connection, and must not keep what one large request took. */
CASE(reset_keeps_a_small_block_and_no_large_one)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, (size_t)16 << 20);
	assert_non_null(chi_arena_alloc(&arena, 100));
	struct chi_arena_block *first = arena.blocks;
	chi_arena_reset(&arena);
	assert_ptr_equal(arena.blocks, first);
	assert_non_null(chi_arena_alloc(&arena, (size_t)3 << 20));
	chi_arena_reset(&arena);
	assert_null(arena.blocks);
	assert_non_null(chi_arena_alloc(&arena, 100));
}

CASE(deinit_is_harmless)
{
	struct chi_arena arena = {0};
	chi_arena_deinit(&arena);
	chi_arena_reset(&arena);
	chi_arena_init(&arena, 4096);
	assert_non_null(chi_arena_alloc(&arena, 10));
	chi_arena_deinit(&arena);
	chi_arena_deinit(&arena);
	/* Usable again, with the same budget. */
	assert_non_null(chi_arena_alloc(&arena, 10));
	chi_arena_deinit(&arena);
}

/* Many sizes, small and larger than a block: each region keeps the pattern it was given until
 * all were handed out, so none overlaps another, and each is aligned. */
CASE(regions_do_not_overlap)
{
	struct seed seed = seed_start("regions_do_not_overlap");
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, (size_t)64 << 20);
	for (int round = 0; round < 30; round++) {
		struct {
			unsigned char *bytes;
			size_t len;
		} regions[300];
		size_t total = 0;
		for (size_t i = 0; i < 300; i++) {
			regions[i].len = seed_below(&seed, i % 50 == 0 ? 100000 : 300);
			regions[i].bytes = chi_arena_alloc(&arena, regions[i].len);
			assert_non_null(regions[i].bytes);
			assert_int_equal((uintptr_t)regions[i].bytes % UNIT, 0);
			memset(regions[i].bytes, (int)(i & 0xff), regions[i].len);
			total += regions[i].len;
		}
		assert_true(arena.used >= total);
		for (size_t i = 0; i < 300; i++) {
			for (size_t k = 0; k < regions[i].len; k++) {
				assert_int_equal(regions[i].bytes[k], i & 0xff);
			}
		}
		chi_arena_reset(&arena);
		assert_int_equal(arena.used, 0);
	}
}

CASE(wiping_reaches_every_block)
{
	struct chi_arena arena;
	unsigned char *regions[40];
	chi_arena_init(&arena, 1 << 20);
	chi_arena_wipe(&arena);
	for (size_t i = 0; i < 40; i++) {
		regions[i] = chi_arena_alloc(&arena, 1000);
		assert_non_null(regions[i]);
		memset(regions[i], 'x', 1000);
	}
	chi_arena_wipe(&arena);
	for (size_t i = 0; i < 40; i++) {
		for (size_t k = 0; k < 1000; k++) {
			assert_int_equal(regions[i][k], 0);
		}
	}
	chi_arena_deinit(&arena);
}
