/* SPDX-License-Identifier: MIT */
/* chistore subtract: takes games out of a store again. */
#include "client/cli/command.h"
#include "client/cli/in/game_filter.h"
#include "client/cli/in/pgn_import.h"

static int run(struct cli *cli)
{
	struct games *games = cli->state;
	games->options.kind = CHI_IMPORT_SUBTRACT;
	return games_run(cli, games, cli->argc, cli->argv, NULL);
}

static const struct cli_option options[] = {
	OPTION(games, options.memory, games_memory, "memory", "SIZE",
	       "memory for sorting (default: 512M)"),
	OPTION_NUMBER(games, threads, 1, GAMES_THREADS_MAX, "threads", "N",
		      "threads that read (default: one per core)"),
	GAME_FILTER_OPTIONS(games, options.filter),
	OPTION_FLAG(games, verbose, "verbose", "print every remark, not only the first 20"),
	OPTIONS_END,
};

const struct command cmd_subtract = {
	.name = "subtract",
	.arguments = "FILE...",
	.summary = "take the games of PGN files out again",
	.help = "Takes out games that import has counted, as if they had never been there: all of\n"
		"them, or none. Games are recognised by players, date, result, start and moves;\n"
		"those that are not in the store are counted as absent. Files are read as by\n"
		"import.\n"
		"\n"
		"Games imported with --min-games, where positions were dropped, cannot be\n"
		"subtracted, and are skipped.",
	.example = "chistore -a ./games subtract wrong.pgn",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.state_size = sizeof(struct games),
	.run = run,
};
