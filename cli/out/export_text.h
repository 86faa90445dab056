/* SPDX-License-Identifier: MIT */
/*
 * One position's record as a line of text in the formats of export: CSV and TSV as `import`
 * reads them, JSON as `get` prints it, EPD. What each format holds is in chistore.1.
 */
#pragma once

#include "base/arena.h"
#include "cli/out/target.h"

enum export_format {
	EXPORT_NONE = 0,
	EXPORT_CSV,
	EXPORT_TSV,
	EXPORT_JSONL,
	EXPORT_EPD,
	EXPORT_POLYGLOT,
	EXPORT_PGN, /* games, not positions */
	EXPORT_LICHESS,
	EXPORT_CDB,
	EXPORT_EXP,
	EXPORT_FORMATS,
};

/* Their names. */
extern const char *const export_formats[EXPORT_FORMATS];

/* By the extension of a file's name; EXPORT_NONE if it means none. */
enum export_format export_format_of_path(const char *path);

/* A text of CSV or TSV, in quotation marks where the reader would take it apart otherwise. */
void export_cell(FILE *file, char separator, const char *text, size_t len);

/* What comes before the first line. Returns an exit code, as export_row does. */
int export_head(struct target *target, enum export_format format);

/* Any format of text with positions; of those of evaluations nothing if there is none. The arena is
 * emptied first. */
int export_row(struct target *target, enum export_format format, const struct chi_key *key,
	       const struct chi_record *record, struct chi_arena *arena);
