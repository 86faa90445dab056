/* SPDX-License-Identifier: MIT */
/* Parameters: escapes, repeated ones, bytes that are no text, too many. */
#include <string.h>

#include "http/net/params.h"
#include "tests/base/cases.h"

static struct chi_arena arena = {.budget = 1 << 20};

static int parse(struct params *params, const char *text)
{
	struct chi_fault fault = {{0}};
	*params = (struct params){.n = 0};
	int status = params_parse(params, text, strlen(text), &arena, &fault);
	assert_true(status == CHI_OK || fault.text[0] != '\0');
	return status;
}

CASE(test_decoding)
{
	struct params params;
	assert_int_equal(parse(&params, "fen=a+b%20c_d&&x&y=&x=%c3%a9&x=2"), CHI_OK);
	assert_string_equal(params_get(&params, "fen"), "a b c_d");
	assert_null(params_get(&params, "y"));
	assert_null(params_get(&params, "z"));
	assert_string_equal(params_get(&params, "x"), "2");
	assert_int_equal(params.n, 5);
	assert_string_equal(params.list[3].value, "\xc3\xa9");
}

CASE(test_what_is_refused)
{
	static const char *const texts[] = {"a=%",   "a=%4",  "a=%zz", "a=%00",
					    "a=%ff", "a=%01", "%c3=1", "a=\xc3"};
	struct params params;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(parse(&params, texts[i]), -CHI_ESYNTAX);
	}
}

CASE(test_bound)
{
	char text[2 * PARAMS_MAX + 3] = "";
	struct params params;
	for (int i = 0; i < PARAMS_MAX; i++) {
		strcat(text, "a&");
	}
	assert_int_equal(parse(&params, text), CHI_OK);
	strcat(text, "a");
	assert_int_equal(parse(&params, text), -CHI_ETOOBIG);
}

CASE(test_numbers_and_flags)
{
	struct params params;
	struct chi_fault fault;
	uint64_t n = 0;
	assert_int_equal(parse(&params, "n=7&t=true&o=ON&no=0"), CHI_OK);
	assert_int_equal(params_number(&params, "n", 1, 7, 3, &n, &fault), CHI_OK);
	assert_int_equal(n, 7);
	assert_int_equal(params_number(&params, "m", 1, 7, 3, &n, &fault), CHI_OK);
	assert_int_equal(n, 3);
	assert_int_equal(params_number(&params, "n", 1, 6, 3, &n, &fault), -CHI_EINVAL);
	assert_int_equal(params_number(&params, "n", 8, 9, 8, &n, &fault), -CHI_EINVAL);
	assert_int_equal(params_number(&params, "t", 0, 9, 8, &n, &fault), -CHI_EINVAL);
	assert_true(params_flag(&params, "t"));
	assert_true(params_flag(&params, "o"));
	assert_false(params_flag(&params, "no"));
	assert_false(params_flag(&params, "m"));
}

static int end(void **state)
{
	(void)state;
	chi_arena_deinit(&arena);
	return 0;
}

CASES_MAIN(NULL, end)
