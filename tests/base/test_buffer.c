/* SPDX-License-Identifier: MIT */
/* The byte queue: its limit to the byte, and that nothing is lost or reordered by moving. */
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

CASE(limit_is_exact)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer buffer;
	chi_buffer_init(&buffer, 10);
	assert_null(chi_buffer_bytes(&buffer));
	assert_null(chi_buffer_reserve(&buffer, 11));
	assert_null(chi_buffer_reserve(&buffer, SIZE_MAX));
	assert_int_equal(chi_buffer_append(&buffer, "0123456789a", 11), -CHI_ETOOBIG);
	assert_int_equal(buffer.len, 0);
	assert_int_equal(chi_buffer_append(&buffer, "012345678", 9), CHI_OK);
	assert_int_equal(chi_buffer_append(&buffer, "ab", 2), -CHI_ETOOBIG);
	assert_int_equal(chi_buffer_append(&buffer, "9", 1), CHI_OK);
	assert_int_equal(chi_buffer_append(&buffer, "x", 1), -CHI_ETOOBIG);
	assert_int_equal(chi_buffer_append(&buffer, NULL, 0), CHI_OK);
	assert_memory_equal(chi_buffer_bytes(&buffer), "0123456789", 10);
	chi_buffer_consume(&buffer, 4);
	assert_int_equal(chi_buffer_append(&buffer, "abcd", 4), CHI_OK);
	assert_memory_equal(chi_buffer_bytes(&buffer), "456789abcd", 10);
	assert_int_equal(chi_buffer_append(&buffer, "x", 1), -CHI_ETOOBIG);
}

CASE(consuming_all_starts_over)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer buffer;
	chi_buffer_init(&buffer, 100);
	chi_buffer_consume(&buffer, 5);
	assert_int_equal(chi_buffer_append(&buffer, "abc", 3), CHI_OK);
	chi_buffer_consume(&buffer, 3);
	assert_int_equal(buffer.start, 0);
	assert_int_equal(buffer.len, 0);
}

CASE(trim_needs_an_empty_buffer)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer buffer;
	chi_buffer_init(&buffer, 1 << 20);
	assert_non_null(chi_buffer_reserve(&buffer, 5000));
	chi_buffer_added(&buffer, 5000);
	chi_buffer_trim(&buffer, 1000);
	assert_true(buffer.capacity >= 5000);
	chi_buffer_consume(&buffer, 5000);
	chi_buffer_trim(&buffer, 1 << 20);
	assert_true(buffer.capacity >= 5000);
	chi_buffer_trim(&buffer, 1000);
	assert_int_equal(buffer.capacity, 0);
	assert_int_equal(chi_buffer_append(&buffer, "abc", 3), CHI_OK);
}

CASE(deinit_is_harmless_twice)
{
	struct chi_buffer zeroed = {0};
	chi_buffer_deinit(&zeroed);
	struct chi_buffer buffer;
	chi_buffer_init(&buffer, 8);
	assert_int_equal(chi_buffer_append(&buffer, "abc", 3), CHI_OK);
	chi_buffer_deinit(&buffer);
	chi_buffer_deinit(&buffer);
}

/* Bytes carry their running number: whatever the sizes, they come out in order. */
CASE(any_sizes_keep_the_order)
{
	struct seed seed = seed_start("buffer");
	_cleanup_(chi_buffer_deinit) struct chi_buffer buffer;
	chi_buffer_init(&buffer, 3000);
	uint64_t in = 0;
	uint64_t out = 0;
	for (size_t left = seed_rounds(20000); left > 0; left--) {
		size_t want = seed_below(&seed, 700);
		uint8_t *room = chi_buffer_reserve(&buffer, want);
		assert_int_equal(room != NULL, buffer.len + want <= 3000);
		if (room != NULL) {
			for (size_t i = 0; i < want; i++) {
				room[i] = (uint8_t)(in++ * 37);
			}
			chi_buffer_added(&buffer, want);
		}
		assert_true(buffer.capacity <= 3000 + 1);
		size_t take = seed_below(&seed, buffer.len + 1);
		for (size_t i = 0; i < take; i++) {
			assert_int_equal(chi_buffer_bytes(&buffer)[i], (uint8_t)(out++ * 37));
		}
		chi_buffer_consume(&buffer, take);
		assert_int_equal(buffer.len, in - out);
	}
}

/* Nothing of what was consumed is left in the allocation, and what is there stays. */
CASE(wiping_leaves_the_content)
{
	static const char secret[] = "hunter2-hunter2";
	struct chi_buffer buffer;
	chi_buffer_init(&buffer, 3000);
	chi_buffer_wipe(&buffer);
	for (size_t left = 0; left < sizeof(secret); left++) {
		assert_int_equal(chi_buffer_append(&buffer, secret, sizeof(secret)), CHI_OK);
		chi_buffer_consume(&buffer, sizeof(secret) - left);
		chi_buffer_wipe(&buffer);
		const uint8_t *content = chi_buffer_bytes(&buffer);
		assert_memory_equal(content, secret + sizeof(secret) - left, left);
		for (size_t i = 0; i < buffer.capacity; i++) {
			bool inside = i >= buffer.start && i < buffer.start + buffer.len;
			assert_true(inside || buffer.data[i] == 0);
		}
		chi_buffer_consume(&buffer, left);
		chi_buffer_wipe(&buffer);
	}
	chi_buffer_deinit(&buffer);
}
