/* SPDX-License-Identifier: MIT */
/*
 * A game's annotations as bytes: comments, numeric annotation glyphs (NAGs), variations; none for
 * a game without any. They are a sequence of items, in the order of the game's text:
 *
 *     head byte: bits 0..5 kind, bit 6 joined, bit 7 next
 *
 * Each item belongs to a place of the main line: 0 is before the first move, n after move n. The
 * first item is at place 0; `next` moves the place on by one before the item. Inside a variation
 * it is 0, the moves tell the place. `joined`: the item goes on the comment of the item before,
 * one blank between; only the kinds 3 and 8..19 can, after one of them at the same place.
 *
 *     kind  what follows the head byte; numbers are varints of base/wire.h
 *     0     nothing: the innermost variation ends
 *     1     nothing: a variation begins. Its first move is played in place of the last move, or, if
 *           there is none, from where the line it is in begins
 *     2     number of moves, 1..127 in a byte, and the moves, 2 bytes each, little-endian; only
 *           inside a variation. Moves are as in store/FORMAT.md; that they are legal is for those
 *           to see who play them
 *     3     length, 1 or more, and so many bytes of a comment
 *     4     length, 1 or more, and so many bytes of movetext: a variation's text from the first
 *           move that could not be read to the variation's end, which follows. Written as PGN it
 *           has a blank before it and a line feed after it
 *     5     a number of 1 or more: the place moves on by so many. Without `next`, not in a
 * variation 6     a number of 32..65535: a NAG 8..11   [%clk h:mm:ss], bit 0: tenths (h:mm:ss.f),
 * bit 1: two digits of hours. The difference from the last such time, zigzag, last minus this, in
 * seconds or tenths. The last is that of the same player, told from the parity of the place, 0 at
 * first; an odd tenth is dropped from it where seconds are told. 12..15  [%emt h:mm:ss], the time
 * itself, in seconds or tenths 16    [%eval] in hundredths of a pawn, zigzag; two decimals 17    as
 * 16, and the depth 18    [%eval #n], a mate in n moves, zigzag 19    as 18, and the depth 32..63
 * nothing: the NAG kind - 32
 *
 * A zigzag number is n * 2, or -n * 2 - 1 below 0. Texts are UTF-8 without control characters but
 * line feeds, and no line in them begins with `[Event "`. A comment with '}' has no line feed and
 * is one item, not joined.
 *
 * Example: 1. e4 $1 { [%clk 0:03:00] good } 1... e5 (1... c5) as
 *     a1 | 08 e7 02 (0 - 180 seconds) | 43 04 "good" | 81 | 02 01 a2 0c (c7c5) | 00
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wire.h"
#include "chistore/types.h"

/* Variations in one another. */
#define CHI_NOTES_DEPTH_MAX 64

#define CHI_NOTE_NAG_MAX 65535

enum chi_note_kind {
	CHI_NOTE_CLOSE,
	CHI_NOTE_OPEN,
	CHI_NOTE_MOVES,
	CHI_NOTE_TEXT,
	CHI_NOTE_UNREAD,
	CHI_NOTE_NAG = 6,
	CHI_NOTE_CLOCK = 8,    /* to 11 */
	CHI_NOTE_ELAPSED = 12, /* to 15 */
	CHI_NOTE_EVAL = 16,    /* to 19 */
};

/* An item. Its pointers point into the bytes that are read. */
struct chi_note {
	uint8_t kind; /* enum chi_note_kind, or above the last three, as the bytes have it */
	bool joined;  /* to the comment of the item before */
	size_t ply;   /* its place in the main line */
	size_t depth; /* of the variations it is in; of OPEN and CLOSE the outer one's */
	uint32_t nag;
	int32_t value;	/* a time, an evaluation; as the kind has it */
	uint32_t extra; /* the depth searched */
	const char *text;
	size_t len;	      /* bytes of the text */
	const uint8_t *moves; /* chi_note_move reads them */
	size_t n_moves;
};

/* ---- Reading ------------------------------------------------------------------------------ */

struct chi_notes_reader {
	struct chi_reader bytes;
	size_t n_plies;
	size_t ply;
	size_t depth;
	uint32_t clock[2]; /* tenths */
	uint8_t after;	   /* internal: what the last item lets follow */
};

/* The bytes are the caller's and are read in place; any may be given. `n_plies`: the game's. */
struct chi_notes_reader chi_notes_reader_of(const uint8_t *notes, size_t len, size_t n_plies);

/* The next item; CHI_NONE after the last; -CHI_ECORRUPT where the bytes are not as above says.
 * After anything but CHI_OK it must not be called again. */
CHI_MUSTUSE int chi_notes_next(struct chi_notes_reader *reader, struct chi_note *out);

/* CHI_OK if all of it can be read, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_notes_check(const uint8_t *notes, size_t len, size_t n_plies);

/* Move `i` of a CHI_NOTE_MOVES item; any 16 bits. */
static inline chi_move chi_note_move(const struct chi_note *note, size_t i)
{
	return (chi_move)(note->moves[2 * i] | note->moves[2 * i + 1] << 8);
}

/* Prints a time or an evaluation as it was, with brackets and a NUL; the length. */
#define CHI_NOTE_TEXT_SIZE 48
size_t chi_note_print(const struct chi_note *note, char out[CHI_NOTE_TEXT_SIZE]);

/* ---- Writing ------------------------------------------------------------------------------ */

struct chi_notes_writer {
	uint8_t *bytes; /* the caller's */
	size_t size;
	size_t n;   /* bytes written */
	size_t ply; /* place of the last item */
	size_t depth;
	size_t lost_depth; /* variations open that were left out */
	size_t run;	   /* where the last item's number of moves is; 0: it has none */
	uint32_t clock[2]; /* tenths */
	uint64_t lost;	   /* items left out, or cut */
};

/* Writes to bytes[0..size). What does not fit, and all but the ends of variations after it, is
 * left out; a text may be cut. */
struct chi_notes_writer chi_notes_writer_of(uint8_t *bytes, size_t size);

/*
 * Each adds an item at the place `ply`, which never goes back and inside a variation is not looked
 * at. Texts are UTF-8 without control characters but line feeds, and not empty. A comment's
 * times and evaluations are found in it. `nag` is at most 65,535. There are never more than
 * CHI_NOTES_DEPTH_MAX variations open, and moves and unread text only inside one.
 */
void chi_notes_comment(struct chi_notes_writer *writer, size_t ply, const char *text, size_t len);
void chi_notes_nag(struct chi_notes_writer *writer, size_t ply, uint32_t nag);
void chi_notes_open(struct chi_notes_writer *writer, size_t ply);
void chi_notes_move(struct chi_notes_writer *writer, chi_move move);
void chi_notes_unread(struct chi_notes_writer *writer, const char *text, size_t len);
void chi_notes_close(struct chi_notes_writer *writer);
