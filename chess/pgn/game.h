/* SPDX-License-Identifier: MIT */
/* A game as the PGN reader delivers it: its tags, result and moves, how they end, and the limits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

/* Limits. A game with more text is delivered without moves, as CHI_PGN_TOO_LONG; one with more
 * plies is cut there. */
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
	CHI_PGN_LINK,
	CHI_PGN_GAME_ID,
	CHI_PGN_ANNOTATOR,
	CHI_PGN_SETUP,
	CHI_PGN_FEN,
	CHI_PGN_VARIANT,
	CHI_PGN_TAGS, /* number of kinds; also "any other" */
};

/* How the delivered moves end. */
enum chi_pgn_end {
	CHI_PGN_COMPLETE,    /* all moves of the game are there */
	CHI_PGN_NULL_MOVE,   /* before a null move: what follows is no game of chess */
	CHI_PGN_ILLEGAL,     /* before a move that no rule allows */
	CHI_PGN_AMBIGUOUS,   /* before a text that fits several legal moves, more than one of which
				or none lets the rest of the game be legal */
	CHI_PGN_UNREADABLE,  /* before a text that is no move */
	CHI_PGN_UNCLOSED,    /* before a comment or a variation without end */
	CHI_PGN_MANY_PLIES,  /* after CHI_PGN_PLIES_MAX moves */
	CHI_PGN_TOO_LONG,    /* more text than CHI_PGN_GAME_MAX: no moves are delivered */
	CHI_PGN_BAD_START,   /* the FEN tag cannot be read: no moves */
	CHI_PGN_NO_START,    /* Chess960 without a FEN tag: no moves */
	CHI_PGN_OTHER_RULES, /* a variant other than chess and Chess960: no moves */
	CHI_PGN_LONG_TAG,    /* a tag that tells it from others is longer than CHI_PGN_VALUE_MAX,
				so that two games would be one: no moves */
	CHI_PGN_ENDS,	     /* number of kinds */
};

/* NUL-terminated UTF-8 without control characters, no blanks at its ends; NULL without the tag. */
struct chi_pgn_span {
	const char *text;
	size_t len;
};

/* A comment of the main line; not NUL-terminated. */
struct chi_pgn_comment {
	size_t ply; /* so many moves come before it; may be over the game's `n_plies` */
	const char *text;
	size_t len; /* 1 or more */
};

/* Limits of what is kept of a whole game; what is over them is left out, and counted. */
#define CHI_PGN_ALL_TAGS_MAX   256
#define CHI_PGN_ALL_VALUES_MAX (256u << 10) /* bytes of names and values */
#define CHI_PGN_NAME_MAX       255
#define CHI_PGN_LONG_VALUE_MAX 8000	  /* as escaped text it fits in a line */
#define CHI_PGN_NOTES_MAX      (1u << 20) /* bytes */
#define CHI_PGN_REST_MAX       (64u << 10)

/* A tag of any name. */
struct chi_pgn_named {
	enum chi_pgn_tag tag;	   /* CHI_PGN_TAGS: none of those */
	struct chi_pgn_span name;  /* as the game writes it */
	struct chi_pgn_span value; /* as in chi_pgn_game.tags, but longer */
};

/* All that a game's text says beside its moves and result; see chi_pgn_keep_all. */
struct chi_pgn_whole {
	/* In the text's order, the first of each name; without Result, FEN and SetUp. */
	const struct chi_pgn_named *tags;
	size_t n_tags;
	/* Comments, NAGs and variations, as chess/pgn/notes.h has them. */
	const uint8_t *notes;
	size_t n_notes;
	/*
	 * The movetext from the first move that could not be read to the game's end, without the
	 * result: UTF-8, no blanks at its ends, every comment and variation in it closed. After the
	 * moves, a blank before it and a line feed after it, it reads again as it is.
	 */
	const char *rest;
	size_t n_rest;
	/* What was left out. */
	uint32_t lost_tags;  /* left out, or their values cut */
	uint64_t lost_notes; /* comments, NAGs, moves, variations left out or cut */
	uint64_t
		lost_text; /* bytes of the game's text that were not looked at for notes and rest */
	bool rest_cut;
};

#define CHI_PGN_TEXT_SIZE 32

struct chi_pgn_game {
	/* Of several tags of one name the first counts. */
	struct chi_pgn_span tags[CHI_PGN_TAGS];
	/*
	 * OTHER: "*", none at all, or one that is not clear. From the Result tag, or, where that is
	 * no win and no draw, from the text after the moves (`said`). Where the two name different
	 * results, `results_differ`, the tag wins: it is what databases list and correct, and what
	 * other readers take. "0-0" after the moves is no result if castling is not legal there and
	 * the tag says the same.
	 */
	enum chi_result result;
	enum chi_result said;
	bool results_differ;
	uint64_t said_line; /* of that text, or where the game ends without one */
	enum chi_pgn_end end;
	bool has_tags;
	/* Moves of the main line, each legal; positions[0] is the start, positions[i + 1] that
	 * after moves[i]. n_plies + 1 positions, always. */
	size_t n_plies;
	const chi_move *moves;
	const struct chi_position *positions;
	/* If chi_pgn_keep_comments was called, and memory for them was not used up. */
	const struct chi_pgn_comment *comments;
	size_t n_comments;
	const struct chi_pgn_whole *whole; /* NULL without chi_pgn_keep_all */
	uint64_t number;		   /* of the game, from 1 */
	uint64_t offset;		   /* of its first byte in the input */
	uint64_t line;			   /* of its first byte, from 1 */
	/* With an `end` other than COMPLETE: where, and the text that was not taken (cut, strange
	 * bytes as '?'), which of comment and variation, or "". */
	uint64_t end_line;
	char end_text[CHI_PGN_TEXT_SIZE];
};
