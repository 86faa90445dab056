/* SPDX-License-Identifier: MIT */
/*
 * A page of HTML without anything from elsewhere: tables whose columns are those of the commands
 * (formats/rows), each with the command that prints its numbers again. All texts are escaped.
 * Whether the file took it is for its owner to ask.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "cli/cli.h"
#include "formats/filter_text.h"
#include "formats/rows/rows.h"

#define REPORT_WORDS 16 /* of a command, with its NULL */

#define REPORT_NUMBER 24 /* digits of a number, with a NUL */

struct report {
	const struct cli *cli; /* its address is in the commands */
	FILE *file;
	const char *filter; /* of the games that the page is about; "": all */
};

/* Words of a command line after the address, as a shell takes them; ended by NULL. */
struct report_command {
	const char *words[REPORT_WORDS];
	size_t n;
};

/* A command about the page's games. */
struct report_command report_asks(const struct report *report, const char *name);

/* Adds a word, and its value if that is not NULL; both stay the caller's. */
void report_word(struct report_command *command, const char *word, const char *value);

/* The page's filter and other options of games, as commands join them. False, and says so: it is
 * too long. */
bool report_join(const struct report *report, const struct chi_filter_term *more, size_t n,
		 char out[CHI_FILTER_TEXT_SIZE]);

/* How many games fit. Returns an exit code, as the next; that of a signal that came. */
int report_count(const struct report *report, const char *filter, uint64_t *out);

/* The squares that pieces go to after the position, with a section and a table of its own. */
int report_plans(const struct report *report, const struct chi_key *root);

void report_begin(const struct report *report, const char *title, const struct chi_info *info);
void report_end(const struct report *report);

void report_section(const struct report *report, const char *title, const char *what);
/* How to get the same again; `in_row`: within a cell. */
void report_command(const struct report *report, const struct report_command *command, bool in_row);

/* A table: rows of these columns; `command` of a row is in a cell after them, or NULL. */
void report_table(const struct report *report, const struct chi_row_column *columns, size_t n,
		  bool with_commands);
void report_row(const struct report *report, const struct chi_row_column *columns, size_t n,
		const void *row, const struct report_command *command);
void report_table_end(const struct report *report);
