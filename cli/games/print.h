/* SPDX-License-Identifier: MIT */
/* Games of the store on standard output: tab-separated rows, or JSON. */
#pragma once

#include "cli/out/columns.h"

/* Columns of rows, for the help. */
#define GAMES_COLUMNS                                                                              \
	"game, white, black, result, date, event, site, round, eco,\n"                             \
	"white_elo, black_elo, plies, ply, source"

/* A list of them. */
struct cli_rows games_rows(const struct cli *cli);

/* The plan of a query that was asked to explain itself, after its end. */
void games_print_plan(const struct cli *cli, struct chi_rows *query);

/* The whole of it in JSON: the row's members, tags, start if it is not the initial position, moves
 * in SAN, PGN. -CHI_EKEY, -CHI_EMOVE: moves that fit no position. */
CHI_MUSTUSE int games_whole(const struct chi_game_row *row, const struct chi_game *game,
			    json_t **out);
