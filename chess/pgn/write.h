/* SPDX-License-Identifier: MIT */
/*
 * Games to PGN. What is written, chess/pgn/pgn.h reads back as the same game: its tags by name,
 * text and order, none of them added but Result, and SetUp and FEN where the start needs them; its
 * moves, annotations, result, and the rest that could not be read. (A game without any moves whose
 * start could not be read lost that with its FEN tag: its rest would be played.)
 */
#pragma once

#include "base/buffer.h"
#include "chistore/games.h"
#include "chistore/types.h"

/*
 * Appends the game, with an empty line after it. Of its head only the result is looked at. Result
 * is after the Black tag, or at the end of the tags. Movetext comes in lines of less than 80
 * columns, which annotations may make longer: a comment keeps its own lines, and no others.
 * A tag whose name is none that the reader knows as a name is left out; control characters in
 * values become blanks.
 *
 * -CHI_ECORRUPT: the start is no position, or the annotations are not as chess/pgn/notes.h says, or
 * a variation has a move that is not legal; moves of the main line must be those that the archive
 * reads. -CHI_ETOOBIG over the buffer's limit, -CHI_ENOMEM. The buffer is then as before.
 */
CHI_MUSTUSE int chi_pgn_write(const struct chi_game *game, struct chi_buffer *out);
