/* SPDX-License-Identifier: MIT */
/* Bytes in and out: bounds, sticky errors, and that every number has exactly one varint. */
#include <string.h>

#include "base/wire.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

CASE(varint_forms)
{
	static const struct {
		uint64_t value;
		size_t len;
		const char *bytes;
	} cases[] = {
		{0, 1, "\x00"},
		{1, 1, "\x01"},
		{127, 1, "\x7f"},
		{128, 2, "\x80\x01"},
		{300, 2, "\xac\x02"},
		{16383, 2, "\xff\x7f"},
		{16384, 3, "\x80\x80\x01"},
		{UINT32_MAX, 5, "\xff\xff\xff\xff\x0f"},
		{UINT64_MAX >> 1, 9, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"},
		{(uint64_t)1 << 63, 10, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"},
		{UINT64_MAX, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[10];
		struct chi_writer w = chi_writer_of(bytes, sizeof(bytes));
		chi_write_varint(&w, cases[i].value);
		assert_false(w.bad);
		assert_int_equal(w.at - bytes, cases[i].len);
		assert_int_equal(chi_varint_size(cases[i].value), cases[i].len);
		assert_memory_equal(bytes, cases[i].bytes, cases[i].len);
		struct chi_reader r = chi_reader_of(bytes, cases[i].len);
		assert_true(chi_read_varint(&r) == cases[i].value);
		assert_false(r.bad);
		assert_int_equal(chi_reader_left(&r), 0);
		/* Cut anywhere, it is an error and not a smaller number. */
		for (size_t cut = 0; cut < cases[i].len; cut++) {
			r = chi_reader_of(bytes, cut);
			assert_true(chi_read_varint(&r) == 0);
			assert_true(r.bad);
		}
	}
}

CASE(varint_refuses_longer_forms)
{
	static const struct {
		size_t len;
		const char *bytes;
	} bad[] = {
		{2, "\x80\x00"},
		{2, "\xff\x00"},
		{3, "\x80\x80\x00"},
		{3, "\x81\x80\x00"},
		{10, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"},
		{10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"},
		{10, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"},
		{10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"},
		{11, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"},
		{11, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct chi_reader r = chi_reader_of(bad[i].bytes, bad[i].len);
		assert_true(chi_read_varint(&r) == 0);
		assert_true(r.bad);
	}
}

CASE(reader_error_is_sticky)
{
	static const uint8_t bytes[] = {1, 2, 3};
	struct chi_reader r = chi_reader_of(bytes, sizeof(bytes));
	assert_int_equal(chi_read_u8(&r), 1);
	assert_int_equal(chi_reader_left(&r), 2);
	assert_true(chi_read_le(&r, 4) == 0);
	assert_true(r.bad);
	/* Two bytes are left in the buffer, but nothing may be read after the error. */
	assert_int_equal(chi_reader_left(&r), 0);
	assert_int_equal(chi_read_u8(&r), 0);
	assert_null(chi_read_bytes(&r, 1));
	assert_null(chi_read_bytes(&r, 0));
	assert_true(chi_read_varint(&r) == 0);
}

CASE(reader_of_nothing)
{
	struct chi_reader r = chi_reader_of("", 0);
	assert_non_null(chi_read_bytes(&r, 0));
	assert_false(r.bad);
	assert_null(chi_read_bytes(&r, SIZE_MAX));
	assert_true(r.bad);
}

CASE(writer_keeps_to_its_room)
{
	uint8_t bytes[8];
	memset(bytes, 0xee, sizeof(bytes));
	struct chi_writer w = chi_writer_of(bytes, 4);
	chi_write_le(&w, 0x0102030405060708, 5);
	assert_true(w.bad);
	assert_ptr_equal(w.at, bytes);
	chi_write_u8(&w, 1);
	chi_write_varint(&w, 1);
	chi_write_bytes(&w, "x", 1);
	assert_ptr_equal(w.at, bytes);
	assert_memory_equal(bytes, "\xee\xee\xee\xee\xee\xee\xee\xee", 8);

	w = chi_writer_of(bytes, 4);
	chi_write_varint(&w, 300);
	chi_write_varint(&w, 16384); /* needs three bytes, two are left: written not at all */
	assert_true(w.bad);
	assert_memory_equal(bytes, "\xac\x02\xee\xee\xee", 5);
}

CASE(le_widths)
{
	uint64_t value = 0x8877665544332211;
	for (size_t width = 0; width <= 8; width++) {
		uint8_t bytes[8];
		struct chi_writer w = chi_writer_of(bytes, width);
		chi_write_le(&w, value, width);
		assert_false(w.bad);
		for (size_t i = 0; i < width; i++) {
			assert_int_equal(bytes[i], 0x11 * (i + 1));
		}
		struct chi_reader r = chi_reader_of(bytes, width);
		uint64_t mask = width == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * width)) - 1;
		assert_true(chi_read_le(&r, width) == (value & mask));
		assert_false(r.bad);
	}
}

/* Whatever bytes come: a number that is read, written again, gives the same bytes. */
CASE(varints_have_one_form)
{
	struct seed seed = seed_start("varints_have_one_form");
	const size_t rounds = seed_rounds(300000);
	size_t accepted = 0;
	for (size_t left = rounds; left > 0; left--) {
		uint8_t bytes[12];
		uint8_t again[10];
		size_t len = 1 + seed_below(&seed, sizeof(bytes));
		for (size_t i = 0; i < len; i++) {
			uint64_t random = seed_next(&seed);
			/* Mostly with a following byte, and often with the edge cases 0, 1, 127. */
			uint8_t low = (random & 7) == 0 ? (uint8_t)(random >> 8 & 1)
							: (uint8_t)(random >> 16);
			bytes[i] =
				(uint8_t)(low | (i + 1 < len && (random & 0x70) != 0 ? 0x80 : 0));
		}
		struct chi_reader r = chi_reader_of(bytes, len);
		uint64_t value = chi_read_varint(&r);
		if (r.bad) {
			assert_true(value == 0);
			continue;
		}
		accepted++;
		struct chi_writer w = chi_writer_of(again, sizeof(again));
		chi_write_varint(&w, value);
		assert_int_equal(w.at - again, r.at - bytes);
		assert_memory_equal(again, bytes, (size_t)(w.at - again));
	}
	assert_in_range(accepted, rounds / 30, rounds - 1);
}
