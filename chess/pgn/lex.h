/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a PGN file as tokens: tags, and the words of the main line. Comments, variations,
 * move numbers, annotation marks and escaped lines are read over here. Holds a window of the
 * input, never more. Comments of the main line are tokens where they are wanted; over a text that
 * is all in memory, so is everything else (`rich`). Internal to the PGN reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/pgn/game.h"

/* Bytes of a line that begins with a tag, and characters of a word; what is longer is taken as far
 * as it goes. The window holds several of the longest. */
#define CHI_PGN_LINE_MAX 16384
#define CHI_PGN_WORD_MAX 255
#define CHI_PGN_WINDOW	 (128 << 10)

/* Bytes of a comment; what is longer is cut between two words. */
#define CHI_PGN_COMMENT_MAX 8191

enum chi_pgn_token_kind {
	CHI_PGN_TOKEN_NONE,	/* the window is used up */
	CHI_PGN_TOKEN_TAG,	/* text: from '[' to the line's end; not consumed */
	CHI_PGN_TOKEN_WORD,	/* a move, a result, or anything else; consumed */
	CHI_PGN_TOKEN_COMMENT,	/* in braces, in the main line, without them; consumed */
	CHI_PGN_TOKEN_UNCLOSED, /* a comment or variation had no end; text says which */
	/* Only of a rich lexer, as are words inside variations. */
	CHI_PGN_TOKEN_OPEN,  /* a variation begins; `depth` counts it */
	CHI_PGN_TOKEN_CLOSE, /* those beyond `depth` end, perhaps none */
	CHI_PGN_TOKEN_NAG,   /* the number after '$', or a run of '!' and '?' */
};

struct chi_pgn_token {
	enum chi_pgn_token_kind kind;
	bool high;  /* a word with bytes beyond ASCII */
	bool first; /* a word after the move number 1 */
	const char *text;
	size_t len;
};

/* chi_pgn_boundary's guarantee rests on these two. */
enum chi_pgn_line {
	CHI_PGN_LINE_BLANK, /* nothing but blanks so far */
	CHI_PGN_LINE_TAG,   /* its first byte that is not blank is '[', outside of comments */
	CHI_PGN_LINE_TEXT,  /* anything else */
};
enum chi_pgn_gap {
	CHI_PGN_GAP_BLANK = 1, /* a line without anything */
	CHI_PGN_GAP_TEXT = 2,  /* any byte that is neither blank nor of a tag; or the tag itself
				  stood on a line that began with such a byte */
};

struct chi_pgn_lex {
	char *at;  /* first byte not consumed; at[-1] is the byte before it */
	char *end; /* *end is 0 */
	bool final;
	bool begun;	  /* the start of the input has been looked at */
	bool in_comment;  /* between braces */
	bool in_line;	  /* in a comment up to the line's end */
	uint8_t line;	  /* enum chi_pgn_line: how the current line began */
	uint8_t gap;	  /* enum chi_pgn_gap, or'ed: what was read since the last tag */
	bool first;	  /* the number 1 was read, and no word since */
	bool rich;	  /* all is in memory; every kind of token is wanted */
	bool notes;	  /* anything but tags and words was read: for the caller to clear */
	bool square;	  /* the variation began with '[' and a move number: it ends with ']' */
	bool comments;	  /* are wanted */
	uint32_t depth;	  /* of variations */
	size_t n_comment; /* bytes of `comment` */
	uint64_t lines;	  /* line feeds consumed */
	uint64_t dropped; /* bytes of the input before window[1] */
	char window[1 + CHI_PGN_WINDOW + 1];
	char comment[CHI_PGN_COMMENT_MAX + 1]; /* that being read, or read last */
};

void chi_pgn_lex_init(struct chi_pgn_lex *lex);

/*
 * Makes the lexer a rich one over text[0..len), which must live as long; text[len] is 0 and
 * text[-1] the byte before. A comment's text is there whole, in the text; without its brace at the
 * end it goes on to the text's end, and `in_comment` tells.
 */
void chi_pgn_lex_over(struct chi_pgn_lex *lex, char *text, size_t len);

/* As chi_pgn_feed. */
size_t chi_pgn_lex_feed(struct chi_pgn_lex *lex, const void *bytes, size_t len);

/* Offset in the input of the first byte not consumed. */
static inline uint64_t chi_pgn_lex_offset(const struct chi_pgn_lex *lex)
{
	return lex->dropped + (uint64_t)(lex->at - (lex->window + 1));
}

/* Finds the next token; its text is valid until more bytes are fed. */
void chi_pgn_lex_next(struct chi_pgn_lex *lex, struct chi_pgn_token *out);

/* Makes the word just found the next token again. */
static inline void chi_pgn_lex_unread(struct chi_pgn_lex *lex, const struct chi_pgn_token *word)
{
	lex->at -= word->len;
	lex->first = word->first;
}

/* Consumes `len` bytes of the tag token just found; `gap` starts again. */
void chi_pgn_lex_take(struct chi_pgn_lex *lex, const struct chi_pgn_token *tag, size_t len);
