/* SPDX-License-Identifier: MIT */
/*
 * Options that choose games, by their names on the command line, to the text of a filter in the
 * language of chistore-filters(7). What terms mean is not known here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chistore/types.h"

/* How an option, or a parameter, becomes a term. */
enum chi_filter_kind {
	CHI_FILTER_HEAD = 1, /* of games */
	CHI_FILTER_SPEED,    /* the same, with the words of chi_speed_names */
	CHI_FILTER_LINE,     /* the same, by what was on their boards */
	CHI_FILTER_BOARD,    /* of one position */
	CHI_FILTER_FLAG,     /* the same, without a value */
	CHI_FILTER_MOVER,    /* the same, a colour */
	CHI_FILTER_SIDE,     /* a flag of the player before, or a player */
	CHI_FILTER_OPPONENT, /* of the player before */
	CHI_FILTER_RAW,	     /* has no opposite */
};

/*
 * The one table of options, X(a, b, kind, name, value, help) each: those that a game's tags and
 * moves answer, those that need a store, and those of boards. A new term of the language has a row
 * here, and so is an option of commands, a parameter of HTTP, and completed by shells.
 */
/* clang-format off */
#define CHI_FILTER_TAGS(X, a, b)                                                                   \
	X(a, b, HEAD, "player", "NAME", "games of this player, as \"Carlsen, Magnus\""),           \
	X(a, b, SIDE, "white", "[NAME]",                                                           \
	  "... as White; with a name: games that this player has as White"),                       \
	X(a, b, SIDE, "black", "[NAME]", "the same of Black"),                                     \
	X(a, b, OPPONENT, "opponent", "NAME", "... against this one"),                             \
	X(a, b, HEAD, "event", "TEXT", "all these words are in the event's name"),                 \
	X(a, b, HEAD, "site", "TEXT", "the same of the site"),                                     \
	X(a, b, HEAD, "since", "DATE", "on this day or later; or 2015-06, or 2015"),               \
	X(a, b, HEAD, "until", "DATE", "on this day or earlier"),                                  \
	X(a, b, HEAD, "year", "A..B", "in these years"),                                           \
	X(a, b, HEAD, "rating", "A..B", "a player's rating is 2600.. or 2400..2500"),              \
	X(a, b, HEAD, "both", "A..B", "both ratings are"),                                         \
	X(a, b, HEAD, "average", "A..B", "the average of both ratings is"),                        \
	X(a, b, HEAD, "elo-white", "A..B", "White's rating is"),                                   \
	X(a, b, HEAD, "elo-black", "A..B", "Black's rating is"),                                   \
	X(a, b, HEAD, "eco", "A..B", "the opening is B90..B99, B90 or B"),                         \
	X(a, b, HEAD, "result", "LIST", "ended 1-0, 0-1, 1/2-1/2 or *, several by commas"),        \
	X(a, b, HEAD, "length", "A..B", "so many moves long"),                                     \
	X(a, b, HEAD, "plies", "A..B", "so many plies long"),                                      \
	X(a, b, SPEED, "speed", "LIST",                                                            \
	  "bullet, blitz, rapid, classical, correspondence, ultraBullet"),                         \
	X(a, b, HEAD, "title", "LIST", "a player's title is GM, IM, ..."),                         \
	X(a, b, RAW, "filter", "TEXT", "what this filter says, in its language")

#define CHI_FILTER_STORED(X, a, b)                                                                 \
	X(a, b, HEAD, "source", "TEXT", "all these words are in the name of where they came from"),\
	X(a, b, HEAD, "number", "A..B", "of these numbers in the store"),                          \
	X(a, b, HEAD, "in", "NAME", "in this gameset"),                                            \
	X(a, b, HEAD, "gameset", "NAME", "the same")

#define CHI_FILTER_BOARDS(X, a, b)                                                                 \
	X(a, b, LINE, "position", "FEN", "games that reached this position"),                      \
	X(a, b, LINE, "moves", "LINE", "games that reached the position after \"e4 c5 Nf3\""),     \
	X(a, b, BOARD, "has", "TEXT", "a board with \"Nd5 kg8 .e6 !Pc4\""),                        \
	X(a, b, BOARD, "fen-part", "TEXT", "a board that fits this part of a FEN"),                \
	X(a, b, BOARD, "pawns", "TEXT", "a board with this pawn skeleton"),                        \
	X(a, b, BOARD, "material", "TEXT", "a board with KRPvKR, or P=5..8"),                      \
	X(a, b, BOARD, "balance", "TEXT", "a board with \"Q v RR\""),                              \
	X(a, b, BOARD, "endgame", "NAME", "an endgame of this family"),                            \
	X(a, b, MOVER, "to-move", "white|black", "... white or black is to move there"),           \
	X(a, b, FLAG, "mirror", NULL, "... or its mirror image, the a-file as the h-file"),        \
	X(a, b, FLAG, "either-colour", NULL, "... or the same with colours exchanged")
/* clang-format on */

struct chi_filter_name {
	const char *name;
	enum chi_filter_kind kind;
};
/* All of them; ended by NULL. */
extern const struct chi_filter_name chi_filter_names[];

/* 0: there is none of that name. */
enum chi_filter_kind chi_filter_kind_of(const char *name);

static inline bool chi_filter_is_board(enum chi_filter_kind kind)
{
	return kind == CHI_FILTER_BOARD || kind == CHI_FILTER_FLAG || kind == CHI_FILTER_MOVER;
}

/* Bytes of a filter's text made of options, with its NUL; the store takes fewer. */
#define CHI_FILTER_TEXT_SIZE 8192

/* An option as it was given. The texts are the caller's. */
struct chi_filter_term {
	const char *name;
	const char *value;    /* NULL: it takes none */
	const char *opponent; /* of a player; NULL: any */
	const char *side;     /* the same */
	bool negated;
	size_t at; /* set: where it begins in the text */
};

/* What an option is called in the language. */
const char *chi_filter_word(const char *name);

/* NUL-terminated; "" of no terms. -CHI_ETOOBIG: it does not fit. */
CHI_MUSTUSE int chi_filter_text(struct chi_filter_term *terms, size_t n, char *out, size_t size);
