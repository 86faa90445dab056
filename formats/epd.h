/* SPDX-License-Identifier: MIT */
/*
 * One line of EPD (extended position description) to one position to store. Also takes plain FENs
 * with their two counters, alone or with operations after them.
 *
 *   opcode         becomes
 *   ce, dm         an evaluation: centipawns, or mate in N; of both, the mate
 *   acd, acn, pv   depth, nodes and principal variation of that evaluation
 *   pv             without ce and dm: the line
 *   bm             without pv: its first move is the line; always kept in the note too
 *   hmvc, fmvn     dropped: counters are no part of a position
 *   engine         the evaluation's engine: `engine "stockfish";`
 *   c0 to c9       that read `"white W draws D black B"`, with ` other O` or without: the counts
 *   c9             alone, without any of the following: the note is its text, in which \hh is the
 *                  byte of that hexadecimal number
 *   any other      text in the note, in the order of the file: `bm Nf3; id "WAC.001";`
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "chistore/types.h"

/* The engine's name of an evaluation unless the caller has one. */
#define CHI_EPD_ENGINE "epd"

/* Counts as an operand that is read back: `"white 5 draws 3 black 2 other 1"`, "other" only if
 * there are any. Returns the length. */
#define CHI_EPD_COUNTS_SIZE 128
size_t chi_epd_counts(const struct chi_counts *counts, char out[CHI_EPD_COUNTS_SIZE]);

/* A text as an operand that is read back, in quotation marks: `to` has room for 3 * len + 2 bytes.
 * Returns the length. */
size_t chi_epd_quote(const char *text, size_t len, char *to);

/*
 * Fills *put, its memory in `arena`, its engine name pointing to `engine` (NUL-terminated, must
 * outlive the put). CHI_NONE: a blank line or a comment (#). -CHI_EFEN, -CHI_ESYNTAX, -CHI_EMOVE,
 * -CHI_ETOOBIG, -CHI_ENOMEM, with the reason in the fault. `len` at most CHI_SOURCE_LINE_MAX.
 */
CHI_MUSTUSE int chi_epd_read(const char *line, size_t len, const char *engine,
			     struct chi_arena *arena, struct chi_put_entry *put,
			     struct chi_fault *fault);
