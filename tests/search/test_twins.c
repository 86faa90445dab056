/* SPDX-License-Identifier: MIT */
/* Games that are likely one: told by moves, names and dates. */
#include "tests/store/help.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "search/twins.h"
#include "tests/import/session.h"

#define GAME(white, black, date, moves)                                                            \
	"[Event \"e\"]\n[White \"" white "\"]\n[Black \"" black "\"]\n[Date \"" date               \
	"\"]\n[Result \"1-0\"]\n\n" moves " 1-0\n\n"

static const char games[] =
	/* 1 to 4: three are one game */
	GAME("Carlsen, Magnus", "Anand, V", "2013.11.15", "1. e4 e5 2. Nf3 Nc6")
		GAME("Magnus Carlsen", "Anand, Viswanathan", "2013.11.17", "1. e4 e5 2. Nf3 Nc6")
			GAME("Carlsen", "Anand, V", "2013.??.??", "1. e4 e5 2. Nf3 Nc6") GAME(
				"Carlsen, Henrik", "Anand, V", "2013.11.15", "1. e4 e5 2. Nf3 Nc6")
	/* 5 and 6: other moves; too far apart */
	GAME("Carlsen, Magnus", "Anand, V", "2013.11.15", "1. e4 e5 2. Nf3 Nf6")
		GAME("Carlsen, Magnus", "Anand, V", "2013.12.15", "1. e4 e5 2. Nf3 Nf6")
	/* 7 and 8: the turn of a year */
	GAME("Polgar, J", "Anand, V", "2013.12.31", "1. d4 d5")
		GAME("Polgar, Judit", "Anand, V", "2014.01.01", "1. d4 d5")
	/* 9 and 10: too short, if that is asked */
	GAME("Polgar, Judit", "Anand, V", "2014.01.01", "1. c4")
		GAME("Polgar, Judit", "Anand, V", "????.??.??", "1. c4");

static void check(struct chi_read *read, struct chi_twins_spec spec, const char *wanted)
{
	struct chi_twins *twins;
	char found[256] = "";
	const uint32_t *numbers;
	size_t n;
	int rc = CHI_OK;
	ok(chi_twins_open(read, &spec, &twins, &fault));
	while (rc == CHI_OK) {
		rc = chi_twins_step(twins, help_below(3));
	}
	assert_int_equal(rc, CHI_NONE);
	while (chi_twins_next(twins, &numbers, &n) == CHI_OK) {
		for (size_t i = 0; i < n; i++) {
			char text[16];
			snprintf(text, sizeof(text), "%u%s", numbers[i], i + 1 < n ? "," : " ");
			strcat(found, text);
		}
	}
	assert_string_equal(found, wanted);
	chi_twins_close(twins);
}

static void test_groups(void **state)
{
	(void)state;
	session_add("twins", games);
	struct chi_store *store = help_open(help_path("twins"), CHI_STORE_READ);
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	check(read, (struct chi_twins_spec){.days = 3}, "1,2,3 7,8 9,10 ");
	check(read, (struct chi_twins_spec){.days = 3, .plies = 2}, "1,2,3 7,8 ");
	check(read, (struct chi_twins_spec){.days = 1}, "1,3 7,8 9,10 ");
	check(read, (struct chi_twins_spec){.days = 30}, "1,2,3 5,6 7,8 9,10 ");
	check(read, (struct chi_twins_spec){.days = 3, .filter = "player Polgar", .filter_len = 13},
	      "7,8 9,10 ");
	check(read, (struct chi_twins_spec){.filter = "player X", .filter_len = 8}, "");
	struct chi_twins *twins;
	struct chi_twins_spec spec = {.filter = "x", .filter_len = 1};
	assert_int_equal(chi_twins_open(read, &spec, &twins, &fault), -CHI_ESYNTAX);
	chi_read_end(read);
	chi_store_close(store);
}

/* Comparing games costs steps, too: those who look between two calls whether they are to stop
 * cannot wait for some thousand games that have the same moves. */
static void test_steps(void **state)
{
	(void)state;
	char text[60 * 160] = "";
	size_t len = 0;
	for (int year = 1900; year < 1960; year++) {
		int n = snprintf(text + len, sizeof(text) - len,
				 GAME("A", "B", "%d.01.01", "1. c4"), year);
		assert_in_range(n, 1, sizeof(text) - len - 1);
		len += (size_t)n;
	}
	session_add("steps", text);
	struct chi_store *store = help_open(help_path("steps"), CHI_STORE_READ);
	struct chi_read *read;
	struct chi_twins *twins;
	const struct chi_twins_spec spec = {.days = 1};
	int calls = 0;
	ok(chi_read_begin(store, &read));
	ok(chi_twins_open(read, &spec, &twins, &fault));
	while (chi_twins_step(twins, 60) == CHI_OK) {
		calls++;
	}
	/* Each with each: 1,770 times, of which one game's 59 are of one call. */
	assert_true(calls >= 1770 / (60 + 59));
	chi_twins_close(twins);
	chi_read_end(read);
	chi_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_groups, help_teardown),
		cmocka_unit_test_teardown(test_steps, help_teardown),
	};
	return cmocka_run_group_tests_name("search/twins", tests, NULL, NULL);
}
