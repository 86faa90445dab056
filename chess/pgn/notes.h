/* SPDX-License-Identifier: MIT */
/*
 * A game's annotations as bytes: comments, numeric annotation glyphs (NAGs), variations; none for
 * a game without any. They are a sequence of items, in the order of the game's text, each at a
 * place of the main line: 0 is before the first move, n after move n. store/FORMAT.md, "Annotations
 * of a game", has the bytes. That a variation's moves are legal is for those to see who play them.
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
