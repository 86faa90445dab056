/* SPDX-License-Identifier: MIT */
/* The options that choose games, the same in every command that takes them. */
#pragma once

#include "cli/cli.h"

cli_reader game_name, game_since, game_until, game_range, game_results, game_eco, game_times;

#define GAME_RATING_MAX 9999

/* The words of a list of speeds, ended by NULL. */
extern const char *const game_speeds[];

/* clang-format off */
/* Rows of an option list; `member` of `struct state` is a struct chi_game_filter. */
#define GAME_FILTER_OPTIONS(state, member)                                                         \
	OPTION(state, member.player, game_name, "player", "NAME",                                  \
	       "games: only those of this player, as \"Carlsen, Magnus\""),                        \
	OPTION(state, member.white, game_name, "white", "NAME",                                    \
	       "games: only those that this player has as White"),                                 \
	OPTION(state, member.black, game_name, "black", "NAME",                                    \
	       "games: only those that this player has as Black"),                                 \
	OPTION(state, member.years, game_since, "since", "YEAR",                                   \
	       "games: only those of this year or later"),                                         \
	OPTION(state, member.years, game_until, "until", "YEAR",                                   \
	       "games: only those of this year or earlier"),                                       \
	OPTION_ROW(state, member.rating, game_range, "rating", "A..B",                             \
		   "games: a player's rating is 2600.. or 2400..2500", 1, GAME_RATING_MAX, NULL),  \
	OPTION_ROW(state, member.rating_both, game_range, "rating-both", "A..B",                   \
		   "games: both ratings are", 1, GAME_RATING_MAX, NULL),                           \
	OPTION_ROW(state, member.rating_average, game_range, "rating-average", "A..B",             \
		   "games: the average of both ratings is", 1, GAME_RATING_MAX, NULL),             \
	OPTION(state, member, game_results, "result", "LIST",                                      \
	       "games: ended 1-0, 0-1, 1/2-1/2 or *, several by commas"),                          \
	OPTION(state, member, game_eco, "eco", "A..B",                                             \
	       "games: the opening is B90..B99, B90 or B"),                                        \
	OPTION_ROW(state, member, game_times, "time", "LIST",                                      \
		   "games: bullet, blitz, rapid, classical, correspondence, ultraBullet", 0, 0,    \
		   game_speeds),                                                                   \
	OPTION_ROW(state, member.plies, game_range, "plies", "A..B",                               \
		   "games: they have so many plies, as 20.. or ..100", 1, CHI_PLY_MAX, NULL)

/* Their names, for commands that look which options were given. */
#define GAME_FILTER_NAMES                                                                          \
	"player", "white", "black", "since", "until", "rating", "rating-both", "rating-average",   \
		"result", "eco", "time", "plies"
/* clang-format on */
