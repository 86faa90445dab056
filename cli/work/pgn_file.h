/* SPDX-License-Identifier: MIT */
/* The games of a PGN file, one after the other. */
#pragma once

#include "chess/pgn/pgn.h"
#include "cli/cli.h"

/* What is done with a game, in `path`. Returns an exit code; anything but EXIT_DONE ends it. */
typedef int pgn_each(void *context, const char *path, const struct chi_pgn_game *game);

/* Calls `each` for every game of a file, packed or not; "-" is standard input. Says of a game that
 * cannot be read to its end where it stops, and what else is wrong; a file without a game is. */
int pgn_file(struct cli *cli, const char *path, struct chi_pgn *pgn, pgn_each *each, void *context);
