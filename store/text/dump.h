/* SPDX-License-Identifier: MIT */
/*
 * The text form of a store, which outlives every file format: one line a position, tab-separated,
 * UTF-8, in the order of the position tree, then one a game (FORMAT.md, "Dump"). Loading a dump
 * into an empty store and dumping that gives the same bytes. Works on lines; reads and writes no
 * file itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/games.h"
#include "chistore/types.h"

/* The first lines of a dump. */
#define CHI_DUMP_HEAD_LINES 4
struct chi_dump_head {
	enum chi_statistic statistic;
	struct chi_counts base;
};

/* The longest line that is read or written, newline included. */
#define CHI_DUMP_LINE_MAX (4u << 20)

/* The head's lines with newlines; NUL-terminated, in memory of `arena`; *len without the NUL.
 * -CHI_ENOMEM. */
CHI_MUSTUSE int chi_dump_print_head(const struct chi_dump_head *head, struct chi_arena *arena,
				    char **out, size_t *len);

/* One position's line with its newline. -CHI_ENOMEM, -CHI_EKEY, -CHI_ECORRUPT (a move of the
 * record is not legal in the position). */
CHI_MUSTUSE int chi_dump_print(const struct chi_key *key, const struct chi_record *record,
			       struct chi_arena *arena, char **out, size_t *len);

/* One game's line with its newline. -CHI_ENOMEM, -CHI_EINVAL (its result). */
CHI_MUSTUSE int chi_dump_print_game(const struct chi_game_id *game, struct chi_arena *arena,
				    char **out, size_t *len);

/* The last line, which says how many positions and games the dump holds: a dump without it is cut
 * short. */
CHI_MUSTUSE int chi_dump_print_tail(uint64_t positions, uint64_t games, struct chi_arena *arena,
				    char **out, size_t *len);

/* What a line was. */
enum chi_dump_line {
	CHI_DUMP_HEAD,	   /* still inside the head */
	CHI_DUMP_POSITION, /* `put` is filled, with CHI_PUT_RESTORE */
	CHI_DUMP_GAME,	   /* `game` of the reader is filled */
	CHI_DUMP_TAIL,	   /* the dump is whole; nothing may follow */
};

struct chi_dump_reader {
	struct chi_dump_head head; /* complete when the first position has been read */
	uint64_t line;		   /* number of the last line fed, from 1 */
	uint64_t positions;
	uint64_t games;
	struct chi_game_id game; /* the last one read */
	int state;		 /* private, as is this: */
	bool part;
};

void chi_dump_reader_init(struct chi_dump_reader *reader);

/* Begins between two lines, after `line` others of which the head's are some: lines that several
 * threads read side by side. What is to be true of the whole is the caller's to check then: that
 * positions come before games and the tail's two numbers, which positions and games are set to. */
void chi_dump_reader_part(struct chi_dump_reader *reader, const struct chi_dump_head *head,
			  uint64_t line);

/*
 * Feeds one line without its newline. On CHI_OK *kind says what it was; for a position *put is
 * filled, its memory in `arena`. -CHI_ESYNTAX, -CHI_EFEN, -CHI_EMOVE, -CHI_EVERSION, -CHI_ENOMEM
 * with the line and the column in the fault.
 */
CHI_MUSTUSE int chi_dump_read(struct chi_dump_reader *reader, const char *line, size_t len,
			      struct chi_arena *arena, enum chi_dump_line *kind,
			      struct chi_put *put, struct chi_fault *fault);
