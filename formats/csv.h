/* SPDX-License-Identifier: MIT */
/*
 * CSV (RFC 4180) and its sister with tabs, to positions to store. The header names the columns,
 * in any order and any case:
 *
 *   fen     the position; the only one that must be there
 *   chi2    the statistic, "76.00"; "-" is not known; empty leaves the stored one alone
 *   white, draws, black, other   games by result; all empty leaves the stored ones alone
 *   note    text; empty leaves the stored one alone
 *   line    moves, UCI or SAN; empty leaves the stored one alone
 *   cp, mate                           an evaluation's score, the side to move's view: centipawns,
 *                                      or mate in so many moves; both empty: there is none
 *   engine, depth, nodes, pv, date     what else is known about it
 *   games   accepted and ignored: it is the sum of the first three
 *
 * Works on records, not on files: a quoted field may hold newlines, and chi_csv_quotes tells
 * whether a line is whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "chistore/types.h"

enum chi_csv_column {
	CHI_CSV_FEN,
	CHI_CSV_CHI2,
	CHI_CSV_WHITE,
	CHI_CSV_DRAWS,
	CHI_CSV_BLACK,
	CHI_CSV_OTHER,
	CHI_CSV_NOTE,
	CHI_CSV_GAMES,
	CHI_CSV_LINE,
	CHI_CSV_ENGINE,
	CHI_CSV_DEPTH,
	CHI_CSV_CP,
	CHI_CSV_MATE,
	CHI_CSV_NODES,
	CHI_CSV_PV,
	CHI_CSV_DATE,
	CHI_CSV_COLUMNS,
};

struct chi_csv {
	char separator;
	const char *engine;		/* of evaluations that name none; set by the caller */
	bool add;			/* counts are added to those stored; set by the caller */
	size_t n_fields;		/* of the header, and so of each record */
	size_t field[CHI_CSV_COLUMNS];	/* which field, from 1, holds the column; 0: none does */
	uint8_t known[CHI_CSV_COLUMNS]; /* the columns that a field holds, by ascending field */
	size_t n_known;
	char ignored[CHI_FAULT_SIZE]; /* names of columns that mean nothing here, "" if none */
	uint64_t clamped;	      /* statistics beyond the scale, taken to its end */
};

/* Reads the header. -CHI_ESYNTAX: no column named fen, or one named twice. */
CHI_MUSTUSE int chi_csv_header(struct chi_csv *csv, char separator, const char *text, size_t len,
			       struct chi_arena *arena, struct chi_fault *fault);

/* True if a quoted field is still open after `text`, so that the next line belongs to the same
 * record. `open`: whether one was open before it. */
bool chi_csv_quotes(char separator, const char *text, size_t len, bool open);

/*
 * Reads a record; memory of *put is in `arena` or in `text`. CHI_NONE: an empty record.
 * -CHI_ESYNTAX, -CHI_EFEN, -CHI_ETOOBIG, -CHI_ENOMEM with the column and the reason.
 */
CHI_MUSTUSE int chi_csv_read(struct chi_csv *csv, const char *text, size_t len,
			     struct chi_arena *arena, struct chi_put_entry *put,
			     struct chi_fault *fault);
