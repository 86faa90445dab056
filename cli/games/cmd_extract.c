/* SPDX-License-Identifier: MIT */
/* chistore extract: a new store with some games of another. */
#include <string.h>

#include "cli/command.h"
#include "cli/games/copy.h"
#include "cli/in/game_terms.h"

struct extract_state {
	struct games games;
	struct game_terms terms;
};

/* The new store holds what this one does. */
static int find_statistic(struct cli *cli, struct games *games)
{
	struct chi_info info;
	int status = chi_store_info(cli->client, &info);
	games->run.create = (enum chi_statistic)info.statistic;
	return status == CHI_OK ? EXIT_DONE : cli_fail(cli->client, status);
}

/* Games would be added to a store that is there. */
static int check_new(struct cli *cli, const char *path)
{
	struct chi_client *client = NULL;
	struct chi_fault fault = {.text = ""};
	int status = chi_open(path, NULL, &client, &fault);
	chi_close(client);
	if (status == CHI_OK) {
		return cli_usage(cli, "%s: there is a store already", path);
	}
	return status == -CHI_ENOSTORE ? EXIT_DONE : cli_fault(status, &fault);
}

static int run_extract(struct cli *cli)
{
	struct extract_state *state = cli->state;
	state->games.run.options.kind = CHI_IMPORT_ADD;
	int code = game_terms_take(cli, &state->terms);
	if (code == EXIT_DONE) {
		code = check_new(cli, cli->argv[0]);
	}
	if (code == EXIT_DONE) {
		code = find_statistic(cli, &state->games);
	}
	return code == EXIT_DONE ? game_copy(cli, &state->games, state->terms.text, cli->argv[0])
				 : code;
}

static const struct cli_option options[] = {
	GAME_TERM_OPTIONS(extract_state, terms),
	OPTION(extract_state, games.run.options.memory, games_memory, "memory", "SIZE",
	       "memory for sorting (default: 512M)"),
	OPTION_NUMBER(extract_state, games.threads, 1, GAMES_THREADS_MAX, "threads", "N",
		      "threads that read (default: one per core)"),
	OPTION_FLAG(extract_state, games.verbose, "verbose",
		    "print every remark, not only the first 20"),
	OPTIONS_END,
};

const struct command cmd_extract = {
	.name = "extract",
	.arguments = "DIR",
	.summary = "make a new store of the games that fit",
	.help = "Makes a store in DIR with the games that fit, or with all: their positions are\n"
		"counted as if only these had been imported, in the order of their numbers, with\n"
		"the same statistic. What was put without games is not copied.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games extract --player Velan ./velan",
	.options = options,
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct extract_state),
	.run = run_extract,
};
