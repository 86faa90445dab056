/* SPDX-License-Identifier: MIT */
/* Numbers from text: what is accepted, what is refused, and that a refusal leaves *out alone. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "tests/base/cases.h"

CASE(u64_accepts)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{"0", 0},
		{"7", 7},
		{"007", 7},
		{"18446744073709551615", UINT64_MAX},
		{"000000000000000000000000000042", 42},
	};
	for (size_t i = 0; i < CHI_COUNT(good); i++) {
		uint64_t value = 99;
		assert_int_equal(
			chi_num_u64(good[i].text, strlen(good[i].text), UINT64_MAX, &value),
			CHI_OK);
		assert_true(value == good[i].value);
	}
}

CASE(u64_refuses)
{
	static const char *const bad[] = {
		"",
		"+1",
		"-1",
		" 1",
		"1 ",
		"0x10",
		"1e3",
		"1.0",
		"1,0",
		"\xc2\xb2",
		"/",
		":",
		"18446744073709551616",
		"18446744073709551625",
		"99999999999999999999999",
	};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		uint64_t value = 99;
		assert_int_equal(chi_num_u64(bad[i], strlen(bad[i]), UINT64_MAX, &value),
				 -CHI_ESYNTAX);
		assert_true(value == 99);
	}
}

CASE(u64_keeps_to_the_maximum_and_the_length)
{
	uint64_t value = 5;
	assert_int_equal(chi_num_u64("254", 3, 255, &value), CHI_OK);
	assert_int_equal(chi_num_u64("255", 3, 255, &value), CHI_OK);
	assert_int_equal(chi_num_u64("256", 3, 255, &value), -CHI_ESYNTAX);
	assert_true(value == 255);
	assert_int_equal(chi_num_u64("12345", 2, 255, &value), CHI_OK);
	assert_true(value == 12);
	assert_int_equal(chi_num_u64("1\0"
				     "2",
				     3, 255, &value),
			 -CHI_ESYNTAX);
}

CASE(i64_signs_and_bounds)
{
	static const struct {
		const char *text;
		int64_t max;
		int status;
		int64_t value;
	} cases[] = {
		{"0", 10, CHI_OK, 0},
		{"-0", 10, CHI_OK, 0},
		{"+10", 10, CHI_OK, 10},
		{"-10", 10, CHI_OK, -10},
		{"11", 10, -CHI_ESYNTAX, 0},
		{"-11", 10, -CHI_ESYNTAX, 0},
		{"9223372036854775807", INT64_MAX, CHI_OK, INT64_MAX},
		{"-9223372036854775807", INT64_MAX, CHI_OK, -INT64_MAX},
		{"-9223372036854775808", INT64_MAX, -CHI_ESYNTAX, 0},
		{"", 10, -CHI_ESYNTAX, 0},
		{"-", 10, -CHI_ESYNTAX, 0},
		{"+", 10, -CHI_ESYNTAX, 0},
		{"--1", 10, -CHI_ESYNTAX, 0},
		{"- 1", 10, -CHI_ESYNTAX, 0},
		{"1", -1, -CHI_ESYNTAX, 0},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		int64_t value = 99;
		assert_int_equal(
			chi_num_i64(cases[i].text, strlen(cases[i].text), cases[i].max, &value),
			cases[i].status);
		assert_true(value == (cases[i].status == CHI_OK ? cases[i].value : 99));
	}
}

CASE(sizes)
{
	static const struct {
		const char *text;
		int status;
		uint64_t value;
	} cases[] = {
		{"0", CHI_OK, 0},
		{"1023", CHI_OK, 1023},
		{"1K", CHI_OK, 1024},
		{"64M", CHI_OK, (uint64_t)64 << 20},
		{"3G", CHI_OK, (uint64_t)3 << 30},
		{"1T", CHI_OK, (uint64_t)1 << 40},
		{"16777215T", CHI_OK, (uint64_t)16777215 << 40},
		{"16777216T", -CHI_ESYNTAX, 0},
		{"18446744073709551615", CHI_OK, UINT64_MAX},
		{"18446744073709551615K", -CHI_ESYNTAX, 0},
		{"K", -CHI_ESYNTAX, 0},
		{"", -CHI_ESYNTAX, 0},
		{"1k", -CHI_ESYNTAX, 0},
		{"1KB", -CHI_ESYNTAX, 0},
		{"1 K", -CHI_ESYNTAX, 0},
		{"-1K", -CHI_ESYNTAX, 0},
		{"1.5K", -CHI_ESYNTAX, 0},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		uint64_t value = 99;
		assert_int_equal(chi_num_size(cases[i].text, strlen(cases[i].text), &value),
				 cases[i].status);
		assert_true(value == (cases[i].status == CHI_OK ? cases[i].value : 99));
	}
}

CASE(chi2_rounds_half_up_with_carry)
{
	static const struct {
		const char *text;
		uint16_t value;
	} good[] = {
		{"76", 7600},	    {"76.0", 7600},	{"76.00", 7600},
		{"57.995", 5800},   {"57.994", 5799},	{"57.9949999", 5799},
		{"57.99500", 5800}, {"99.999", 10000},	{"0.01", 1},
		{"0.5", 50},	    {"0.05", 5},	{"255.99", 25599},
		{"255.994", 25599}, {"-", 0},		{"0", 0},
		{"0.00", 0},	    {"0.000", 0},	{"0.001", 1},
		{"0.005", 1},	    {"0.015", 2},	{"007.5", 750},
		{"1.005", 101},	    {"255.995", 25599}, {"256", 25599},
		{"25600", 25599},   {"300.5", 25599},	{"99999999999999999999", 25599},
	};
	for (size_t i = 0; i < CHI_COUNT(good); i++) {
		uint16_t value = 999;
		assert_int_equal(chi_chi2_parse(good[i].text, strlen(good[i].text), &value),
				 CHI_OK);
		assert_int_equal(value, good[i].value);
	}
}

CASE(chi2_says_what_it_takes_to_an_end)
{
	static const char *const clamped[] = {"255.995",	"256",	  "300",
					      "99999999999999", "0.0049", "0.000000001"};
	static const char *const kept[] = {"255.99", "255.994999", "0.005", "0.01", "0",  "0.000",
					   "-",	     "76",	   "x",	    "",	    "1e9"};
	for (size_t i = 0; i < CHI_COUNT(clamped); i++) {
		assert_true(chi_num_chi2_clamped(clamped[i], strlen(clamped[i])));
	}
	for (size_t i = 0; i < CHI_COUNT(kept); i++) {
		assert_false(chi_num_chi2_clamped(kept[i], strlen(kept[i])));
	}
}

CASE(chi2_refuses)
{
	static const char *const bad[] = {
		"",    ".",	"1.",	".5",	  "-1",	  "+1",	  "--",
		"- ",  " 1",	"1 ",	"1,5",	  "1e2",  "0x1",  "nan",
		"inf", "1.2.3", "1.2x", "1.234x", "1..2", "300x", "99999999999999999999x",
	};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		uint16_t value = 999;
		assert_int_equal(chi_chi2_parse(bad[i], strlen(bad[i]), &value), -CHI_ESYNTAX);
		assert_int_equal(value, 999);
	}
}

/* Each value there is, and each with a third decimal that rounds it down and up. */
CASE(chi2_prints_and_reads_every_value)
{
	for (unsigned v = 0; v <= CHI_CHI2_MAX; v++) {
		char text[CHI_CHI2_TEXT_SIZE];
		char longer[CHI_CHI2_TEXT_SIZE + 2];
		uint16_t value = 999;
		size_t len = chi_chi2_print((uint16_t)v, text);
		assert_int_equal(strlen(text), len);
		assert_int_equal(chi_chi2_parse(text, len, &value), CHI_OK);
		assert_int_equal(value, v);
		if (v == 0 || v == CHI_CHI2_MAX) {
			continue;
		}
		snprintf(longer, sizeof(longer), "%s4", text);
		assert_int_equal(chi_chi2_parse(longer, len + 1, &value), CHI_OK);
		assert_int_equal(value, v);
		snprintf(longer, sizeof(longer), "%s5", text);
		assert_int_equal(chi_chi2_parse(longer, len + 1, &value), CHI_OK);
		assert_int_equal(value, v + 1);
	}
}

CASE(chi2_prints)
{
	char text[CHI_CHI2_TEXT_SIZE];
	assert_int_equal(chi_chi2_print(7600, text), 5);
	assert_string_equal(text, "76.00");
	assert_int_equal(chi_chi2_print(1, text), 4);
	assert_string_equal(text, "0.01");
	assert_int_equal(chi_chi2_print(CHI_CHI2_UNKNOWN, text), 1);
	assert_string_equal(text, "-");
	assert_int_equal(chi_chi2_print(UINT16_MAX, text), 6);
	assert_string_equal(text, "655.35");
}
