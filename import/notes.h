/* SPDX-License-Identifier: MIT */
/* Remarks on the games, or the lines, of one stream, kept until its turn comes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/pgn/pgn.h"
#include "chistore/types.h"

/* So many notes of a stream are kept; then only how many more there were. */
#define CHI_NOTES_MAX 1000

struct chi_stream_note {
	uint64_t game; /* in the stream, from 1; 0: of a line */
	uint64_t line; /* in the stream, from 1 */
	char *text;    /* owned */
};

/* Zeroed at first. */
struct chi_notes {
	struct chi_stream_note *note;
	size_t n;
	size_t capacity;
	uint64_t more; /* beyond the limit */
};

void chi_notes_deinit(struct chi_notes *notes);

/* What is told of a game. */
enum chi_stream_note_kind {
	CHI_NOTE_CUT,	   /* why it is counted up to its `n_plies`-th move only */
	CHI_NOTE_SKIPPED,  /* the same, and it is not counted */
	CHI_NOTE_CONFLICT, /* its two results, and which of them counts */
	CHI_NOTE_EMPTY,	   /* that it has no moves */
	CHI_NOTE_LOST,	   /* how much of its text is not kept */
};

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_notes_add(struct chi_notes *notes, const struct chi_pgn_game *game,
			      enum chi_stream_note_kind kind);

/* The same of a line. */
CHI_MUSTUSE int chi_notes_add_text(struct chi_notes *notes, uint64_t line, const char *text);

/* Tells them: numbers and lines count from those of the file that come before the stream. */
void chi_notes_tell(const struct chi_notes *notes, const struct chi_import_options *options,
		    const char *file, uint64_t games_before, uint64_t lines_before);
