/* SPDX-License-Identifier: MIT */
/* chistore subtract: takes games out of a store again. */
#include "cli/command.h"
#include "cli/games/copy.h"
#include "cli/in/game_terms.h"
#include "cli/in/pgn_import.h"

struct subtract_state {
	struct games games;
	struct game_terms terms;
	bool dry_run;
};

/* Games of the store that fit. */
static int run_filter(struct cli *cli, struct subtract_state *state)
{
	int code = state->terms.n > 0
			   ? game_terms_take(cli, &state->terms)
			   : cli_usage(cli, "say which games: a FILE, or options such as --player");
	if (code == EXIT_DONE) {
		/* As the import opens it: both are in this process. */
		code = cli_open(cli, !state->dry_run, &cli->client);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	return state->dry_run ? game_count(cli, state->terms.text, "would_remove")
			      : game_copy(cli, &state->games, state->terms.text, NULL);
}

static int run_subtract(struct cli *cli)
{
	struct subtract_state *state = cli->state;
	state->games.run.options.kind = CHI_IMPORT_SUBTRACT;
	if (cli->argc == 0) {
		return run_filter(cli, state);
	}
	if (state->dry_run) {
		return cli_usage(cli, "--dry-run says something only without a FILE");
	}
	int code = game_terms_take(cli, &state->terms);
	state->games.run.options.filter = state->terms.text;
	return code == EXIT_DONE ? games_run(cli, &state->games, cli->argc, cli->argv, NULL) : code;
}

static const struct cli_option options[] = {
	OPTION(subtract_state, games.run.options.memory, games_memory, "memory", "SIZE",
	       "memory for sorting (default: 512M)"),
	OPTION_NUMBER(subtract_state, games.threads, 1, GAMES_THREADS_MAX, "threads", "N",
		      "threads that read (default: one per core)"),
	OPTION_FLAG(subtract_state, dry_run, "dry-run", "print only how many games fit"),
	GAME_TERM_OPTIONS(subtract_state, terms),
	OPTION_FLAG(subtract_state, games.verbose, "verbose",
		    "print every remark, not only the first 20"),
	OPTIONS_END,
};

const struct command cmd_subtract = {
	.name = "subtract",
	.arguments = "[FILE...]",
	.summary = "take games out again: those of PGN files, or those that fit",
	.help = "Takes out games that import has counted, as if they had never been there: all of\n"
		"them, or none. Without a FILE these are the games of the store that fit the\n"
		"options; --dry-run tells how many.\n"
		"\n"
		"With FILEs they are the games in these, read as by import, of which the same\n"
		"options choose some, but for those that only a store answers. Games are\n"
		"recognised by players, date, result, start and moves; those that are not in the\n"
		"store are counted as absent.\n"
		"\n"
		"Games imported with --min-games, where positions were dropped, cannot be\n"
		"subtracted, and are skipped.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games subtract wrong.pgn\n"
		   "chistore -a ./games subtract --source wrong --dry-run\n"
		   "chistore -a ./games subtract --until 1899 --not-title GM",
	.options = options,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.state_size = sizeof(struct subtract_state),
	.run = run_subtract,
};
