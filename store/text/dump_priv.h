/* SPDX-License-Identifier: MIT */
/* Words of the dump format that its printing and its reading share (FORMAT.md, "Dump"). */
#pragma once

#include "base/arena.h"
#include "base/wire.h"
#include "chistore/types.h"

/* Version 1 has nothing of the archive. */
#define DUMP_MAGIC	     "chistore-dump"
#define DUMP_VERSION	     1
#define DUMP_VERSION_ARCHIVE 2

/* The head's last line: the names of a position's fields. */
#define DUMP_COLUMNS "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote"
#define DUMP_FIELDS  11

enum dump_field {
	FIELD_FEN,
	FIELD_CHI2,
	FIELD_WHITE,
	FIELD_DRAWS,
	FIELD_BLACK,
	FIELD_OTHER,
	FIELD_MOVES,
	FIELD_PLIES,
	FIELD_EVALS,
	FIELD_LINE,
	FIELD_NOTE,
};

/* A game's line: this word, id, result, last ply counted or "-", DUMP_PRUNED or "-". */
#define DUMP_GAME	 "game"
#define DUMP_PRUNED	 "pruned"
#define DUMP_GAME_FIELDS 5
/* In version 2 the number of one that is kept follows. */
#define DUMP_GAME_FIELDS_KEPT 6

/* A name's line: this word, kind, number, text, FIDE id or "-", root or "-". */
#define DUMP_NAME	 "name"
#define DUMP_NAME_FIELDS 6

/* A game of the archive: this word, number, source. */
#define DUMP_KEPT	 "kept"
#define DUMP_KEPT_FIELDS 3

/* Its lines of PGN begin with the one, or the other where a line goes on. */
#define DUMP_PGN	'>'
#define DUMP_PGN_JOINED '+'

/* This word, name, filter. */
#define DUMP_GAMESET	    "gameset"
#define DUMP_GAMESET_FIELDS 3

/* This word, and so many numbers. */
#define DUMP_END		 "end"
#define DUMP_END_NUMBERS	 2
#define DUMP_END_NUMBERS_ARCHIVE 6

/* By enum chi_result. */
#define DUMP_RESULTS                                                                               \
	{                                                                                          \
		"1-0", "1/2-1/2", "0-1", "*"                                                       \
	}

/* Fields of one evaluation, between '|'; evaluations are separated by ';'. */
#define EVAL_FIELDS 6
/* The same of one that is not its engine's best: the rank is the last. */
#define EVAL_FIELDS_RANK 7

/* ---- Printing: the writer's `bad` is looked at once, at the end --------------------------- */

/* The longest form of a byte. */
#define DUMP_ESCAPED 4

void chi_dump_put_text(struct chi_writer *w, const char *text);
void chi_dump_u64(struct chi_writer *w, uint64_t value);

/* Bytes that would end a field are escaped, and control characters; `also` names more of them. */
void chi_dump_escaped(struct chi_writer *w, const char *text, size_t len, const char *also);

/* Room for so many bytes. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_dump_begin(struct chi_arena *arena, size_t size, struct chi_writer *w,
			       char **out);

/* Ends the text with its NUL. */
CHI_MUSTUSE int chi_dump_finish(struct chi_writer *w, const char *start, size_t *len);
