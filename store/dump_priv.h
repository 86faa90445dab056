/* SPDX-License-Identifier: MIT */
/* Words of the dump format that its printing and its reading share (FORMAT.md, "Dump"). */
#pragma once

#define DUMP_MAGIC   "chistore-dump"
#define DUMP_VERSION 1

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

/* Fields of one evaluation, between '|'; evaluations are separated by ';'. */
#define EVAL_FIELDS 6
