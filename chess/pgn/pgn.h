/* SPDX-License-Identifier: MIT */
/*
 * Reading games from PGN as it is found in the world. The reader is handed bytes and hands out
 * games, their moves resolved and played; it opens nothing, unpacks nothing and keeps no more of
 * the text than a line, so its memory is fixed (some 630 KiB) however long a file, a game or a
 * comment is; comments, or all of a game's text, are kept only if they are asked for. One reader
 * belongs to one thread; several may work on parts of one file, cut where chi_pgn_boundary says.
 *
 * To read an input to its end: call chi_pgn_next until it says CHI_NONE, feed the bytes it wants,
 * and so on; when no bytes are left call chi_pgn_finish, and chi_pgn_next until CHI_NONE again.
 *
 * What is taken for what it must mean: LF and CRLF, a byte order mark, text in UTF-8 or Windows
 * Latin-1, comments, variations, annotation marks, tags in any order or none, games without a
 * blank line between, moves as SAN with too much or too little of it, if one legal move
 * fits, as UCI or with both squares, dashes and the one-half of typographers.
 *
 * A game begins with the first tag or legal move after the last game. One that has neither a tag
 * nor the number 1 before its first move, and stops making sense within four plies, was prose, and
 * is skipped. A game ends with a result, which may be stuck to its last move, before a tag after a
 * move, before an Event tag if it has one already or if anything but tags follows its last tag,
 * before a tag that it has already if a blank line or a comment is between, without tags before the
 * number 1 and a move that can be a first one, and at the end of the input. An Event tag alone is
 * no game. A line that begins with [Event " is a tag even inside a comment or a variation that is
 * not closed: one missing brace costs one game, not the file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/pgn/game.h"
#include "chistore/types.h"

struct chi_pgn;

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_pgn_new(struct chi_pgn **out);

/* Makes the reader as new, to read another input, or another part of one, in the same memory. */
void chi_pgn_restart(struct chi_pgn *pgn);

/* From now on games come with the comments of their main line. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_pgn_keep_comments(struct chi_pgn *pgn);

/*
 * From now on games come `whole`: with all their tags, their annotations, and the text that could
 * not be read. Not kept are lines that begin with '%', text between games, and comments after a
 * result. Takes up to 8 MiB, as much as the longest game's text needs. -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_pgn_keep_all(struct chi_pgn *pgn);

/* NULL is fine. */
void chi_pgn_free(struct chi_pgn *pgn);

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
 * Where a file may be cut: the offset of the first line at or after `from` that begins with
 * `[Event "` and whose nearest line above that is not blank is in the buffer and begins with
 * anything but '[' and blanks; `len` if there is none.
 *
 * Guarantee: one reader over the whole of a text, and one reader each for the parts before and
 * after such an offset, deliver the same games in the same order; only number, line and offset
 * count from the part's start. It holds for any text, since the reader begins a game at
 * each such line, even inside a comment. So `bytes` may be any window of the file, as long as
 * it begins at a line's first byte.
 */
size_t chi_pgn_boundary(const void *bytes, size_t len, size_t from);
