/* SPDX-License-Identifier: MIT */
/*
 * A file of positions, of any format: EPD, CSV, TSV or lines of JSON, plain or compressed.
 * Delivers one position to store after the other, and says of every line it cannot use why.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/types.h"
#include "formats/lines.h"

struct chi_position_reader_options {
	enum chi_format format;
	const char *engine; /* of evaluations that name none; NULL: CHI_EPD_ENGINE. Must outlive the
			       reader */
	bool add;	    /* counts are added to those stored */
	const volatile sig_atomic_t *cancel; /* see struct chi_source_options */
};

struct chi_position_reader;

/* Opens `path`, "-" for standard input; see chi_source_open. */
CHI_MUSTUSE int chi_position_reader_open(const char *path,
					 const struct chi_position_reader_options *options,
					 struct chi_position_reader **out, struct chi_fault *fault);

/* True if text that begins so is PGN: a tag, an escaped line, a comment or a numbered move. */
bool chi_position_reader_is_pgn(const char *bytes, size_t len);

/* NULL is fine. */
void chi_position_reader_close(struct chi_position_reader *import);

/*
 * The next position, its memory in `arena` (and the engine's name in the options). CHI_NONE at
 * the end. Negative: chi_position_reader_failed says whether the file cannot be read on (*fault
 * says why) or only one line was bad, and the next call goes on after it.
 */
CHI_MUSTUSE int chi_position_reader_next(struct chi_position_reader *import,
					 struct chi_arena *arena, struct chi_put_entry *put,
					 struct chi_fault *fault);

bool chi_position_reader_failed(const struct chi_position_reader *import);

/* Where the last position or failure began: a line number from 1. */
uint64_t chi_position_reader_line(const struct chi_position_reader *import);

/* Columns of the header, or members of the lines read so far, that are ignored, for a warning; ""
 * if none. Columns are known after the first chi_position_reader_next. */
const char *chi_position_reader_ignored(const struct chi_position_reader *import);

/* Statistics read so far that lay beyond the scale and were taken to its end. */
uint64_t chi_position_reader_clamped(const struct chi_position_reader *import);

/* See chi_source_bytes_read. */
uint64_t chi_position_reader_bytes_read(const struct chi_position_reader *import);
uint64_t chi_position_reader_bytes_total(const struct chi_position_reader *import);
