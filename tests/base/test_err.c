/* SPDX-License-Identifier: MIT */
/* Every status has a text of its own, and no number makes chi_strerror fail. */
#include <limits.h>
#include <ctype.h>
#include <string.h>

#include "chistore/types.h"
#include "tests/base/cases.h"

CASE(every_code_has_its_own_text)
{
	for (int code = 1; code < CHI_ERROR_COUNT; code++) {
		const char *text = chi_strerror(-code);
		assert_non_null(text);
		assert_string_not_equal(text, chi_strerror(-CHI_ERROR_COUNT));
		for (int other = 0; other < code; other++) {
			assert_string_not_equal(text, chi_strerror(-other));
		}
	}
}

CASE(texts_are_lower_case_without_full_stop)
{
	for (int code = 0; code < CHI_ERROR_COUNT; code++) {
		const char *text = chi_strerror(-code);
		size_t len = strlen(text);
		assert_in_range(len, 1, CHI_FAULT_SIZE - 1);
		assert_true(text[len - 1] != '.');
		assert_true(islower((unsigned char)text[0]) || strncmp(text, "FEN", 3) == 0);
		assert_null(strchr(text, '\n'));
	}
}

CASE(the_sign_does_not_matter)
{
	/* But for 1, which is CHI_NONE where a function returns it. */
	for (int code = 2; code < CHI_ERROR_COUNT; code++) {
		assert_string_equal(chi_strerror(code), chi_strerror(-code));
	}
	assert_string_not_equal(chi_strerror(CHI_NONE), chi_strerror(-CHI_EINVAL));
}

CASE(numbers_that_are_no_code)
{
	static const int wrong[] = {CHI_ERROR_COUNT, -CHI_ERROR_COUNT, INT_MAX, INT_MIN, -INT_MAX};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_string_equal(chi_strerror(wrong[i]), "unknown status");
	}
}
