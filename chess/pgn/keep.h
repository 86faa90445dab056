/* SPDX-License-Identifier: MIT */
/*
 * All that a game's text says, beside what the reader makes of it: every tag, the annotations and
 * the rest that could not be read. The text is kept while the game is read; if there is anything in
 * it but tags and moves, it is read once more when the moves are known. Internal to the PGN reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/pgn/game.h"
#include "chess/pgn/lex.h"
#include "chess/pgn/notes.h"
#include "chess/pgn/tags.h"

/* Of a game: bytes of its text that are kept, from its last tag on. */
#define CHI_PGN_KEPT_MAX (4u << 20)

/* No such place in the text. */
#define CHI_PGN_NOWHERE UINT32_MAX

/* A variation that is being read. */
struct chi_pgn_variation {
	struct chi_position before; /* its last move, or where it begins */
	struct chi_position now;
};

/* What is not written to takes no memory. */
struct chi_pgn_keep {
	struct chi_pgn_whole whole;
	uint64_t from;		/* offset in the input of the kept text */
	uint64_t next;		/* of the first byte not looked at */
	uint64_t end;		/* of the game's end; UINT64_MAX: where the lexer is */
	size_t n_text;		/* bytes of `text` */
	size_t n_values;	/* bytes of `values` */
	struct chi_pgn_lex lex; /* the second reading */
	/* In `text`, where the word of each move begins, and that of the first word not taken. */
	uint32_t where[CHI_PGN_PLIES_MAX + 2];
	struct chi_pgn_named tags[CHI_PGN_ALL_TAGS_MAX];
	struct chi_pgn_variation lines[CHI_NOTES_DEPTH_MAX + 1];
	char rest[CHI_PGN_REST_MAX];
	char values[CHI_PGN_ALL_VALUES_MAX];
	uint8_t notes[CHI_PGN_NOTES_MAX];
	char scratch[CHI_PGN_NOTES_MAX + 64];
	char text[1 + CHI_PGN_KEPT_MAX + 1]; /* text[0]: the byte before */
};

/* NULL without memory; free() frees it. */
struct chi_pgn_keep *chi_pgn_keep_new(void);

/* In the next four NULL is fine, and nothing is done. */

/* Forgets the last game. */
void chi_pgn_keep_reset(struct chi_pgn_keep *keep);

/* The game's text begins, or goes on after what need not be kept, at `at` in the lexer's window. */
void chi_pgn_keep_begin(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex, const char *at);

/* Keeps a tag's name and value, unless one of its name is there, or it is one that follows from
 * the rest of the game: Result, FEN, SetUp. */
void chi_pgn_keep_tag(struct chi_pgn_keep *keep, const struct chi_pgn_pair *pair);

/* The game ends at `at` in the lexer's window. */
void chi_pgn_keep_end(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex, const char *at);

/* A word of the main line, in the lexer's window, is taken as the move after `ply` others. After
 * `stopped` only the first counts. */
void chi_pgn_keep_word(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex, const char *at,
		       size_t ply, bool stopped);

/* Keeps what the lexer has consumed; before its window moves on. */
void chi_pgn_keep_window(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex);

/* Completes `whole` for a game that is ready to be handed out otherwise. */
void chi_pgn_keep_close(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex,
			const struct chi_pgn_game *game);

/* The second reading: sets notes and rest of `whole` from the kept text. For keep.c. */
void chi_pgn_annotate(struct chi_pgn_keep *keep, const struct chi_pgn_game *game);
