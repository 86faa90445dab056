/* SPDX-License-Identifier: MIT */
/* Remarks on the games of one stream, kept until its turn comes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chess/pgn/pgn.h"
#include "chistore/types.h"

/* So many games of a stream get a remark; then only their number is given. */
#define CHI_NOTES_MAX 1000

struct chi_note {
	uint64_t game; /* in the stream, from 1 */
	uint64_t line; /* in the stream, from 1 */
	char *text;    /* owned */
};

/* Zeroed at first. */
struct chi_notes {
	struct chi_note *note;
	size_t n;
	size_t capacity;
	uint64_t more; /* games beyond the limit */
};

void chi_notes_deinit(struct chi_notes *notes);

/* Notes how a game ended that was not complete, and what became of it: counted up to its
 * `n_plies`-th move, or skipped. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_notes_add(struct chi_notes *notes, const struct chi_pgn_game *game,
			      bool passed_over);

/* Tells them: numbers and lines count from those of the file that come before the stream. */
void chi_notes_tell(const struct chi_notes *notes, const struct chi_import_options *options,
		    const char *file, uint64_t games_before, uint64_t lines_before);
