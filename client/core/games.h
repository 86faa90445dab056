/* SPDX-License-Identifier: MIT */
/* A query of games on its way. */
#pragma once

#include "client/core/rows.h"

struct chi_game_query {
	struct chi_client *client;
	struct chi_rows rows;
	struct chi_game_row row;
	uint8_t sort; /* of the spec: for cursors */
	bool descending;
	int status;			    /* CHI_OK: there is more */
	char cursor[CHI_GAMES_CURSOR_SIZE]; /* after the row delivered last */
};
