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

static void check(struct chi_read *read, struct chi_twin_spec spec, const char *wanted)
{
	struct chi_twins *twins;
	char found[2048] = "";
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

CASE(test_groups, NULL, help_teardown)
{
	session_add("twins", games);
	struct chi_dir *store = help_open(help_path("twins"), CHI_STORE_READ);
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	check(read, (struct chi_twin_spec){.days = 3}, "1,2,3 7,8 9,10 ");
	check(read, (struct chi_twin_spec){.days = 3, .plies = 2}, "1,2,3 7,8 ");
	check(read, (struct chi_twin_spec){.days = 1}, "1,3 7,8 9,10 ");
	check(read, (struct chi_twin_spec){.days = 30}, "1,2,3 5,6 7,8 9,10 ");
	check(read, (struct chi_twin_spec){.days = 3, .filter = "player Polgar"}, "7,8 9,10 ");
	check(read, (struct chi_twin_spec){.filter = "player X"}, "");
	struct chi_twins *twins;
	struct chi_twin_spec spec = {.filter = "x"};
	assert_int_equal(chi_twins_open(read, &spec, &twins, &fault), -CHI_ESYNTAX);
	chi_read_end(read);
	chi_dir_close(store);
}

/* Comparing games costs steps, too: those who look between two calls whether they are to stop
 * cannot wait for some thousand games that have the same moves. */
CASE(test_steps, NULL, help_teardown)
{
	char text[60 * 160] = "";
	size_t len = 0;
	for (int year = 1900; year < 1960; year++) {
		int n = snprintf(text + len, sizeof(text) - len,
				 GAME("A", "B", "%d.01.01", "1. c4"), year);
		assert_in_range(n, 1, sizeof(text) - len - 1);
		len += (size_t)n;
	}
	session_add("steps", text);
	struct chi_dir *store = help_open(help_path("steps"), CHI_STORE_READ);
	struct chi_read *read;
	struct chi_twins *twins;
	const struct chi_twin_spec spec = {.days = 1};
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
	chi_dir_close(store);
}

/* Games that differ in their address alone are compared once for all of them. */
CASE(test_equal_games_take_no_comparisons, NULL, help_teardown)
{
	enum {
		MANY = 300
	};
	char text[MANY * 100] = "";
	struct chi_read *read;
	struct chi_twins *twins;
	const struct chi_twin_spec spec = {.days = 1};
	const uint32_t *numbers;
	size_t n = 0;
	for (int i = 0; i < MANY; i++) {
		size_t len = strlen(text);
		snprintf(text + len, sizeof(text) - len,
			 "[Link \"http://e.org/%d\"]\n[White \"A\"]\n[Black \"B\"]\n[Date "
			 "\"2000.01.01\"]\n"
			 "[Result \"1-0\"]\n\n1. c4 1-0\n\n",
			 i);
	}
	session_add("equal", text);
	struct chi_dir *store = help_open(help_path("equal"), CHI_STORE_READ);
	ok(chi_read_begin(store, &read));
	ok(chi_twins_open(read, &spec, &twins, &fault));
	size_t before = chi_twins_memory(twins);
	unsigned calls = 0;
	int rc;
	while ((rc = chi_twins_step(twins, 1)) == CHI_OK) {
		calls++;
	}
	assert_int_equal(rc, CHI_NONE);
	assert_in_range(calls, 1, 4 * MANY);
	assert_true(chi_twins_memory(twins) >= before + MANY * 32);
	ok(chi_twins_next(twins, &numbers, &n));
	assert_int_equal(n, MANY);
	assert_int_equal(numbers[0], 1);
	assert_int_equal(numbers[MANY - 1], MANY);
	assert_int_equal(chi_twins_next(twins, &numbers, &n), CHI_NONE);
	chi_twins_close(twins);
	chi_read_end(read);
	chi_dir_close(store);
}

/* ---- Each with each ------------------------------------------------------------------------ */

#define RANDOM_GAMES 120

/* Days since the first; -1: not known. */
struct date {
	const char *text;
	int first;
	int last;
};

static const struct date dates[] = {
	{"2000.12.31", 0, 0},	{"2001.01.01", 1, 1},	{"2001.01.02", 2, 2},
	{"2001.01.05", 5, 5},	{"2001.02.01", 32, 32}, {"2001.01.??", 1, 31},
	{"2001.??.??", 1, 365}, {"????.??.??", 0, 999},
};

struct random_game {
	const struct date *date;
	unsigned white;
	unsigned moves;
	unsigned group;
};

/* One that is known in part only is near to those that it may be. */
static bool may_be_near(const struct date *a, const struct date *b)
{
	bool known = a->first == a->last && b->first == b->last;
	int apart = a->first < b->first ? b->first - a->first : a->first - b->first;
	return known ? apart <= 3 : a->first <= b->last && b->first <= a->last;
}

static bool are_twins(const struct random_game *a, const struct random_game *b)
{
	return a->moves == b->moves && a->white == b->white && may_be_near(a->date, b->date);
}

static void make_random(struct random_game *made, char *text, size_t size)
{
	static const char *const names[] = {"Alekhine, A", "Botvinnik, M"};
	static const char *const moves[] = {"1. c4", "1. d4"};
	text[0] = '\0';
	for (unsigned i = 0; i < RANDOM_GAMES; i++) {
		struct random_game *game = &made[i];
		*game = (struct random_game){.date = &dates[help_below(CHI_COUNT(dates))],
					     .white = help_below(2),
					     .moves = help_below(2),
					     .group = i + 1};
		size_t len = strlen(text);
		snprintf(
			text + len, size - len,
			"[Link \"http://e.org/%u\"]\n[White \"%s\"]\n[Black \"B\"]\n[Date \"%s\"]\n"
			"[Result \"1-0\"]\n\n%s 1-0\n\n",
			i, names[game->white], game->date->text, moves[game->moves]);
		/* The first group in which all are its twins. */
		for (unsigned of = 1; of <= i && game->group > i; of++) {
			bool any = false;
			bool all = true;
			for (unsigned k = 0; k < i; k++) {
				any = any || made[k].group == of;
				all = all && (made[k].group != of || are_twins(&made[k], game));
			}
			game->group = any && all ? of : game->group;
		}
	}
}

CASE(test_random, NULL, help_teardown)
{
	struct random_game made[RANDOM_GAMES];
	char text[RANDOM_GAMES * 120];
	char wanted[RANDOM_GAMES * 8] = "";
	make_random(made, text, sizeof(text));
	for (unsigned of = 1; of <= RANDOM_GAMES; of++) {
		unsigned n = 0;
		for (unsigned i = 0; i < RANDOM_GAMES; i++) {
			size_t len = strlen(wanted);
			if (made[i].group == of) {
				snprintf(wanted + len, sizeof(wanted) - len, n++ ? ",%u" : "%u",
					 i + 1);
			}
		}
		/* A game alone is no group. */
		size_t len = strlen(wanted);
		while (n == 1 && len > 0 && wanted[len - 1] != ' ') {
			wanted[--len] = '\0';
		}
		strcat(wanted, n > 1 ? " " : "");
	}
	session_add("random", text);
	struct chi_dir *store = help_open(help_path("random"), CHI_STORE_READ);
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	check(read, (struct chi_twin_spec){.days = 3}, wanted);
	chi_read_end(read);
	chi_dir_close(store);
}
