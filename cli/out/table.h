/* SPDX-License-Identifier: MIT */
/*
 * Tables for people: which characters and colours the output takes, and a pager for those that are
 * longer than the terminal. A table is made in memory and printed when it is whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"

struct table_options {
	bool ascii;
	bool no_pager;
	uint8_t color; /* enum table_color */
};

enum table_color {
	TABLE_COLOR_AUTO = 0,
	TABLE_COLOR_ALWAYS,
	TABLE_COLOR_NEVER
};

extern const char *const table_colors[3];

/* Rows of an option list; the state has them in its `struct table_options table`. */
/* clang-format off */
#define TABLE_OPTIONS(state)                                                                       \
	OPTION_FLAG(state, table.ascii, "ascii", "letters and # = . instead of pieces and blocks"),\
	OPTION_WORD(state, table.color, table_colors, "color", "WHEN",                             \
		    "auto (default: on a terminal), always or never"),                             \
	OPTION_FLAG(state, table.no_pager, "no-pager", "print long tables as they are")
/* clang-format on */

struct table {
	FILE *out; /* where it is written, until table_close */
	bool ascii;
	bool color;
	bool pager;
	size_t width; /* columns of the terminal; 0: there is none */
	size_t lines; /* lines of the terminal */
	char *text;
	size_t len;
};

/* For standard output. False without memory, and says so. */
CHI_MUSTUSE bool table_open(const struct table_options *options, struct table *table);

/* Prints what was written so far, without a pager. */
void table_flush(struct table *table);

/* Prints what was written, and ends the table. */
void table_close(struct table *table);

/* Drops it unprinted. Harmless on a zeroed or closed table. */
void table_deinit(struct table *table);

/* What turns a style on; table_plain turns all of them off. Empty without colours. */
const char *table_bold(const struct table *table);
const char *table_plain(const struct table *table);

/* Text from elsewhere, without what a terminal would obey: at most `max` columns of it, the last of
 * them a mark where it was cut; 0: all. */
void table_print(const struct table *table, const char *text, size_t max);

/* Columns that a text of UTF-8 takes, a character each. */
size_t table_columns(const char *text, size_t len);

/* A bar of the games by result, White's wins first; blank if there are none. */
#define TABLE_BAR_COLUMNS 20
void table_bar(const struct table *table, const struct chi_counts *counts, int columns);
