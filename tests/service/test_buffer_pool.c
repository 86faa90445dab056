/* SPDX-License-Identifier: MIT */
/* Buffers that are lent again, how many are kept, and how much memory that is at most. */
#include "service/net/buffer_pool.h"
#include "tests/base/cases.h"

#define LIMIT ((size_t)1 << 20)

static void lend(struct chi_buffer_pool *buffer_pool, struct chi_buffer *buffer, size_t bytes)
{
	chi_buffer_init(buffer, LIMIT);
	chi_buffer_pool_get(buffer_pool, buffer, bytes);
}

static void make(struct chi_buffer *buffer, size_t bytes)
{
	chi_buffer_init(buffer, 4 * LIMIT);
	assert_non_null(chi_buffer_reserve(buffer, bytes));
	assert_int_equal(buffer->capacity, bytes);
}

/* The one given back last comes first, each among its kind, and with the borrower's limit. */
CASE(lent_again)
{
	static const size_t sizes[] = {CHI_SMALL_BUFFER, CHI_SMALL_BUFFER + 1, CHI_LARGE_BUFFER};
	struct chi_buffer_pool buffer_pool = {0};
	struct chi_buffer buffer;
	lend(&buffer_pool, &buffer, 1);
	assert_null(buffer.data);
	for (size_t i = 0; i < 3; i++) {
		make(&buffer, sizes[i]);
		chi_buffer_pool_put(&buffer_pool, &buffer);
		assert_null(buffer.data);
		assert_int_equal(buffer.capacity, 0);
	}
	lend(&buffer_pool, &buffer, CHI_SMALL_BUFFER);
	assert_int_equal(buffer.capacity, CHI_SMALL_BUFFER);
	assert_int_equal(buffer.limit, LIMIT);
	const uint8_t *data = buffer.data;
	chi_buffer_pool_get(&buffer_pool, &buffer, LIMIT);
	assert_ptr_equal(buffer.data, data);
	chi_buffer_pool_put(&buffer_pool, &buffer);
	for (size_t i = 2; i > 0; i--) {
		lend(&buffer_pool, &buffer, CHI_SMALL_BUFFER + 1);
		assert_int_equal(buffer.capacity, sizes[i]);
		chi_buffer_deinit(&buffer);
	}
	lend(&buffer_pool, &buffer, LIMIT);
	assert_null(buffer.data);
	assert_int_equal(buffer_pool.large_bytes, 0);
	chi_buffer_pool_deinit(&buffer_pool);
}

/* What is in use, odd, too large or too much is not kept. */
CASE(kept_within_bounds)
{
	struct chi_buffer_pool buffer_pool = {0};
	struct chi_buffer buffer;
	make(&buffer, CHI_SMALL_BUFFER);
	assert_int_equal(chi_buffer_append(&buffer, "x", 1), CHI_OK);
	chi_buffer_pool_put(&buffer_pool, &buffer);
	assert_non_null(buffer.data);
	chi_buffer_deinit(&buffer);
	make(&buffer, CHI_SMALL_BUFFER - 1);
	chi_buffer_pool_put(&buffer_pool, &buffer);
	make(&buffer, CHI_LARGE_BUFFER + 1);
	chi_buffer_pool_put(&buffer_pool, &buffer);
	assert_int_equal(buffer_pool.n_small + buffer_pool.n_large, 0);
	for (size_t i = 1; i <= 2 * CHI_BUFFER_POOL_SMALL; i++) {
		make(&buffer, CHI_SMALL_BUFFER);
		chi_buffer_pool_put(&buffer_pool, &buffer);
		make(&buffer, i % 2 == 0 ? CHI_SMALL_BUFFER + 1 : CHI_LARGE_BUFFER);
		chi_buffer_pool_put(&buffer_pool, &buffer);
		assert_null(buffer.data);
		assert_int_equal(buffer_pool.n_small,
				 i < CHI_BUFFER_POOL_SMALL ? i : CHI_BUFFER_POOL_SMALL);
		assert_in_range(buffer_pool.n_large, 1, CHI_BUFFER_POOL_LARGE);
		assert_in_range(buffer_pool.large_bytes, CHI_LARGE_BUFFER, CHI_BUFFER_POOL_BYTES);
	}
	chi_buffer_pool_deinit(&buffer_pool);
}
