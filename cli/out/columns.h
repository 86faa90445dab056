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
#include "formats/rows/rows.h"

/* Columns of a row at most. */
#define COLUMNS_MAX 32

enum columns_form {
	COLUMNS_ROWS, /* tabs; without what a terminal would obey */
	COLUMNS_TSV,  /* tabs; cells in quotation marks where they need it */
	COLUMNS_CSV,  /* the same with commas */
	COLUMNS_JSON,
};

/* The names, but in JSON, where each row has them. */
void columns_head(FILE *file, enum columns_form form, const struct chi_row_column *columns,
		  size_t n);

/* A line. -CHI_ECORRUPT: a text for JSON is not UTF-8; then nothing is printed. */
CHI_MUSTUSE int columns_row(FILE *file, enum columns_form form,
			    const struct chi_row_column *columns, size_t n, const void *row);

/* The row as JSON, to which other members can be added; NULL without memory, or as above. Counts
 * are those of json_count. */
json_t *columns_object(const struct chi_row_column *columns, size_t n, const void *row);

/* A list on standard output: the head in front of the first row. */
struct cli_rows {
	const struct cli *cli;
	const struct chi_row_column *columns;
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
