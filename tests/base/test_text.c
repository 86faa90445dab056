/* SPDX-License-Identifier: MIT */
/* Hexadecimal and UTF-8, each against a second, plainer way to say the same. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

CASE(hex_of_every_byte)
{
	for (unsigned b = 0; b < 256; b++) {
		uint8_t byte = (uint8_t)b;
		uint8_t back = 0;
		char text[3];
		char expected[3];
		snprintf(expected, sizeof(expected), "%02x", b);
		chi_hex_print(&byte, 1, text);
		assert_string_equal(text, expected);
		assert_int_equal(chi_hex_parse(text, 2, &back), CHI_OK);
		assert_int_equal(back, b);
		snprintf(expected, sizeof(expected), "%02X", b);
		assert_int_equal(chi_hex_parse(expected, 2, &back), CHI_OK);
		assert_int_equal(back, b);
	}
}

CASE(hex_refuses)
{
	static const char *const bad[] = {
		"0", "000", "0g", "g0", "0x12", " 12 ", "00\xffz", "1:", "/1", "@1", "`1", "1G",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t out[4] = {0xaa, 0xaa, 0xaa, 0xaa};
		assert_int_equal(chi_hex_parse(bad[i], strlen(bad[i]), out), -CHI_ESYNTAX);
		assert_memory_equal(out, "\xaa\xaa\xaa\xaa", 4);
	}
	char text[1];
	chi_hex_print("", 0, text);
	assert_string_equal(text, "");
	assert_int_equal(chi_hex_parse("", 0, NULL), CHI_OK);
}

/* Writes code point `c` in `n` bytes whether or not that is its form. */
static void put_code_point(uint32_t c, size_t n, char *out)
{
	static const unsigned char marks[] = {0, 0x00, 0xc0, 0xe0, 0xf0};
	for (size_t i = n; i-- > 1;) {
		out[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	out[0] = (char)(marks[n] | c);
}

static size_t shortest_form(uint32_t c)
{
	if (c < 0x80) {
		return 1;
	}
	return c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

/* Every number that four bytes can spell, in every length that can spell it. */
CASE(utf8_of_every_code_point)
{
	static const uint32_t limits[] = {0, 0x80, 0x800, 0x10000, 0x200000};
	for (size_t n = 1; n <= 4; n++) {
		for (uint32_t c = 0; c < limits[n]; c++) {
			char text[4];
			put_code_point(c, n, text);
			bool scalar = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
			bool expected = scalar && shortest_form(c) == n;
			if (chi_utf8_valid(text, n) != expected) {
				fail_msg("U+%04X in %zu bytes", (unsigned)c, n);
			}
			/* Cut short, a sequence is never well-formed. */
			if (n > 1 && chi_utf8_valid(text, n - 1)) {
				fail_msg("U+%04X in %zu bytes, cut", (unsigned)c, n);
			}
		}
	}
}

CASE(utf8_broken)
{
	static const char *const bad[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xf5\x80\x80\x80",
		"\xfe",
		"\xff",
		"\xf8\x88\x80\x80\x80",
		"a\xc3",
		"\xc3"
		"a",
		"\xe2\x82"
		"a",
		"\xe2"
		"a\xac",
		"\xf0\x9f\x98"
		"a",
		"\xf0\x9f"
		"aa",
		"\xc3\xa9\xa9",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(chi_utf8_valid(bad[i], strlen(bad[i])));
	}
	assert_true(chi_utf8_valid("", 0));
	assert_true(chi_utf8_valid("a\0b", 3));
}

/* Texts glued from well-formed sequences are well-formed; with one byte of a longer sequence
 * taken out they are not. */
CASE(utf8_of_long_texts)
{
	struct seed seed = seed_start("utf8_of_long_texts");
	for (size_t left = seed_rounds(5000); left > 0; left--) {
		char text[512];
		size_t len = 0;
		size_t multibyte = SIZE_MAX;
		while (len < sizeof(text) - 4) {
			uint32_t c = (uint32_t)seed_below(&seed, 0x110000);
			c = c >= 0xd800 && c <= 0xdfff ? 'x' : c;
			size_t n = shortest_form(c);
			put_code_point(c, n, text + len);
			multibyte = n > 1 ? len : multibyte;
			len += n;
		}
		assert_true(chi_utf8_valid(text, len));
		if (multibyte != SIZE_MAX) {
			memmove(text + multibyte, text + multibyte + 1, len - multibyte - 1);
			assert_false(chi_utf8_valid(text, len - 1));
		}
	}
}
