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

/* A game's line: this word, id, result, last ply counted or "-", DUMP_PRUNED or "-". */
#define DUMP_GAME	 "game"
#define DUMP_PRUNED	 "pruned"
#define DUMP_GAME_FIELDS 5

/* By enum chi_result. */
#define DUMP_RESULTS                                                                               \
	{                                                                                          \
		"1-0", "1/2-1/2", "0-1", "*"                                                       \
	}

/* Fields of one evaluation, between '|'; evaluations are separated by ';'. */
#define EVAL_FIELDS 6
/* The same of one that is not its engine's best: the rank is the last. */
#define EVAL_FIELDS_RANK 7
