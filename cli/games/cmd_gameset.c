/* SPDX-License-Identifier: MIT */
/* chistore gameset: filters of games with a name. */
#include <string.h>

#include "cli/command.h"
#include "cli/in/game_terms.h"
#include "cli/out/columns.h"
#include "cli/out/output.h"

struct gameset_state {
	struct game_terms terms;
};

static int run_create(struct cli *cli)
{
	struct gameset_state *state = cli->state;
	uint64_t games = 0;
	int code = game_terms_take(cli, &state->terms);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_gameset_make(cli->client, cli->argv[1], state->terms.text, &games);
	if (status != CHI_OK) {
		code = cli_fail(cli->client, status);
		return status == -CHI_EEXIST ? EXIT_USAGE : code;
	}
	return output_object(cli, json_pack("{s:o}", "games", json_count(games)));
}

static const struct chi_row_column columns[] = {
	COLUMN(SHOW_TEXT, struct chi_gameset_row, name, "name"),
	COLUMN(SHOW_COUNT, struct chi_gameset_row, games, "games"),
	COLUMN(SHOW_COUNT, struct chi_gameset_row, upto, "upto"),
	COLUMN(SHOW_COUNT, struct chi_gameset_row, bytes, "bytes"),
	COLUMN(SHOW_TEXT, struct chi_gameset_row, filter, "filter"),
};

static int run_list(struct cli *cli)
{
	struct chi_gamesets sets;
	struct cli_rows rows = ROWS_OF(cli, columns);
	int status = chi_gamesets_list(cli->client, NULL, &sets);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	for (size_t i = 0; i < sets.n; i++) {
		rows_print(&rows, &sets.rows[i]);
	}
	rows_head(&rows);
	return EXIT_DONE;
}

/* Of one that is not there no more is to be said than that. */
static int missing(const struct cli *cli)
{
	cli_message("there is no gameset '%s'", cli->argv[1]);
	return EXIT_NOT_FOUND;
}

static int run_show(struct cli *cli)
{
	struct chi_gamesets sets;
	int status = chi_gamesets_list(cli->client, cli->argv[1], &sets);
	if (status == CHI_NONE) {
		return missing(cli);
	}
	return status != CHI_OK ? cli_fail(cli->client, status)
				: output_object(cli, columns_object(columns, CHI_COUNT(columns),
								    &sets.rows[0]));
}

static int run_drop(struct cli *cli)
{
	int status = chi_gameset_drop(cli->client, cli->argv[1]);
	if (status == CHI_NONE) {
		return missing(cli);
	}
	return status != CHI_OK ? cli_fail(cli->client, status) : EXIT_DONE;
}

static const struct verb verbs[] = {
	{"create", "a NAME", 1, true, run_create},
	{"list", NULL, 0, false, run_list},
	{"show", "a NAME", 1, false, run_show},
	{"drop", "a NAME", 1, true, run_drop},
};

static int run_gameset(struct cli *cli)
{
	const struct gameset_state *state = cli->state;
	const struct verb *verb = NULL;
	int code = verb_find(cli, verbs, CHI_COUNT(verbs), &verb);
	if (code != EXIT_DONE) {
		return code;
	}
	if (state->terms.n > 0 && verb->run != run_create) {
		return cli_usage(cli, "gameset %s takes no options that choose games", verb->name);
	}
	code = cli_open(cli, verb->writes, &cli->client);
	return code == EXIT_DONE ? verb->run(cli) : code;
}

static const struct cli_option options[] = {
	GAME_TERM_OPTIONS(gameset_state, terms),
	OPTIONS_END,
};

const struct command cmd_gameset = {
	.name = "gameset",
	.arguments = "create NAME|list|show NAME|drop NAME",
	.summary = "give a filter of games a name",
	.help = "create names the games that fit the options; --in NAME then asks for them in\n"
		"every command that chooses games, --not-in NAME for the others. A gameset always\n"
		"has what its filter fits: games that are imported or taken out later, and names\n"
		"that are joined, change it too. Its games are kept as a bitmap.\n"
		"\n"
		"list and show print name, games, upto (the last game that was looked at when it\n"
		"was made), the bytes of its bitmap, and its filter. show counts the games now.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games gameset create najdorf --eco B90..B99 --since 2000\n"
		   "chistore -a ./games gameset show najdorf",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.slow = true,
	.state_size = sizeof(struct gameset_state),
	.run = run_gameset,
};
