/* SPDX-License-Identifier: MIT */
/*
 * Reading games from PGN as it is found in the world. The reader is handed bytes and hands out
 * games, their moves resolved and played; it opens nothing, unpacks nothing and keeps no more of
 * the text than a line, so its memory is fixed (some 620 KiB) however long a file, a game or a
 * comment is. One reader belongs to one thread; several may work on parts of one file, cut where
 * chi_pgn_boundary says.
 *
 * To read an input to its end: call chi_pgn_next until it says CHI_NONE, feed the bytes it wants,
 * and so on; when no bytes are left call chi_pgn_finish, and chi_pgn_next until CHI_NONE again.
 *
 * What is taken for what it must mean: LF and CRLF, a byte order mark, text in UTF-8 or Windows
 * Latin-1, comments, variations, annotation marks, tags in any order or none, games without a
 * blank line between, moves as SAN with too much or too little of it as long as one legal move
 * fits, as UCI or with both squares, dashes and the one-half of typographers.
 *
 * A game begins with the first tag or move behind the last game. It ends with a result, before
 * a tag behind a move, before an Event tag if it has one already or if something else than tags
 * stands since its last tag, before a tag that it has already if a blank line or a comment stands
 * between, and at the end of the input. An Event tag alone is no game. A line that begins with
 * [Event " is a tag even inside a comment or a variation that nobody closed: one missing brace
 * costs one game, not the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

/* Limits. A game beyond the first two is delivered without moves, as CHI_PGN_TOO_LONG. */
#define CHI_PGN_GAME_MAX  (UINT64_C(64) << 20) /* bytes of a game's text */
#define CHI_PGN_PLIES_MAX 4096
#define CHI_PGN_VALUE_MAX 1023 /* bytes of a tag's value in UTF-8; what is longer is cut */

/* The tags that are kept; a game's other tags are read over. */
enum chi_pgn_tag {
	CHI_PGN_EVENT,
	CHI_PGN_SITE,
	CHI_PGN_DATE,
	CHI_PGN_ROUND,
	CHI_PGN_WHITE,
	CHI_PGN_BLACK,
	CHI_PGN_RESULT,
	CHI_PGN_ECO,
	CHI_PGN_WHITE_ELO,
	CHI_PGN_BLACK_ELO,
	CHI_PGN_WHITE_TITLE,
	CHI_PGN_BLACK_TITLE,
	CHI_PGN_TIME_CONTROL,
	CHI_PGN_TERMINATION,
	CHI_PGN_UTC_DATE,
	CHI_PGN_UTC_TIME,
	CHI_PGN_SETUP,
	CHI_PGN_FEN,
	CHI_PGN_VARIANT,
	CHI_PGN_TAGS, /* number of kinds; also "any other" */
};

enum chi_pgn_result {
	CHI_PGN_NO_RESULT, /* "*", none at all, or one that is not clear */
	CHI_PGN_WHITE_WINS,
	CHI_PGN_DRAW,
	CHI_PGN_BLACK_WINS,
};

/* How the delivered moves end. */
enum chi_pgn_end {
	CHI_PGN_COMPLETE,    /* all moves of the game are there */
	CHI_PGN_NULL_MOVE,   /* before a null move: what follows is no game of chess */
	CHI_PGN_ILLEGAL,     /* before a move that no rule allows */
	CHI_PGN_AMBIGUOUS,   /* before a text that fits several legal moves, more than one of which
				or none lets the rest of the game be legal */
	CHI_PGN_UNREADABLE,  /* before a text that is no move, or a comment without end */
	CHI_PGN_TOO_LONG,    /* over a limit: no moves are delivered */
	CHI_PGN_BAD_START,   /* the FEN tag cannot be read: no moves */
	CHI_PGN_OTHER_RULES, /* a variant other than chess and Chess960: no moves */
	CHI_PGN_ENDS,	     /* number of kinds */
};

/* NUL-terminated UTF-8 without control characters, no blanks at its ends; NULL without the tag. */
struct chi_pgn_span {
	const char *text;
	size_t len;
};

#define CHI_PGN_TEXT_SIZE 32

struct chi_pgn_game {
	/* Of several tags of one name the first counts. */
	struct chi_pgn_span tags[CHI_PGN_TAGS];
	/*
	 * From the Result tag and the result behind the moves. If only one of them is a win or a
	 * draw, that one; if both are and they differ, nobody knows: no result, and
	 * `results_differ`. "0-0" behind the moves is no result if castling is not legal there and
	 * the tag says the same.
	 */
	enum chi_pgn_result result;
	bool results_differ;
	enum chi_pgn_end end;
	bool has_tags;
	/* Moves of the main line, each legal; positions[0] is the start, positions[i + 1] that
	 * behind moves[i]. n_plies + 1 positions, always. */
	size_t n_plies;
	const chi_move *moves;
	const struct chi_position *positions;
	uint64_t number; /* of the game, from 1 */
	uint64_t offset; /* of its first byte in the input */
	uint64_t line;	 /* of its first byte, from 1 */
	/* With an `end` other than COMPLETE: where, and the text that was not taken (cut, strange
	 * bytes as '?') or what is wrong. */
	uint64_t end_line;
	char end_text[CHI_PGN_TEXT_SIZE];
};

struct chi_pgn;

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_pgn_new(struct chi_pgn **out);

/* Makes the reader as new, to read another input, or another part of one, in the same memory. */
void chi_pgn_restart(struct chi_pgn *pgn);

/* NULL is fine. */
void chi_pgn_free(struct chi_pgn *pgn);

/* For `_cleanup_(chi_pgn_freep) struct chi_pgn *x = NULL;` */
void chi_pgn_freep(struct chi_pgn **pgn);

/*
 * Takes bytes, returns how many: all that fit, at least one if chi_pgn_next has just said
 * CHI_NONE and `len` > 0. Makes the last game's pointers invalid. How the input is cut into calls
 * never changes the games.
 */
size_t chi_pgn_feed(struct chi_pgn *pgn, const void *bytes, size_t len);

/* Tells that no more bytes come; chi_pgn_feed must not be called again. */
void chi_pgn_finish(struct chi_pgn *pgn);

/*
 * The next game, valid until the next call with this reader. CHI_NONE: more bytes are wanted, or,
 * after chi_pgn_finish, there are no more games. Nothing else is returned: what is wrong with a
 * game is told in the game.
 */
CHI_MUSTUSE int chi_pgn_next(struct chi_pgn *pgn, const struct chi_pgn_game **out);

/* Line feeds read so far: a reader of a later part of a file adds those of the parts before. */
uint64_t chi_pgn_lines(const struct chi_pgn *pgn);

/*
 * Where a file may be cut: the offset of the first line at or behind `from` that begins with
 * `[Event "` and whose nearest line above that is not blank is in the buffer and begins with
 * anything but '[' and blanks; `len` if there is none.
 *
 * Guarantee: one reader over the whole of a text, and one reader each for the parts before and
 * behind such an offset, deliver the same games in the same order; only number, line and offset
 * count from the part's start. It holds whatever the text is, since the reader begins a game at
 * each such line, be it inside a comment. So `bytes` may be any window of the file, as long as
 * it begins at a line's first byte.
 */
size_t chi_pgn_boundary(const void *bytes, size_t len, size_t from);
