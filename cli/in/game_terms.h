/* SPDX-License-Identifier: MIT */
/*
 * Options that choose games of a store, the same in every command that takes them: an option is a
 * term of the language of filters (chistore-filters(7)), so that what the terms mean
 * is known in one place, where the games are. Each may be written --not-NAME, for its opposite.
 */
#pragma once

#include "cli/cli.h"
#include "chess/pgn/speed.h"
#include "formats/filter_text.h"

/* Options of a command line. */
#define GAME_TERMS_MAX 64

/* A member of a command's state, zeroed at the start. */
struct game_terms {
	struct chi_filter_term term[GAME_TERMS_MAX];
	size_t n;
	bool of_player;	  /* an argument names the player: --white and --black take no name, */
	const char *side; /* and this is which of them was given, or "both"; NULL: none */
	char text[CHI_FILTER_TEXT_SIZE]; /* the filter, after game_terms_take; "": all games */
};

/* Makes the text, and reads it as a filter. Says what is wrong, and with which option. */
int game_terms_take(struct cli *cli, struct game_terms *terms);

/* After the answer: says on standard error which names no name in the store fits, as a filter with
 * a wrong name looks like one that no game fits. */
void game_terms_remark(const struct cli *cli);

cli_reader game_term_take, game_term_deny;

/* What a command that takes them says of them in its help. */
#define GAME_TERMS_HELP                                                                            \
	"All that is asked of the games must hold; --not-OPTION asks for the opposite of\n"        \
	"one: --not-player, --not-result. --white and --black without a name go with the\n"        \
	"--player before them. What is asked of boards (--has and so on) must hold of one\n"       \
	"position of the game together. chistore-filters(7) has the forms of all values."

/* clang-format off */
#define GAME_DENY_HEAD	   game_term_deny
#define GAME_DENY_SPEED	   game_term_deny
#define GAME_DENY_LINE	   game_term_deny
#define GAME_DENY_BOARD	   game_term_deny
#define GAME_DENY_MOVER	   NULL
#define GAME_DENY_FLAG	   NULL
#define GAME_DENY_SIDE	   game_term_deny
#define GAME_DENY_OPPONENT NULL
#define GAME_DENY_RAW	   NULL
#define GAME_TERM(state, member, kind, name, arg, help)                                            \
	{name, arg, help, game_term_take, offsetof(struct state, member), CHI_FILTER_##kind, 0,    \
	 CHI_FILTER_##kind == CHI_FILTER_SPEED ? chi_speed_names + 1 : NULL, GAME_DENY_##kind}

/* Rows of an option list; `member` of `struct state` is a struct game_terms. What tags and moves
 * tell, what columns of the store tell too, and what is looked for on the boards. */
#define GAME_TAG_OPTIONS(state, member)	  CHI_FILTER_TAGS(GAME_TERM, state, member)
#define GAME_HEAD_OPTIONS(state, member)                                                           \
	GAME_TAG_OPTIONS(state, member), CHI_FILTER_STORED(GAME_TERM, state, member)
#define GAME_BOARD_OPTIONS(state, member) CHI_FILTER_BOARDS(GAME_TERM, state, member)
#define GAME_TERM_OPTIONS(state, member)                                                           \
	GAME_HEAD_OPTIONS(state, member), GAME_BOARD_OPTIONS(state, member)
/* clang-format on */
