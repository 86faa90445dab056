/* SPDX-License-Identifier: MIT */
/*
 * The text form of a store, which outlives every file format: one line a position, tab-separated,
 * UTF-8, in the order of the position tree, then one a game, then the names and the games of the
 * archive (FORMAT.md, "Dump"). Loading a dump into an empty store and dumping that gives the same
 * bytes. Works on lines; reads and writes no file itself.
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
	bool archive; /* lines of the archive may come */
};

/* How many lines of each kind there are, and the highest number that a game was given. */
struct chi_dump_tail {
	uint64_t positions;
	uint64_t games;
	/* Of the archive. */
	uint64_t names;
	uint64_t kept;
	uint64_t gamesets;
	uint64_t last_game;
};

/* A name of the archive. */
struct chi_dump_name {
	uint8_t kind;  /* enum chi_name_kind */
	uint32_t id;   /* names of a kind come in order, from 1 on */
	uint32_t root; /* see struct chi_name_row */
	uint32_t fide;
	bool given; /* the FIDE id, by hand or by a spelling file */
	const char *text;
	size_t len;
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

/* One game's line with its newline; its number is there if it is not 0. -CHI_ENOMEM, -CHI_EINVAL
 * (its result). */
CHI_MUSTUSE int chi_dump_print_game(const struct chi_game_id *game, struct chi_arena *arena,
				    char **out, size_t *len);

/* A name's line. -CHI_ENOMEM, -CHI_EINVAL (its kind). */
CHI_MUSTUSE int chi_dump_print_name(const struct chi_dump_name *name, struct chi_arena *arena,
				    char **out, size_t *len);

/* The lines of a game of the archive: its number, its source, "" for none, and its text.
 * -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_dump_print_kept(uint32_t number, const char *source, const char *pgn,
				    size_t pgn_len, struct chi_arena *arena, char **out,
				    size_t *len);

/* A gameset's line. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_dump_print_gameset(const char *name, const char *filter,
				       struct chi_arena *arena, char **out, size_t *len);

/* The last line but its checksum: a dump without it is cut short. `archive` as in the head. */
CHI_MUSTUSE int chi_dump_print_tail(const struct chi_dump_tail *tail, bool archive,
				    struct chi_arena *arena, char **out, size_t *len);

/* What a line was. They come in this order; games of the archive with lines of PGN. */
enum chi_dump_line {
	CHI_DUMP_HEAD,	   /* still inside the head */
	CHI_DUMP_POSITION, /* `put` is filled, with CHI_PUT_RESTORE */
	CHI_DUMP_GAME,	   /* `game` of the reader is filled */
	CHI_DUMP_NAME,	   /* `name` */
	CHI_DUMP_KEPT,	   /* `kept` */
	CHI_DUMP_PGN,	   /* of the game before: `text` */
	CHI_DUMP_GAMESET,  /* `text` is its name, `filter` */
	CHI_DUMP_TAIL,	   /* nothing but a checksum may follow */
	CHI_DUMP_SUMMED,   /* a checksum, after any of the others; seal.h compares it */
};

/* Bytes of a line, or of the arena. */
struct chi_dump_text {
	const char *at;
	size_t len;
};

struct chi_dump_reader {
	struct chi_dump_head head; /* complete when the first position has been read */
	uint64_t line;		   /* number of the last line fed, from 1 */
	struct chi_dump_tail n;	   /* lines read; after the last, what it says */
	struct chi_game_id game;   /* the last one read */
	struct chi_dump_name name;
	uint32_t kept;		     /* the last game's number, */
	struct chi_dump_text source; /* and its source */
	struct chi_dump_text text;
	bool joined; /* a line of PGN goes on with the one before */
	struct chi_dump_text filter;
	int state; /* private, as is this: */
	bool part;
};

void chi_dump_reader_init(struct chi_dump_reader *reader);

/* Begins between two lines, after `line` others of which the head's are some: lines that several
 * threads read side by side. What is to be true of the whole is the caller's to check then: the
 * order of the kinds, and the tail's numbers. */
void chi_dump_reader_part(struct chi_dump_reader *reader, const struct chi_dump_head *head,
			  uint64_t line);

/* Where a text of whole lines may be cut for that: the place after its last line after which no
 * line of PGN comes that belongs to it; 0: there is none. */
size_t chi_dump_cut(const char *text, size_t len);

/*
 * Feeds one line without its newline. On CHI_OK *kind says what it was; for a position *put is
 * filled, its memory in `arena`. -CHI_ESYNTAX, -CHI_EFEN, -CHI_EMOVE, -CHI_EVERSION, -CHI_ENOMEM
 * with the line and the column in the fault.
 */
CHI_MUSTUSE int chi_dump_read(struct chi_dump_reader *reader, const char *line, size_t len,
			      struct chi_arena *arena, enum chi_dump_line *kind,
			      struct chi_put_entry *put, struct chi_fault *fault);
