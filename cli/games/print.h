/* SPDX-License-Identifier: MIT */
/* Games of the store on standard output: tab-separated rows, or JSON. */
#pragma once

#include <jansson.h>

#include "cli/cli.h"

/* Columns of rows, for the help. */
#define GAMES_COLUMNS                                                                              \
	"game, white, black, result, date, event, site, round, eco,\n"                             \
	"white_elo, black_elo, plies, ply, source"

/* The row's members, to which others can be added. NULL: out of memory. */
json_t *games_object(const struct chi_game_row *row);

/* output_table_end of a table of these. */
void games_end(const struct cli *cli, bool head);

/* The whole of it in JSON: the row's members, tags, start if it is not the initial position, moves
 * in SAN, PGN. -CHI_EKEY, -CHI_EMOVE: moves that fit no position. */
CHI_MUSTUSE int games_whole(const struct chi_game_row *row, const struct chi_game *game,
			    json_t **out);
