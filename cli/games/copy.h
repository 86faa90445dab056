/* SPDX-License-Identifier: MIT */
/* Games of a store that fit a filter as the input of an import: into another store, or to be taken
 * out of their own. */
#pragma once

#include "cli/cli.h"
#include "cli/in/pgn_import.h"

/*
 * Reads games of cli->client, in the order of their numbers, and has them imported as
 * games->run.options say. `address`: where to; NULL: the same store. Prints the summary.
 */
int game_copy(struct cli *cli, struct games *games, const char *filter, const char *address);

/* Takes the games of these numbers, `n` of them, out of the store of cli->client. Those that are
 * not there any more are left out. Prints the summary. */
int game_take_out(struct cli *cli, struct games *games, const uint32_t *numbers, size_t n);

/* How many games fit, printed as the summary of a dry run. */
int game_count(struct cli *cli, const char *filter, const char *name);
