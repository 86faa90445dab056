/* SPDX-License-Identifier: MIT */
/*
 * What the rows of a command have, told once: a table of columns is printed as rows of cells, with
 * commas or tabs between them, or as JSON.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "cli/cli.h"

enum value_kind {
	VALUE_UNKNOWN = 0, /* null in JSON, empty in CSV, else a dash */
	VALUE_TEXT,
	VALUE_NUMBER, /* digits, and hundredths perhaps */
	VALUE_REAL,
};

/* A cell. */
struct cli_value {
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

struct cli_column {
	const char *name;
	uint8_t show;
	uint8_t size; /* of the member */
	uint16_t at;  /* where it is in a row */
	void (*make)(const void *row, struct cli_value *out);
};

#define COLUMN(show, type, member, name)                                                           \
	{                                                                                          \
		name, show, sizeof(((type *)NULL)->member), offsetof(type, member), NULL           \
	}
#define COLUMN_MADE(name, make)                                                                    \
	{                                                                                          \
		name, SHOW_MADE, 0, 0, make                                                        \
	}

/* Columns of a row at most. */
#define COLUMNS_MAX 32

/* For `make`, whose `out` is not known at first. A text lives until the row is printed. */
void value_text(struct cli_value *out, const char *text, size_t len);
void value_name(struct cli_value *out, const char *text); /* NULL, "" and "?": not known */
void value_count(struct cli_value *out, uint64_t count);
void value_hundredths(struct cli_value *out, int32_t value);

enum columns_form {
	COLUMNS_ROWS, /* tabs; without what a terminal would obey */
	COLUMNS_TSV,  /* tabs; cells in quotation marks where they need it */
	COLUMNS_CSV,  /* the same with commas */
	COLUMNS_JSON,
};

/* The names, but in JSON, where each row has them. */
void columns_head(FILE *file, enum columns_form form, const struct cli_column *columns, size_t n);

/* A line. -CHI_ECORRUPT: a text for JSON is not UTF-8; then nothing is printed. */
CHI_MUSTUSE int columns_row(FILE *file, enum columns_form form, const struct cli_column *columns,
			    size_t n, const void *row);

/* The row as JSON, to which other members can be added; NULL without memory, or as above. */
json_t *columns_object(const struct cli_column *columns, size_t n, const void *row);

/* A list on standard output: the head in front of the first row. */
struct cli_rows {
	const struct cli *cli;
	const struct cli_column *columns;
	size_t n;
	bool has_head;
};

#define ROWS_OF(cli, columns)                                                                      \
	{                                                                                          \
		cli, columns, CHI_COUNT(columns), false                                            \
	}

/* What cannot be printed makes the output fail, and says so. */
void rows_print(struct cli_rows *rows, const void *row);

/* The head, if it is not there yet: of lists without a row. */
void rows_head(struct cli_rows *rows);
