/* SPDX-License-Identifier: MIT */
/* Games that are likely one: told by moves, names and dates. */
#include "tests/store/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/attr.h"
#include "chess/names/alike.h"
#include "chess/names/fits.h"
#include "search/twins.h"
#include "store/archive.h"
#include "store/games/archive.h"
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
	struct chi_twin_group group;
	int rc = CHI_OK;
	ok(chi_twins_open(read, &spec, &twins, &fault));
	while (rc == CHI_OK) {
		rc = chi_twins_step(twins, help_below(3));
	}
	assert_int_equal(rc, CHI_NONE);
	while (chi_twins_next(twins, &group) == CHI_OK) {
		for (size_t i = 0; i < group.n; i++) {
			char text[16];
			bool more = i + 1 < group.n;
			snprintf(text, sizeof(text), "%u%s", group.games[i], more ? "," : " ");
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

/* ---- Beginnings --------------------------------------------------------------------------- */

/* Ten and more plies that no book has another name for. */
#define TEN    "1. h4 h5 2. Nc3 Nc6 3. Nb1 Nb8 4. Nf3 Nf6 5. Ng1 Ng8"
#define TWELVE TEN " 6. Nc3 Nc6"
#define MORE   TWELVE " 7. Nb1 Nb8 8. Nf3"
#define OTHER  TEN " 6. Nf3 Nc6"

static const char beginnings[] =
	/* 1 to 3: each begins the next */
	GAME("Adams,Mi", "Short,N", "1995.03.05", TEN)
		GAME("Adams, Michael", "Short, Nigel", "1995.03.06", TWELVE)
			GAME("Adams,M", "Short,N", "1995.03.07", MORE)
	/* 4 to 6: another move; another player; as Black */
	GAME("Adams,Mi", "Short,N", "1995.03.05", OTHER)
		GAME("Adams,Mark", "Short,N", "1995.03.05", TWELVE)
			GAME("Short,N", "Adams,Mi", "1995.03.05", TWELVE)
	/* 7 and 8: dates that are not near, or not known */
	GAME("Adams,Mi", "Short,N", "1995.03.11", TWELVE)
		GAME("Adams,Mi", "Short,N", "1995.03.??", MORE)
	/* 9 and 10: a name that is not known */
	GAME("?", "Short,N", "1997.01.01", TEN) GAME("Adams,Mi", "Short,N", "1997.01.01", TWELVE)
	/* 11 to 13: with one of the same moves, in one group */
	GAME("Tal,M", "Geller,E", "1959.05.01", TEN)
		GAME("Tal, Mikhail", "Geller, Efim", "1959.05.01", MORE)
			GAME("Mikhail Tal", "Geller,E", "1959.05.01", TEN)
	/* 14 and 15: one ply */
	GAME("Euwe,M", "Loman,R", "1923.01.01", "1. h4")
		GAME("Euwe,M", "Loman,R", "1923.01.01", "1. h4 h5");

CASE(test_beginnings, NULL, help_teardown)
{
	session_add("beginnings", beginnings);
	struct chi_dir *store = help_open(help_path("beginnings"), CHI_STORE_READ);
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	/* 3 and 8 have the same moves; 8 has no day, and is what 3 is. */
	check(read, (struct chi_twin_spec){.days = 3}, "3,8 11,13 ");
	check(read, (struct chi_twin_spec){.days = 3, .beginning = 10}, "1,2,3,8 11,12,13 ");
	check(read, (struct chi_twin_spec){.days = 3, .beginning = 10, .filter = "number 7..8"},
	      "");
	check(read, (struct chi_twin_spec){.days = 3, .beginning = 11}, "2,3,8 11,13 ");
	check(read, (struct chi_twin_spec){.days = 3, .beginning = 12}, "2,3,8 11,13 ");
	check(read, (struct chi_twin_spec){.days = 3, .beginning = 13}, "3,8 11,13 ");
	check(read, (struct chi_twin_spec){.days = 3, .beginning = 1, .filter = "number 14..15"},
	      "14,15 ");
	check(read, (struct chi_twin_spec){.days = 0, .beginning = 10}, "1,4 3,8 11,12,13 ");
	check(read, (struct chi_twin_spec){.days = 6, .beginning = 10, .filter = "number 1..7"},
	      "1,2,3,7 ");
	check(read, (struct chi_twin_spec){.days = 3, .plies = 11, .beginning = 1}, "2,3,8 ");
	chi_read_end(read);
	chi_dir_close(store);
}

static uint32_t why_of_first(struct chi_read *read, struct chi_twin_spec spec)
{
	struct chi_twins *twins;
	struct chi_twin_group group = {.n = 0};
	ok(chi_twins_open(read, &spec, &twins, &fault));
	while (chi_twins_step(twins, 100) == CHI_OK) {
	}
	ok(chi_twins_next(twins, &group));
	chi_twins_close(twins);
	return group.why;
}

CASE(test_why, NULL, help_teardown)
{
	session_add("why", beginnings);
	struct chi_dir *store = help_open(help_path("why"), CHI_STORE_READ);
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	assert_int_equal(why_of_first(read, (struct chi_twin_spec){.days = 3, .beginning = 10}),
			 CHI_TWINS_BEGINNING | CHI_TWINS_NAMES | CHI_TWINS_DATES);
	assert_int_equal(why_of_first(read, (struct chi_twin_spec){.filter = "number 11..13"}),
			 CHI_TWINS_NAMES);
	assert_int_equal(why_of_first(read, (struct chi_twin_spec){.filter = "number 3..8"}),
			 CHI_TWINS_NAMES | CHI_TWINS_DATES);
	assert_int_equal(why_of_first(read, (struct chi_twin_spec){.filter = "number 14..15",
								   .beginning = 1}),
			 CHI_TWINS_BEGINNING);
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
	struct chi_twin_group group;
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
	ok(chi_twins_next(twins, &group));
	assert_int_equal(group.n, MANY);
	assert_int_equal(group.games[0], 1);
	assert_int_equal(group.games[MANY - 1], MANY);
	assert_int_equal(group.why, 0);
	assert_int_equal(chi_twins_next(twins, &group), CHI_NONE);
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

/* ---- Many games ---------------------------------------------------------------------------- */

#define MANY_GAMES 4600 /* so many that not all are unpacked */
#define MOST_PLIES 16

static const char *const players[] = {
	"Adams, Michael",     "Adams,Mi",   "Adams,M",		"Michael Adams",   "Adams, Mark",
	"Kortschnoj, Viktor", "Korchnoi,V", "Sultan Khan, Mir", "Mir Sultan Khan", "?",
	"Short, Nigel",	      "Short,N",    "Timman, Jan",	"Geller, Efim",	   "Tal",
};
#define PLAYERS CHI_COUNT(players)

struct line {
	const char *white;
	const char *black;
	struct chi_game_head head; /* as it is stored */
	unsigned year;
	unsigned month;
	unsigned day;
	size_t n;
	uint8_t plies[MOST_PLIES]; /* 0: a knight of the queen's side goes out or home, 1: the other
				    */
	size_t group;		   /* of those that were found; 0: none */
};

/* Two names that are not known are taken for alike in games of the same moves. */
static bool may_be_one(const char *a, const char *b)
{
	struct chi_name_words one;
	struct chi_name_words other;
	chi_name_split(a, strlen(a), &one);
	chi_name_split(b, strlen(b), &other);
	return one.n == 0 || other.n == 0 || strcmp(a, b) == 0 ||
	       chi_player_fits_words(&one, &other) || chi_player_fits_words(&other, &one) ||
	       chi_player_alike(&one, &other) != CHI_ALIKE_NOT;
}

/* Days since some day. */
static int day_number(const struct line *line)
{
	struct tm day = {.tm_year = (int)line->year - 1900,
			 .tm_mon = (int)line->month - 1,
			 .tm_mday = (int)line->day,
			 .tm_hour = 12};
	return (int)(timegm(&day) / 86400);
}

static bool near_dates(const struct line *a, const struct line *b, int days)
{
	bool year = a->year == b->year;
	bool month = year && a->month == b->month;
	bool whole = a->day != 0 && b->day != 0;
	int apart = whole ? day_number(a) - day_number(b) : 0;
	return a->year == 0 || b->year == 0	? true
	       : a->month == 0 || b->month == 0 ? year
	       : a->day == 0 || b->day == 0	? month
						: (apart < 0 ? -apart : apart) <= days;
}

/* Whether all may be the same game, and for those of other lengths: one is known to be. */
static bool may_be_same(const struct line *a, const struct line *b, int days)
{
	size_t n = a->n < b->n ? a->n : b->n;
	return memcmp(a->plies, b->plies, n) == 0 && near_dates(a, b, days) &&
	       may_be_one(a->white, b->white) && may_be_one(a->black, b->black);
}

static bool is_known(const struct line *line)
{
	return line->day != 0 && strcmp(line->white, "?") != 0 && strcmp(line->black, "?") != 0;
}

static bool is_one(const struct line *a, const struct line *b, int days, size_t beginning)
{
	bool begins = beginning > 0 && a->n >= beginning && b->n >= beginning && is_known(a) &&
		      is_known(b) && a->head.eco == b->head.eco;
	return (a->n == b->n || begins) && may_be_same(a, b, days);
}

/* New ones, or as an earlier one with other spellings, days and lengths. */
static void make_line(struct line *lines, size_t at)
{
	struct line *line = &lines[at];
	*line = (struct line){
		.white = players[help_below(PLAYERS)],
		.black = players[help_below(PLAYERS)],
		.year = 1950 + help_below(40),
		.month = 1 + help_below(12),
		.day = 1 + help_below(28),
		.n = 1 + help_below(MOST_PLIES),
	};
	for (size_t i = 0; i < MOST_PLIES; i++) {
		line->plies[i] = (uint8_t)help_below(2);
	}
	if (at > 0 && help_below(3) == 0) {
		const struct line *of = &lines[help_below((unsigned)at)];
		memcpy(line->plies, of->plies, sizeof(line->plies));
		line->n = help_below(2) == 0 ? of->n : line->n;
		line->year = of->year;
		line->month = of->month;
		line->day = of->day == 0 ? 0 : 1 + (of->day + help_below(4)) % 28;
		line->white = help_below(3) > 0 ? of->white : line->white;
		line->black = help_below(3) > 0 ? of->black : line->black;
	}
	if (help_below(20) == 0) {
		line->day = 0;
		line->month = help_below(2) == 0 ? 0 : line->month;
		line->year = line->month == 0 && help_below(4) == 0 ? 0 : line->year;
	}
}

static void write_line(const struct line *line, size_t number, FILE *to)
{
	static const char *const steps[2][2][2] = {{{"Nc3", "Nb1"}, {"Nf3", "Ng1"}},
						   {{"Nc6", "Nb8"}, {"Nf6", "Ng8"}}};
	bool out[2][2] = {{false, false}, {false, false}};
	fprintf(to, "[Link \"http://e.org/%zu\"]\n[White \"%s\"]\n[Black \"%s\"]\n", number,
		line->white, line->black);
	char date[32] = "????.??.??";
	if (line->year != 0) {
		snprintf(date, sizeof(date), "%04u.%02u.%02u", line->year, line->month, line->day);
		memcpy(date + 5, line->month == 0 ? "??" : date + 5, 2);
		memcpy(date + 8, line->day == 0 ? "??" : date + 8, 2);
	}
	fprintf(to, "[Date \"%s\"]\n[Result \"1-0\"]\n\n1. a3 a6 ", date);
	for (size_t i = 0; i < line->n; i++) {
		bool *is_out = &out[i % 2][line->plies[i]];
		fprintf(to, "%s ", steps[i % 2][line->plies[i]][*is_out]);
		*is_out = !*is_out;
	}
	fputs("1-0\n\n", to);
}

/* Each with each of a group may be one game, and of each two lengths one is known to begin another;
 * of two groups, or games without one, it is not so. */
static void check_lines(struct line *lines, struct chi_read *read, struct chi_twin_spec spec)
{
	struct chi_twins *twins;
	struct chi_twin_group group;
	uint32_t last = 0;
	size_t groups = 0;
	size_t beginning = spec.beginning > 0 ? spec.beginning - 2 : 0; /* 1. a3 a6 */
	for (size_t i = 0; i < MANY_GAMES; i++) {
		lines[i].group = 0;
	}
	ok(chi_twins_open(read, &spec, &twins, &fault));
	while (chi_twins_step(twins, 1 + help_below(1000)) == CHI_OK) {
	}
	while (chi_twins_next(twins, &group) == CHI_OK) {
		assert_true(group.n >= 2 && group.games[0] > last);
		last = group.games[0];
		groups++;
		for (size_t i = 0; i < group.n; i++) {
			struct line *line = &lines[group.games[i] - 1];
			assert_int_equal(line->group, 0);
			line->group = groups;
			assert_true(i == 0 || group.games[i] > group.games[i - 1]);
			for (size_t k = 0; k < i; k++) {
				assert_true(may_be_same(line, &lines[group.games[k] - 1],
							(int)spec.days));
			}
		}
	}
	chi_twins_close(twins);
	assert_true(groups > 20);
	/* Two that are one, and in different groups: then something in these is against it. */
	for (size_t i = 0; i < MANY_GAMES; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct line *a = &lines[i];
			const struct line *b = &lines[k];
			if (a->n != b->n && beginning == 0) {
				continue;
			}
			bool apart = a->group == 0 || a->group != b->group;
			if (!apart || !is_one(a, b, (int)spec.days, beginning)) {
				continue;
			}
			bool all = true;
			for (size_t x = 0; all && x < MANY_GAMES; x++) {
				bool of_a = x == i || (a->group != 0 && lines[x].group == a->group);
				for (size_t y = 0; of_a && all && y < MANY_GAMES; y++) {
					bool of_b = y == k ||
						    (b->group != 0 && lines[y].group == b->group);
					all = !of_b ||
					      may_be_same(&lines[x], &lines[y], (int)spec.days);
				}
			}
			assert_false(all);
		}
	}
}

CASE(test_many_games, NULL, help_teardown)
{
	struct line *lines = calloc(MANY_GAMES, sizeof(*lines));
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	assert_non_null(lines);
	assert_non_null(to);
	for (size_t i = 0; i < MANY_GAMES; i++) {
		make_line(lines, i);
		write_line(&lines[i], i, to);
	}
	assert_int_equal(fclose(to), 0);
	session_add("many", text);
	free(text);
	struct chi_dir *store = help_open(help_path("many"), CHI_STORE_READ);
	struct chi_read *read;
	struct chi_archive_view view;
	struct chi_archive_reader *reader;
	ok(chi_read_begin(store, &read));
	ok(chi_read_archive(read, &view));
	ok(chi_archive_reader_new(&reader));
	ok(chi_archive_reader_begin(reader, view.txn, &view.trees));
	for (size_t i = 0; i < MANY_GAMES; i++) {
		ok(chi_archive_head(reader, (uint32_t)i + 1, &lines[i].head));
		assert_int_equal(lines[i].head.plies, lines[i].n + 2);
	}
	chi_archive_reader_free(reader);
	check_lines(lines, read, (struct chi_twin_spec){.days = 3});
	check_lines(lines, read, (struct chi_twin_spec){.days = 3, .beginning = 8});
	check_lines(lines, read, (struct chi_twin_spec){.days = 0, .beginning = 3});
	/* All are unpacked. */
	check_lines(lines, read, (struct chi_twin_spec){.days = 40, .beginning = 8});
	chi_read_end(read);
	chi_dir_close(store);
	free(lines);
}

/* More games of an opening and a day than are compared with each other before they are unpacked: of
 * two players, without names, and without dates. */
CASE(test_crowds, NULL, help_teardown)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	assert_non_null(to);
	for (unsigned i = 0; i < 6000; i++) {
		unsigned kind = i % 3;
		fprintf(to, "[Link \"http://e.org/%u\"]\n[White \"%s\"]\n[Black \"%s\"]\n", i,
			kind == 1 ? "?" : "Tal,M", kind == 1 ? "?" : "Geller,E");
		fprintf(to, "[Date \"%s\"]\n[Result \"1-0\"]\n\n%s 1-0\n\n",
			kind == 2 ? "????.??.??" : "1959.05.01",
			kind == 0   ? TEN
			: kind == 1 ? TWELVE
				    : MORE);
	}
	assert_int_equal(fclose(to), 0);
	session_add("crowds", text);
	free(text);
	struct chi_dir *store = help_open(help_path("crowds"), CHI_STORE_READ);
	struct chi_read *read;
	struct chi_twins *twins;
	struct chi_twin_group group;
	const struct chi_twin_spec spec = {.days = 3, .beginning = 4};
	ok(chi_read_begin(store, &read));
	ok(chi_twins_open(read, &spec, &twins, &fault));
	unsigned calls = 0;
	while (chi_twins_step(twins, 10) == CHI_OK) {
		calls++;
	}
	assert_in_range(calls, 600, 6000);
	for (unsigned i = 0; i < 3; i++) {
		ok(chi_twins_next(twins, &group));
		assert_int_equal(group.n, 2000);
		assert_int_equal(group.games[0], i + 1);
	}
	assert_int_equal(chi_twins_next(twins, &group), CHI_NONE);
	chi_twins_close(twins);
	chi_read_end(read);
	chi_dir_close(store);
}
