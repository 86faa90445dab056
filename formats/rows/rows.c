/* SPDX-License-Identifier: MIT */
/* Cells of numbers are written by hand, as a scan prints millions of them. */
#include "formats/rows/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"

/* ---- Values ------------------------------------------------------------------------------ */

void chi_cell_text(struct chi_cell *out, const char *text, size_t len)
{
	out->kind = VALUE_TEXT;
	out->text = text;
	out->len = len;
}

void chi_cell_name(struct chi_cell *out, const char *text)
{
	if (text != NULL && text[0] != '\0' && strcmp(text, "?") != 0) {
		chi_cell_text(out, text, strlen(text));
	}
}

/* The digits of a number, with a point in front of the last `behind` of them; at the end of `own`.
 */
static void set_digits(struct chi_cell *out, uint64_t number, unsigned behind, bool minus)
{
	char *end = out->own + sizeof(out->own);
	char *at = end;
	for (unsigned n = 0; number != 0 || n <= behind; n++) {
		if (n == behind && n > 0) {
			*--at = '.';
		}
		*--at = (char)('0' + number % 10);
		number /= 10;
	}
	if (minus) {
		*--at = '-';
	}
	chi_cell_text(out, at, (size_t)(end - at));
	out->kind = VALUE_NUMBER;
}

void chi_cell_count(struct chi_cell *out, uint64_t count)
{
	set_digits(out, count, 0, false);
}

void chi_cell_hundredths(struct chi_cell *out, int32_t value)
{
	set_digits(out, (uint64_t)llabs(value), 2, value < 0);
}

static uint64_t number_at(const void *at, size_t size)
{
	uint8_t u8 = 0;
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	uint64_t u64 = 0;
	void *const to[] = {[1] = &u8, [2] = &u16, [4] = &u32, [8] = &u64};
	memcpy(to[size], at, size);
	return u8 + u16 + u32 + u64;
}

void chi_cell_fill(const struct chi_row_column *column, const void *row, struct chi_cell *out)
{
	const char *at = (const char *)row + column->at;
	const char *text = NULL;
	uint64_t number = 0;
	out->kind = VALUE_UNKNOWN;
	if (column->show == SHOW_MADE) {
		column->make(row, out);
	} else if (column->show == SHOW_TEXT || column->show == SHOW_NAME) {
		memcpy(&text, at, sizeof(text));
		if (column->show == SHOW_TEXT) {
			chi_cell_text(out, text, strlen(text));
		}
		chi_cell_name(out, text);
	} else {
		number = number_at(at, column->size);
		if (column->show == SHOW_MS) {
			chi_cell_text(out, out->own, chi_num_time_print(number / 1000, out->own));
			out->kind = out->len > 0 ? VALUE_TEXT : VALUE_UNKNOWN;
		} else if (column->show == SHOW_COUNT || number != 0) {
			chi_cell_count(out, number);
		}
	}
}

/* ---- Games ------------------------------------------------------------------------------- */

/* So many digits, or as many question marks for 0; where they end. */
static char *put_part(char *to, unsigned number, size_t digits)
{
	bool known = number > 0;
	for (size_t i = digits; i-- > 0; number /= 10) {
		to[i] = known ? (char)('0' + number % 10) : '?';
	}
	return to + digits;
}

static void date_cell(const void *at, struct chi_cell *out)
{
	const struct chi_game_head *head = &((const struct chi_game_row *)at)->head;
	if (head->year > 0) {
		char *to = put_part(out->own, head->year, 4);
		*to++ = '.';
		to = put_part(to, head->month, 2);
		*to++ = '.';
		to = put_part(to, head->day, 2);
		chi_cell_text(out, out->own, (size_t)(to - out->own));
	}
}

static void eco_cell(const void *at, struct chi_cell *out)
{
	unsigned eco = ((const struct chi_game_row *)at)->head.eco;
	if (eco >= 1 && eco <= CHI_ECO_CODES) {
		out->own[0] = "ABCDE"[(eco - 1) / 100];
		out->own[1] = (char)('0' + (eco - 1) / 10 % 10);
		out->own[2] = (char)('0' + (eco - 1) % 10);
		chi_cell_text(out, out->own, 3);
	}
}

const char *chi_result_word(uint8_t result)
{
	return result == CHI_RESULT_WHITE   ? "1-0"
	       : result == CHI_RESULT_BLACK ? "0-1"
	       : result == CHI_RESULT_DRAW  ? "1/2-1/2"
					    : "*";
}

static void result_cell(const void *at, struct chi_cell *out)
{
	chi_cell_name(out, chi_result_word(((const struct chi_game_row *)at)->head.result));
}

static void ply_cell(const void *at, struct chi_cell *out)
{
	int32_t ply = ((const struct chi_game_row *)at)->ply;
	if (ply >= 0) {
		chi_cell_count(out, (uint64_t)ply);
	}
}

const struct chi_row_column chi_game_columns[CHI_GAME_COLUMNS] = {
	COLUMN(SHOW_COUNT, struct chi_game_row, head.number, "game"),
	COLUMN(SHOW_NAME, struct chi_game_row, white, "white"),
	COLUMN(SHOW_NAME, struct chi_game_row, black, "black"),
	COLUMN_MADE("result", result_cell),
	COLUMN_MADE("date", date_cell),
	COLUMN(SHOW_NAME, struct chi_game_row, event, "event"),
	COLUMN(SHOW_NAME, struct chi_game_row, site, "site"),
	COLUMN(SHOW_NAME, struct chi_game_row, round, "round"),
	COLUMN_MADE("eco", eco_cell),
	COLUMN(SHOW_NUMBER, struct chi_game_row, head.white_elo, "white_elo"),
	COLUMN(SHOW_NUMBER, struct chi_game_row, head.black_elo, "black_elo"),
	COLUMN(SHOW_COUNT, struct chi_game_row, head.plies, "plies"),
	COLUMN_MADE("ply", ply_cell),
	COLUMN(SHOW_NAME, struct chi_game_row, source, "source"),
};

/* ---- Statistics -------------------------------------------------------------------------- */

const char *const chi_stats_words[CHI_STATS_KINDS] = {
	[CHI_STATS_YEAR] = "year",	 [CHI_STATS_RATING] = "rating",
	[CHI_STATS_ECO] = "eco",	 [CHI_STATS_OPENING] = "opening",
	[CHI_STATS_LENGTH] = "length",	 [CHI_STATS_SPEED] = "speed",
	[CHI_STATS_EVENT] = "event",	 [CHI_STATS_SITE] = "site",
	[CHI_STATS_SOURCE] = "source",	 [CHI_STATS_PLAYER] = "player",
	[CHI_STATS_PIECES] = "pieces",	 [CHI_STATS_MATERIAL] = "material",
	[CHI_STATS_ENDGAME] = "endgame",
};

/* In the order of CHI_STATS_PLAYER, CHI_STATS_WHITE and CHI_STATS_BLACK. */
const char *const chi_stats_sides[3] = {"both", "white", "black"};

static bool of_players(uint8_t by)
{
	return by >= CHI_STATS_PLAYER && by <= CHI_STATS_BLACK;
}

const char *chi_stats_word(uint8_t by)
{
	return chi_stats_words[of_players(by) ? CHI_STATS_PLAYER : by];
}

bool chi_stats_of_positions(uint8_t by)
{
	return by >= CHI_STATS_PIECES;
}

/* Numbers of names are the store's, and say nothing to a reader. */
static bool is_number(uint8_t by)
{
	return by == CHI_STATS_YEAR || by == CHI_STATS_RATING || by == CHI_STATS_LENGTH ||
	       by == CHI_STATS_PIECES;
}

/* Games that ended. */
static uint64_t ended(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black;
}

/* Not known without a game that ended. */
static void score_cell(const void *at, struct chi_cell *out)
{
	const struct chi_counts *counts = &((const struct chi_stats_group *)at)->counts;
	double games = (double)ended(counts);
	double points = (double)counts->white + (double)counts->draws / 2;
	out->real = games > 0 ? 100 * points / games : 0;
	out->kind = games > 0 ? VALUE_REAL : VALUE_UNKNOWN;
}

static void games_cell(const void *at, struct chi_cell *out)
{
	const struct chi_counts *counts = &((const struct chi_stats_group *)at)->counts;
	chi_cell_count(out, ended(counts) + counts->other);
}

/* Not known without rated games. */
static void expected_cell(const void *at, struct chi_cell *out)
{
	const struct chi_stats_group *group = at;
	if (group->rated > 0) {
		chi_cell_hundredths(out, (int32_t)group->expected);
	}
}

static void beyond_cell(const void *at, struct chi_cell *out)
{
	const struct chi_stats_group *group = at;
	if (group->rated > 0) {
		chi_cell_hundredths(out, group->beyond);
	}
}

static void text_cell(const void *at, struct chi_cell *out)
{
	const char *text = ((const struct chi_stats_group *)at)->text;
	if (text[0] != '\0') {
		chi_cell_text(out, text, strlen(text));
	}
}

/* What ratings say is known of games alone. */
size_t chi_stats_columns(uint8_t by, struct chi_row_column columns[CHI_STATS_COLUMNS])
{
	const struct chi_row_column all[] = {
		COLUMN_MADE(NULL, text_cell),
		COLUMN(SHOW_COUNT, struct chi_stats_group, positions, "positions"),
		COLUMN_MADE("games", games_cell),
		COLUMN(SHOW_COUNT, struct chi_stats_group, counts.white,
		       of_players(by) ? "won" : "white"),
		COLUMN(SHOW_COUNT, struct chi_stats_group, counts.draws,
		       of_players(by) ? "drawn" : "draws"),
		COLUMN(SHOW_COUNT, struct chi_stats_group, counts.black,
		       of_players(by) ? "lost" : "black"),
		COLUMN(SHOW_COUNT, struct chi_stats_group, counts.other, "other"),
		COLUMN_MADE("score", score_cell),
		COLUMN(SHOW_COUNT, struct chi_stats_group, rated, "rated"),
		COLUMN_MADE("expected", expected_cell),
		COLUMN_MADE("performance", beyond_cell),
	};
	bool has_positions = chi_stats_of_positions(by);
	size_t last = CHI_COUNT(all) - (has_positions ? 3 : 0);
	size_t n = 0;
	for (size_t i = 0; i < last; i++) {
		if (i != 1 || has_positions) {
			columns[n++] = all[i];
		}
	}
	if (is_number(by)) {
		columns[0] = (struct chi_row_column)COLUMN(SHOW_NUMBER, struct chi_stats_group,
							   value, NULL);
	}
	columns[0].name = chi_stats_word(by);
	return n;
}
