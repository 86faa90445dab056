/* SPDX-License-Identifier: MIT */
/* The line by which a verifying child tells its numbers, and lines that only look like it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/attr.h"
#include "daemon/ops/verify.h"

static bool parse(const char *line, struct chi_verify_result *out)
{
	return chi_verify_parse(line, strlen(line), out);
}

/* The child's last line, up to the largest number there can be. */
static void test_numbers(void **state)
{
	(void)state;
	struct chi_verify_result result = {0};
	assert_true(parse("verified positions=18446744073709551615 known=2 errors=0", &result));
	assert_true(result.positions == UINT64_MAX);
	assert_int_equal(result.known, 2);
	assert_int_equal(result.errors, 0);
}

/* All else is a damage to report, or a child that died in the middle of a line. */
static void test_other_lines(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"",
		"verified",
		"verified ",
		"verified positions=1 known=2",
		"verified positions=1 known=2 errors=",
		"verified positions=1 known=2 errors=x",
		"verified positions=1 known=2 errors=0 ",
		"verified positions=1 known=2 errors=0 more=1",
		"verified positions=1 errors=2 known=0",
		"verified positions=18446744073709551616 known=2 errors=0",
		"record of '8/8' is damaged",
	};
	for (size_t i = 0; i < CHI_COUNT(lines); i++) {
		struct chi_verify_result result = {.errors = 7};
		bool taken = parse(lines[i], &result);
		/* A space at the end is not worth a refusal; everything else is. */
		assert_int_equal(taken, i == 6);
		assert_int_equal(result.errors, i == 6 ? 0 : 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_other_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
