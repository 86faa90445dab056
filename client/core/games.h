/* SPDX-License-Identifier: MIT */
/* A query of games on its way: what its public calls (client/games.c) share with both backends. */
#pragma once

#include "client/core/client.h"

struct chi_games;

struct chi_game_query {
	struct chi_client *client;
	struct chi_game_spec spec; /* position and cursor are NULL: they are in these two: */
	char *filter;
	char cursor[CHI_GAMES_CURSOR_SIZE]; /* after the row delivered last */
	struct chi_game_row row;
	int status; /* CHI_OK: there is more */
	bool has_total;
	uint64_t total;
	/* In-process. */
	struct chi_read *read;
	struct chi_games *games;
	/* Remote. */
	struct chi_stream stream;
	const struct chi_game_row *rows; /* of the response at hand */
	size_t n;
	size_t at;
	bool last; /* it is the last one */
	uint64_t delivered;
};
