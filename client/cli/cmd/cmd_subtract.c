/* SPDX-License-Identifier: MIT */
/* chistore subtract: takes games out of a store again. */
#include "client/cli/command.h"
#include "client/cli/in/pgn_import.h"

enum {
	OPT_VERBOSE = 1,
};

static int option(struct cli *cli, void *state, int id, const char *value)
{
	struct games *games = state;
	if (id == OPT_VERBOSE) {
		games->verbose = true;
		return EXIT_DONE;
	}
	return games_option(cli, games, id, value);
}

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	struct games *games = state;
	_cleanup_(chi_freep) struct chi_source **sources = calloc((size_t)argc, sizeof(*sources));
	if (sources == NULL) {
		cli_message("out of memory");
		return EXIT_STORE;
	}
	games->options.kind = CHI_IMPORT_SUBTRACT;
	return games_run(cli, games, argc, argv, sources);
}

static const struct cli_option options[] = {
	{OPT_MEMORY, "memory", "SIZE", "memory for sorting (default: 512M)"},
	{OPT_THREADS, "threads", "N", "threads that read (default: one a core)"},
	{OPT_VERBOSE, "verbose", NULL, "print every remark, not the first 20 alone"},
	{0, NULL, NULL, NULL},
};

const struct command cmd_subtract = {
	.name = "subtract",
	.arguments = "FILE...",
	.summary = "take the games of PGN files out again",
	.help = "Takes games out that import has counted, as if they had never been there: all of\n"
		"them, or nothing. Games are recognised by players, date, result and moves; those\n"
		"that are not in the store are counted as absent. Files as for import.\n"
		"\n"
		"Games that were imported with --min-games, where positions were dropped, cannot "
		"be\n"
		"taken out again, and are skipped.",
	.example = "chistore -a ./games subtract wrong.pgn",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.state_size = sizeof(struct games),
	.option = option,
	.run = run,
};
