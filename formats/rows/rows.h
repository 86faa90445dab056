/* SPDX-License-Identifier: MIT */
/*
 * What rows have, told once for the command line and HTTP: a table of columns, each with its name
 * and where its cell is in a row. How a cell is written is for who writes it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chistore/search.h"

enum value_kind {
	VALUE_UNKNOWN = 0, /* null in JSON, empty in CSV, else a dash */
	VALUE_TEXT,
	VALUE_NUMBER, /* digits, and hundredths perhaps */
	VALUE_REAL,
};

/* A cell. */
struct chi_cell {
	uint8_t kind;
	const char *text; /* of texts and numbers; may be `own` */
	size_t len;
	double real;
	char own[CHI_FEN_SIZE];
};

enum cli_show {
	SHOW_COUNT,  /* a number without a sign */
	SHOW_NUMBER, /* the same; 0 is not known */
	SHOW_TEXT,   /* a const char * */
	SHOW_NAME,   /* the same; "" and "?" are not known */
	SHOW_MS,     /* a uint64_t, milliseconds since 1970; 0 is not known */
	SHOW_MADE,   /* by `make` */
};

struct chi_row_column {
	const char *name;
	uint8_t show;
	uint8_t size; /* of the member */
	uint16_t at;  /* where it is in a row */
	void (*make)(const void *row, struct chi_cell *out);
};

#define COLUMN(show, type, member, name)                                                           \
	{                                                                                          \
		name, show, sizeof(((type *)NULL)->member), offsetof(type, member), NULL           \
	}
#define COLUMN_MADE(name, make)                                                                    \
	{                                                                                          \
		name, SHOW_MADE, 0, 0, make                                                        \
	}

/* For `make`, whose `out` is not known at first. A text lives until the row is printed. */
void chi_cell_text(struct chi_cell *out, const char *text, size_t len);
void chi_cell_name(struct chi_cell *out, const char *text); /* NULL, "" and "?": not known */
void chi_cell_count(struct chi_cell *out, uint64_t count);
void chi_cell_hundredths(struct chi_cell *out, int32_t value);

/* The cell of a column in a row. */
void chi_cell_fill(const struct chi_row_column *column, const void *row, struct chi_cell *out);

/* ---- Games: rows are struct chi_game_row ------------------------------------------------- */

#define CHI_GAME_COLUMNS 14
extern const struct chi_row_column chi_game_columns[CHI_GAME_COLUMNS];

/* "1-0", ... */
const char *chi_result_word(uint8_t result);

/* ---- Statistics: rows are struct chi_stats_group ----------------------------------------- */

/* Names by enum chi_stats_by, NULL between them; of players that of both colours alone, and after
 * it come those of `sides`. */
extern const char *const chi_stats_words[CHI_STATS_KINDS];
extern const char *const chi_stats_sides[3];

bool chi_stats_of_positions(uint8_t by);
const char *chi_stats_word(uint8_t by);

/* The columns of groups by that, which begin with its name. Returns how many. */
#define CHI_STATS_COLUMNS 10
size_t chi_stats_columns(uint8_t by, struct chi_row_column out[CHI_STATS_COLUMNS]);
