/* SPDX-License-Identifier: MIT */
/* The text of a failure: its limit, its UTF-8, and what a hostile quotation turns into. */
#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define LIMIT (CHI_FAULT_SIZE - 1)

CASE(formats_and_returns_the_status)
{
	struct chi_fault fault;
	assert_int_equal(chi_fail(&fault, -CHI_EFEN, "rank %d has %d squares", 3, 9), -CHI_EFEN);
	assert_string_equal(fault.text, "rank 3 has 9 squares");
	assert_int_equal(chi_fail(NULL, -CHI_EKEY, "no one reads %s", "this"), -CHI_EKEY);
	assert_int_equal(chi_fault_plain(NULL, -CHI_EIO), -CHI_EIO);
	assert_int_equal(chi_fault_plain(&fault, -CHI_EIO), -CHI_EIO);
	assert_string_equal(fault.text, chi_strerror(-CHI_EIO));
}

CASE(a_percent_sign_in_data_is_data)
{
	struct chi_fault fault;
	chi_fail(&fault, -CHI_EFEN, "'%s'", "%s%n%d");
	assert_string_equal(fault.text, "'%s%n%d'");
}

CASE(cuts_at_the_limit)
{
	char text[LIMIT + 3];
	struct chi_fault fault;
	for (size_t len = LIMIT - 1; len <= LIMIT + 2; len++) {
		memset(text, 'x', len);
		text[len] = '\0';
		chi_fail(&fault, -CHI_EINVAL, "%s", text);
		assert_int_equal(strlen(fault.text), len < LIMIT ? len : LIMIT);
	}
}

/* A sequence of two, three or four bytes is put at every distance around the limit: it is there
 * whole or not at all, and never shows as a '?'. */
CASE(never_cuts_inside_a_sequence)
{
	static const char *const sequences[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
	struct chi_fault fault;
	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(sequences[i]);
		for (size_t before = LIMIT - 6; before <= LIMIT; before++) {
			char text[LIMIT + 1];
			memset(text, 'x', before);
			text[before] = '\0';
			chi_fail(&fault, -CHI_EINVAL, "%s%s%s", text, sequences[i], "yyyyyyyy");
			assert_true(chi_utf8_valid(fault.text, strlen(fault.text)));
			assert_null(strchr(fault.text, '?'));
			assert_int_equal(strstr(fault.text, sequences[i]) != NULL,
					 before + n <= LIMIT);
		}
	}
}

CASE(control_characters_become_question_marks)
{
	struct chi_fault fault;
	for (int c = 1; c < 0x20; c++) {
		chi_fail(&fault, -CHI_EINVAL, "a%cb", c);
		assert_string_equal(fault.text, "a?b");
	}
	chi_fail(&fault, -CHI_EINVAL, "a%cb", 0x7f);
	assert_string_equal(fault.text, "a?b");
	for (int c = 0x80; c < 0xa0; c++) {
		chi_fail(&fault, -CHI_EINVAL, "a\xc2%cb", c);
		assert_string_equal(fault.text, "a?b");
	}
	chi_fail(&fault, -CHI_EINVAL,
		 "a\xc2\xa0"
		 "b");
	assert_string_equal(fault.text, "a\xc2\xa0"
					"b");
}

CASE(broken_utf8_becomes_question_marks)
{
	struct chi_fault fault;
	chi_fail(&fault, -CHI_EINVAL, "%s",
		 "a\xff"
		 "b\xe2\x82"
		 "c\xed\xa0\x80");
	assert_string_equal(fault.text, "a?b??c???");
	/* A text of nothing but C1 controls fills the limit: two bytes shrink to one. */
	char text[2 * LIMIT + 1];
	for (size_t i = 0; i < LIMIT; i++) {
		memcpy(text + 2 * i, "\xc2\x85", 2);
	}
	text[2 * LIMIT] = '\0';
	chi_fail(&fault, -CHI_EINVAL, "%s", text);
	assert_int_equal(strlen(fault.text), LIMIT);
	assert_int_equal(strspn(fault.text, "?"), LIMIT);
}

CASE(any_bytes_give_printable_utf8)
{
	struct seed seed = seed_start("any_bytes_give_printable_utf8");
	for (size_t left = seed_rounds(20000); left > 0; left--) {
		char text[600];
		size_t len = seed_below(&seed, sizeof(text));
		for (size_t i = 0; i < len; i++) {
			text[i] = (char)(1 + seed_below(&seed, 255));
		}
		text[len] = '\0';
		struct chi_fault fault;
		chi_fail(&fault, -CHI_EINVAL, "%s", text);
		size_t out = strlen(fault.text);
		assert_in_range(out, 0, LIMIT);
		assert_true(chi_utf8_valid(fault.text, out));
		for (size_t i = 0; i < out; i++) {
			assert_true((unsigned char)fault.text[i] >= 0x20 && fault.text[i] != 0x7f);
		}
	}
}
