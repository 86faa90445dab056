/* SPDX-License-Identifier: MIT */
/*
 * Games to PGN in its export format: the seven tags of the roster first, in their order and "?"
 * where they are missing, then the others as they come; movetext in lines of less than 80 columns.
 * What is written, chess/pgn/pgn.h reads back as the same game.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "chess/notation.h"
#include "chess/pgn/game.h"
#include "chess/position.h"
#include "chistore/types.h"

/* Movetext on its way into a buffer. Errors are sticky: after the first nothing is written. */
struct chi_pgn_text {
	struct chi_buffer *out;
	char *at; /* where the next byte goes, in room reserved in `out` */
	char *end;
	size_t column; /* of the line begun */
	bool numbered; /* a move by Black needs no number: the move before it is next to it */
	int status;
};

/* Writes a token that holds no white space, on a new line if it would not fit on this. */
void chi_pgn_put_token(struct chi_pgn_text *text, const char *token, size_t len);

/* Writes a move, with its number if it is White's or follows anything but a move. `ply` counts from
 * 0 at White's first move; `next` is the position after it. */
void chi_pgn_put_move(struct chi_pgn_text *text, size_t ply, const struct chi_position *position,
		      chi_move move, const struct chi_position *next);

/* From here a move by Black is written with its number: after a comment or a variation. */
static inline void chi_pgn_put_break(struct chi_pgn_text *text)
{
	text->numbered = false;
}

/*
 * Writes what stands after `ply` moves, 0: before the first. `before` is the position that the last
 * of them was played in (at ply 0 as `now`), in place of which variations begin.
 */
typedef void chi_pgn_between(void *context, struct chi_pgn_text *text, size_t ply,
			     const struct chi_position *before, const struct chi_position *now);

/* A tag to write. The name is letters, digits and '_', else the tag is left out; the value is any
 * text, control characters become blanks. */
struct chi_pgn_pair_out {
	struct chi_pgn_span name;
	struct chi_pgn_span value;
};

struct chi_pgn_output {
	const struct chi_pgn_pair_out *tags; /* Result, FEN and SetUp in them are passed over */
	size_t n_tags;
	enum chi_result result;
	const struct chi_position *start; /* NULL: the initial position */
	const chi_move *moves;		  /* legal, or at least as chess/moves reads them */
	size_t n_plies;
	chi_pgn_between *between; /* NULL: nothing between the moves */
	void *context;
};

/*
 * Appends the game, with an empty line after it. FEN and SetUp are written where the start is
 * another or the Variant tag says Chess960, and Variant itself where castling needs it.
 * -CHI_ETOOBIG over the buffer's limit, -CHI_ENOMEM; the buffer is then as before.
 */
CHI_MUSTUSE int chi_pgn_write(const struct chi_pgn_output *game, struct chi_buffer *out);
