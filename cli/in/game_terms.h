/* SPDX-License-Identifier: MIT */
/*
 * Options that choose games of a store, the same in every command that takes them: an option is a
 * term of the language of filters (chistore(1), "Filters of games"), so that what the terms mean
 * is known in one place, where the games are. Each may be written --not-NAME, for its opposite.
 */
#pragma once

#include "cli/cli.h"
#include "cli/in/game_filter.h"
#include "formats/filter_text.h"

/* Options of a command line. */
#define GAME_TERMS_MAX 64

/* A member of a command's state, zeroed at the start. */
struct game_terms {
	struct chi_filter_term term[GAME_TERMS_MAX];
	size_t n;
	char text[CHI_FILTER_TEXT_SIZE]; /* the filter, after game_terms_take; "": all games */
};

/* Makes the text, and reads it as a filter. Says what is wrong, and with which option. */
int game_terms_take(struct cli *cli, struct game_terms *terms);

/* After the answer: says on standard error which names no name in the store fits, as a filter with
 * a wrong name looks like one that no game fits. */
void game_terms_remark(const struct cli *cli);

/* The same as a filter of games that are read from files, which knows fewer terms. */
int game_terms_of_files(struct cli *cli, const struct game_terms *terms,
			struct chi_game_filter *out);

cli_reader game_term_take, game_term_deny, game_term_side, game_term_deny_side, game_term_opponent;

/* What a command that takes them says of them in its help. */
#define GAME_TERMS_HELP                                                                            \
	"All that is asked of the games must hold; --not-OPTION asks for the opposite of\n"        \
	"one: --not-player, --not-result. --white and --black without a name go with the\n"        \
	"--player before them. What is asked of boards (--has and so on) must hold of one\n"       \
	"position of the game together. chistore(1) has the forms of all values."

/* clang-format off */
#define GAME_TERM_ROW(state, member, take, deny, name, arg, help)                                  \
	{name, arg, help, take, offsetof(struct state, member), 0, 0, NULL, deny}
#define GAME_TERM(state, member, name, arg, help)                                                  \
	GAME_TERM_ROW(state, member, game_term_take, game_term_deny, name, arg, help)

/* Rows of an option list; `member` of `struct state` is a struct game_terms. What columns tell: */
#define GAME_HEAD_OPTIONS(state, member)                                                           \
	GAME_TERM(state, member, "player", "NAME",                                                 \
		  "games of this player, as \"Carlsen, Magnus\""),                                 \
	GAME_TERM_ROW(state, member, game_term_side, game_term_deny_side, "white", "[NAME]",       \
		      "... as White; with a name: games that this player has as White"),           \
	GAME_TERM_ROW(state, member, game_term_side, game_term_deny_side, "black", "[NAME]",       \
		      "the same of Black"),                                                        \
	GAME_TERM_ROW(state, member, game_term_opponent, NULL, "opponent", "NAME",                 \
		      "... against this one"),                                                     \
	GAME_TERM(state, member, "event", "TEXT", "all these words are in the event's name"),      \
	GAME_TERM(state, member, "site", "TEXT", "the same of the site"),                          \
	GAME_TERM(state, member, "source", "TEXT", "the same of where the games came from"),       \
	GAME_TERM(state, member, "since", "DATE", "on this day or later; or 2015-06, or 2015"),    \
	GAME_TERM(state, member, "until", "DATE", "on this day or earlier"),                       \
	GAME_TERM(state, member, "year", "A..B", "in these years"),                                \
	GAME_TERM(state, member, "number", "A..B", "of these numbers in the store"),               \
	GAME_TERM(state, member, "rating", "A..B", "a player's rating is 2600.. or 2400..2500"),   \
	GAME_TERM(state, member, "both", "A..B", "both ratings are"),                              \
	GAME_TERM(state, member, "average", "A..B", "the average of both ratings is"),             \
	GAME_TERM(state, member, "elo-white", "A..B", "White's rating is"),                        \
	GAME_TERM(state, member, "elo-black", "A..B", "Black's rating is"),                        \
	GAME_TERM(state, member, "eco", "A..B", "the opening is B90..B99, B90 or B"),              \
	GAME_TERM(state, member, "result", "LIST",                                                 \
		  "ended 1-0, 0-1, 1/2-1/2 or *, several by commas"),                              \
	GAME_TERM(state, member, "length", "A..B", "so many moves long"),                          \
	GAME_TERM(state, member, "plies", "A..B", "so many plies long"),                           \
	{"speed", "LIST", "bullet, blitz, rapid, classical, correspondence, ultraBullet",          \
	 game_term_take, offsetof(struct state, member), 0, 0, game_speeds, game_term_deny},       \
	GAME_TERM(state, member, "title", "LIST", "a player's title is GM, IM, ..."),              \
	GAME_TERM(state, member, "in", "NAME", "in this gameset"),                                 \
	GAME_TERM(state, member, "gameset", "NAME", "the same"),                                   \
	GAME_TERM_ROW(state, member, game_term_take, NULL, "filter", "TEXT",                       \
		      "what this filter says, in its language")

/* ... and what is looked for on the boards. */
#define GAME_BOARD_OPTIONS(state, member)                                                          \
	GAME_TERM(state, member, "position", "FEN", "games that reached this position"),           \
	GAME_TERM(state, member, "moves", "LINE",                                                  \
		  "games that reached the position after \"e4 c5 Nf3\""),                          \
	GAME_TERM(state, member, "has", "TEXT", "a board with \"Nd5 kg8 .e6 !Pc4\""),              \
	GAME_TERM(state, member, "fen-part", "TEXT", "a board that fits this part of a FEN"),      \
	GAME_TERM(state, member, "pawns", "TEXT", "a board with this pawn skeleton"),              \
	GAME_TERM(state, member, "material", "TEXT", "a board with KRPvKR, or P=5..8"),            \
	GAME_TERM(state, member, "balance", "TEXT", "a board with \"Q v RR\""),                    \
	GAME_TERM(state, member, "endgame", "NAME", "an endgame of this family"),                  \
	GAME_TERM_ROW(state, member, game_term_take, NULL, "to-move", "white|black",                     \
		      "... white or black is to move there"),                                      \
	GAME_TERM_ROW(state, member, game_term_take, NULL, "mirror", NULL,                         \
		      "... or its mirror image, the a-file as the h-file"),                        \
	GAME_TERM_ROW(state, member, game_term_take, NULL, "either-colour", NULL,                  \
		      "... or the same with colours exchanged")

#define GAME_TERM_OPTIONS(state, member)                                                           \
	GAME_HEAD_OPTIONS(state, member), GAME_BOARD_OPTIONS(state, member)
/* clang-format on */
