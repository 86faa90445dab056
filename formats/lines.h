/* SPDX-License-Identifier: MIT */
/*
 * Records of any format of lines to positions to store, wherever the text comes from: the first
 * line that is not blank is given to chi_lines_begin, each record then to chi_lines_read. A record
 * is a line without its end; of CSV and TSV also several, as long as chi_lines_open says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/types.h"
#include "formats/csv.h"
#include "formats/json_lines.h"

struct chi_lines {
	enum chi_format format; /* CHI_FORMAT_AUTO until the first line is seen */
	const char *engine;	/* of evaluations that name none; must outlive the puts; NULL: the
				   format's own */
	bool add;		/* counts are added to those stored */
	struct chi_csv csv;
	struct chi_json_lines json;
};

/* `engine` NULL: CHI_EPD_ENGINE, or that of the format. -CHI_EUNSUPPORTED: games and books have
 * other ways in. */
CHI_MUSTUSE int chi_lines_init(struct chi_lines *lines, enum chi_format format, const char *engine,
			       bool add, struct chi_fault *fault);

bool chi_line_is_blank(const char *line, size_t len);

/* CHI_OK: it is a header; CHI_NONE: the first record, too. -CHI_EUNSUPPORTED (games), -CHI_ESYNTAX
 * (no header of positions), -CHI_ENOMEM. */
CHI_MUSTUSE int chi_lines_begin(struct chi_lines *lines, const char *line, size_t len,
				struct chi_arena *arena, struct chi_fault *fault);

/* True for formats with a header, of which a record may be several lines. */
bool chi_lines_span(const struct chi_lines *lines);

/* True if the record goes on after the line; `open`: whether it did before it. */
bool chi_lines_open(const struct chi_lines *lines, const char *line, size_t len, bool open);

/* Fills *put; its memory is in `arena`, `record` and the engine's name. CHI_NONE: the record holds
 * nothing. -CHI_ENOMEM, or else what is wrong with it. */
CHI_MUSTUSE int chi_lines_read(struct chi_lines *lines, const char *record, size_t len,
			       struct chi_arena *arena, struct chi_put_entry *put,
			       struct chi_fault *fault);

/* Columns or members that were ignored, "" if none; statistics taken to the scale's end. */
const char *chi_lines_ignored(const struct chi_lines *lines);
uint64_t chi_lines_clamped(const struct chi_lines *lines);

/* "epd", "csv", "tsv", "jsonl", "lichess-evals", "cdb", "exp", "pgn", "polyglot" to a format;
 * CHI_FORMAT_AUTO if it is none of them. */
enum chi_format chi_format_of(const char *name);

/* The format given by a file's name, also before a compressor's ending; CHI_FORMAT_AUTO: none. */
enum chi_format chi_format_of_path(const char *path);

/* True if text that begins so is PGN: a tag, an escaped line, a comment or a numbered move. */
bool chi_text_is_pgn(const char *bytes, size_t len);
