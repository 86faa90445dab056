/* SPDX-License-Identifier: MIT */
/* Cells of rows: what each kind of column makes of a member, and the columns of statistics. */
#include <string.h>

#include "base/attr.h"
#include "cli/out/columns.h"
#include "formats/rows/rows.h"
#include "tests/base/cases.h"

struct sample {
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	const char *text;
};

static void is_cell(const struct chi_row_column *column, const void *row, enum value_kind kind,
		    const char *text)
{
	struct chi_cell cell;
	chi_cell_fill(column, row, &cell);
	assert_int_equal(cell.kind, kind);
	if (kind == VALUE_TEXT || kind == VALUE_NUMBER) {
		assert_int_equal(cell.len, strlen(text));
		assert_memory_equal(cell.text, text, cell.len);
	}
}

CASE(numbers_of_every_size)
{
	static const struct chi_row_column counts[] = {
		COLUMN(SHOW_COUNT, struct sample, u8, "a"),
		COLUMN(SHOW_COUNT, struct sample, u16, "b"),
		COLUMN(SHOW_COUNT, struct sample, u32, "c"),
		COLUMN(SHOW_COUNT, struct sample, u64, "d"),
	};
	static const char *const most[] = {"255", "65535", "4294967295", "18446744073709551615"};
	const struct sample none = {0};
	struct sample all;
	memset(&all, 0xff, sizeof(all));
	for (size_t i = 0; i < CHI_COUNT(counts); i++) {
		struct chi_row_column known = counts[i];
		known.show = SHOW_NUMBER;
		is_cell(&counts[i], &all, VALUE_NUMBER, most[i]);
		is_cell(&counts[i], &none, VALUE_NUMBER, "0");
		is_cell(&known, &all, VALUE_NUMBER, most[i]);
		is_cell(&known, &none, VALUE_UNKNOWN, NULL);
	}
}

CASE(hundredths_have_two_digits)
{
	static const struct {
		int32_t value;
		const char *text;
	} known[] = {{0, "0.00"},
		     {5, "0.05"},
		     {-5, "-0.05"},
		     {1234, "12.34"},
		     {-100, "-1.00"},
		     {INT32_MAX, "21474836.47"},
		     {INT32_MIN, "-21474836.48"}};
	for (size_t i = 0; i < CHI_COUNT(known); i++) {
		struct chi_cell cell;
		chi_cell_hundredths(&cell, known[i].value);
		assert_int_equal(cell.kind, VALUE_NUMBER);
		assert_int_equal(cell.len, strlen(known[i].text));
		assert_memory_equal(cell.text, known[i].text, cell.len);
	}
}

CASE(texts_times_and_names)
{
	static const struct chi_row_column text = COLUMN(SHOW_TEXT, struct sample, text, "a");
	static const struct chi_row_column name = COLUMN(SHOW_NAME, struct sample, text, "b");
	static const struct chi_row_column time = COLUMN(SHOW_MS, struct sample, u64, "c");
	struct sample row = {.text = "Adolf"};
	is_cell(&text, &row, VALUE_TEXT, "Adolf");
	is_cell(&name, &row, VALUE_TEXT, "Adolf");
	row.text = "?";
	is_cell(&text, &row, VALUE_TEXT, "?");
	is_cell(&name, &row, VALUE_UNKNOWN, NULL);
	row.text = "";
	is_cell(&text, &row, VALUE_TEXT, "");
	is_cell(&name, &row, VALUE_UNKNOWN, NULL);
	is_cell(&time, &row, VALUE_UNKNOWN, NULL);
	row.u64 = UINT64_C(951782400999);
	is_cell(&time, &row, VALUE_TEXT, "2000-02-29T00:00:00Z");
}

CASE(games_by_what_is_known)
{
	const struct chi_game_row bare = {.head = {.number = 7, .result = CHI_RESULT_OTHER},
					  .ply = -1,
					  .white = "?",
					  .black = "",
					  .event = "",
					  .site = "",
					  .round = "",
					  .source = ""};
	struct chi_game_row full = bare;
	static const char *const cells[] = {"7",    "A",  "B",	 "1/2-1/2", "1999.12.??",
					    "E",    "S",  "3.1", "C42",	    "2700",
					    "2650", "80", "0",	 "x.pgn"};
	full.white = "A";
	full.black = "B";
	full.event = "E";
	full.site = "S";
	full.round = "3.1";
	full.source = "x.pgn";
	full.ply = 0;
	full.head = (struct chi_game_head){.number = 7,
					   .result = CHI_RESULT_DRAW,
					   .year = 1999,
					   .month = 12,
					   .eco = 243,
					   .white_elo = 2700,
					   .black_elo = 2650,
					   .plies = 80};
	for (size_t i = 0; i < CHI_GAME_COLUMNS; i++) {
		const struct chi_row_column *column = &chi_game_columns[i];
		bool is_number = i == 0 || (i >= 9 && i <= 12);
		is_cell(column, &full, is_number ? VALUE_NUMBER : VALUE_TEXT, cells[i]);
		if (i == 0 || i == 11) {
			is_cell(column, &bare, VALUE_NUMBER, i == 0 ? "7" : "0");
		} else if (i == 3) {
			is_cell(column, &bare, VALUE_TEXT, "*");
		} else {
			is_cell(column, &bare, VALUE_UNKNOWN, NULL);
		}
	}
}

/* Those of positions have one more; the first is a number or a text. */
CASE(columns_of_statistics)
{
	const struct chi_stats_group group = {.value = 1990,
					      .text = "a text",
					      .positions = 9,
					      .counts = {.white = 2, .draws = 1, .black = 1},
					      .rated = 3,
					      .expected = 5050,
					      .beyond = -125};
	const struct chi_stats_group empty = {.text = "", .counts = {.other = 3}};
	for (unsigned by = CHI_STATS_YEAR; by < CHI_STATS_KINDS; by++) {
		struct chi_row_column columns[CHI_STATS_COLUMNS];
		struct chi_cell score;
		size_t n = chi_stats_columns((uint8_t)by, columns);
		bool has_positions = chi_stats_of_positions((uint8_t)by);
		assert_int_equal(n, has_positions ? 8 : 10);
		assert_string_equal(columns[0].name, chi_stats_word((uint8_t)by));
		bool is_text = columns[0].make != NULL;
		is_cell(&columns[0], &group, is_text ? VALUE_TEXT : VALUE_NUMBER,
			is_text ? "a text" : "1990");
		is_cell(&columns[0], &empty, VALUE_UNKNOWN, NULL);
		const struct chi_row_column *games = &columns[has_positions ? 2 : 1];
		is_cell(games, &group, VALUE_NUMBER, "4");
		is_cell(games, &empty, VALUE_NUMBER, "3");
		chi_cell_fill(games + 5, &group, &score);
		assert_true(score.kind == VALUE_REAL && score.real > 62.4 && score.real < 62.6);
		is_cell(games + 5, &empty, VALUE_UNKNOWN, NULL);
		if (!has_positions) {
			is_cell(&columns[7], &group, VALUE_NUMBER, "3");
			is_cell(&columns[8], &group, VALUE_NUMBER, "50.50");
			is_cell(&columns[9], &group, VALUE_NUMBER, "-1.25");
			is_cell(&columns[8], &empty, VALUE_UNKNOWN, NULL);
			is_cell(&columns[9], &empty, VALUE_UNKNOWN, NULL);
		}
	}
}

/* A line was printed, and the object that has other members beside was refused. */
CASE(counts_over_int64_were_no_object)
{
	static const struct chi_row_column columns[] = {
		COLUMN(SHOW_COUNT, struct sample, u64, "count"),
		COLUMN(SHOW_TEXT, struct sample, text, "text")};
	static const uint64_t counts[] = {0, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
	for (size_t i = 0; i < CHI_COUNT(counts); i++) {
		const struct sample row = {.u64 = counts[i], .text = "18446744073709551615"};
		json_t *object = columns_object(columns, CHI_COUNT(columns), &row);
		assert_non_null(object);
		assert_int_equal(json_integer_value(json_object_get(object, "count")),
				 counts[i] < INT64_MAX ? counts[i] : INT64_MAX);
		assert_string_equal(json_string_value(json_object_get(object, "text")), row.text);
		json_decref(object);
	}
}
