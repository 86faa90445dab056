/* SPDX-License-Identifier: MIT */
/* Buffers that are lent again, how many are kept, and how much memory that is at most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/spares.h"

#define LIMIT ((size_t)1 << 20)

static void lend(struct chi_spares *spares, struct chi_buffer *buffer, size_t bytes)
{
	chi_buffer_init(buffer, LIMIT);
	chi_spares_lend(spares, buffer, bytes);
}

static void make(struct chi_buffer *buffer, size_t bytes)
{
	chi_buffer_init(buffer, 4 * LIMIT);
	assert_non_null(chi_buffer_reserve(buffer, bytes));
	assert_int_equal(buffer->capacity, bytes);
}

/* The one given back last comes first, each among its kind, and with the borrower's limit. */
static void lent_again(void **state)
{
	static const size_t sizes[] = {CHI_SMALL_BUFFER, CHI_SMALL_BUFFER + 1, CHI_LARGE_BUFFER};
	struct chi_spares spares = {0};
	struct chi_buffer buffer;
	(void)state;
	lend(&spares, &buffer, 1);
	assert_null(buffer.data);
	for (size_t i = 0; i < 3; i++) {
		make(&buffer, sizes[i]);
		chi_spares_give_back(&spares, &buffer);
		assert_null(buffer.data);
		assert_int_equal(buffer.capacity, 0);
	}
	lend(&spares, &buffer, CHI_SMALL_BUFFER);
	assert_int_equal(buffer.capacity, CHI_SMALL_BUFFER);
	assert_int_equal(buffer.limit, LIMIT);
	const uint8_t *data = buffer.data;
	chi_spares_lend(&spares, &buffer, LIMIT);
	assert_ptr_equal(buffer.data, data);
	chi_spares_give_back(&spares, &buffer);
	for (size_t i = 2; i > 0; i--) {
		lend(&spares, &buffer, CHI_SMALL_BUFFER + 1);
		assert_int_equal(buffer.capacity, sizes[i]);
		chi_buffer_deinit(&buffer);
	}
	lend(&spares, &buffer, LIMIT);
	assert_null(buffer.data);
	assert_int_equal(spares.large_bytes, 0);
	chi_spares_deinit(&spares);
}

/* What is in use, odd, too large or too much is not kept. */
static void kept_within_bounds(void **state)
{
	struct chi_spares spares = {0};
	struct chi_buffer buffer;
	(void)state;
	make(&buffer, CHI_SMALL_BUFFER);
	assert_int_equal(chi_buffer_append(&buffer, "x", 1), CHI_OK);
	chi_spares_give_back(&spares, &buffer);
	assert_non_null(buffer.data);
	chi_buffer_deinit(&buffer);
	make(&buffer, CHI_SMALL_BUFFER - 1);
	chi_spares_give_back(&spares, &buffer);
	make(&buffer, CHI_LARGE_BUFFER + 1);
	chi_spares_give_back(&spares, &buffer);
	assert_int_equal(spares.n_small + spares.n_large, 0);
	for (size_t i = 1; i <= 2 * CHI_SPARES_SMALL; i++) {
		make(&buffer, CHI_SMALL_BUFFER);
		chi_spares_give_back(&spares, &buffer);
		make(&buffer, i % 2 == 0 ? CHI_SMALL_BUFFER + 1 : CHI_LARGE_BUFFER);
		chi_spares_give_back(&spares, &buffer);
		assert_null(buffer.data);
		assert_int_equal(spares.n_small, i < CHI_SPARES_SMALL ? i : CHI_SPARES_SMALL);
		assert_in_range(spares.n_large, 1, CHI_SPARES_LARGE);
		assert_in_range(spares.large_bytes, CHI_LARGE_BUFFER, CHI_SPARES_BYTES);
	}
	chi_spares_deinit(&spares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lent_again),
		cmocka_unit_test(kept_within_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
