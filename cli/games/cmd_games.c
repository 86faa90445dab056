/* SPDX-License-Identifier: MIT */
/* chistore games: the games of a store that fit, as rows or as PGN. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/in/game_terms.h"
#include "cli/games/print.h"
#include "cli/out/output.h"

/* Rows on a terminal, and of other orders than that of numbers, unless --limit says otherwise. */
#define ROWS 20

struct games_state {
	struct game_terms terms;
	struct chi_game_spec spec;
	bool count;
	bool pgn;
	bool explain;
};

static const char *const sorts[] = {
	[CHI_GAMES_NUMBER] = "number",
	[CHI_GAMES_DATE] = "date",
	[CHI_GAMES_RATING] = "rating",
};

/* CHI_OK at the end. */
static int print_rows(struct cli *cli, struct chi_rows *query, uint64_t *n)
{
	const struct games_state *state = cli->state;
	const struct chi_game_row *row = NULL;
	struct cli_rows rows = games_rows(cli);
	int status;
	while ((status = chi_games_next(query, &row)) == CHI_OK && !cli_output_failed()) {
		if (state->pgn) {
			(void)fwrite(row->pgn, 1, row->pgn_len, stdout);
		} else if (!state->count) {
			rows_print(&rows, row);
		}
		*n += state->count ? 0 : 1;
	}
	if (status == CHI_NONE && !state->count && !state->pgn && !state->explain) {
		rows_head(&rows);
	}
	return status == CHI_NONE ? CHI_OK : status;
}

/* What is said after the rows goes to standard error, as it is no row. */
static void print_remarks(const struct cli *cli, struct chi_rows *query, uint64_t n)
{
	const struct games_state *state = cli->state;
	const struct chi_rows_place *place = chi_rows_state(query);
	game_terms_remark(cli);
	if (state->count || state->spec.limit == 0 || n < state->spec.limit || !place->has_total ||
	    place->total <= n) {
		return;
	}
	fprintf(stderr, "%" PRIu64 " of %" PRIu64 " games; next: --cursor %s\n", n, place->total,
		place->games);
}

static void set_limit(const struct cli *cli, struct games_state *state)
{
	bool people = isatty(STDOUT_FILENO) != 0 && !cli->json && !state->pgn;
	bool sorted = state->spec.sort != CHI_GAMES_NUMBER || state->spec.descending;
	if (state->count) {
		/* Only the total is looked at: in no order, of one game. */
		state->spec = (struct chi_game_spec){CHI_GAME_SPEC_INIT, .limit = 1};
	} else if (state->spec.limit == 0 && (people || sorted)) {
		state->spec.limit = ROWS;
	}
	state->spec.want_total = state->count || (state->spec.limit > 0 && !cli->quiet);
	state->spec.want = state->count ? CHI_GAMES_HEADS
			   : state->pgn ? CHI_GAMES_PGN
					: CHI_GAMES_TEXTS;
	state->spec.size = sizeof(state->spec);
	state->spec.filter = state->terms.text;
	state->spec.explain = state->explain;
}

static int check_games(struct cli *cli, const struct games_state *state)
{
	if (state->pgn && cli->json) {
		return cli_usage(cli, "--pgn and --json exclude each other");
	}
	if (state->count && (state->pgn || state->spec.limit > 0 || state->spec.cursor != NULL)) {
		return cli_usage(cli, "--count goes without --pgn, --limit and --cursor");
	}
	return EXIT_DONE;
}

static int run_games(struct cli *cli)
{
	struct games_state *state = cli->state;
	_cleanup_(chi_rows_closep) struct chi_rows *query = NULL;
	uint64_t n = 0;
	int code = check_games(cli, state);
	if (code == EXIT_DONE) {
		code = game_terms_take(cli, &state->terms);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	set_limit(cli, state);
	int status = chi_games_open(cli->client, &state->spec, &query);
	if (status == CHI_OK) {
		status = print_rows(cli, query, &n);
	}
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (state->explain) {
		games_print_plan(cli, query);
	} else if (state->count && chi_rows_state(query)->has_total) {
		uint64_t total = chi_rows_state(query)->total;
		if (cli->json) {
			output_json(json_pack("{s:o}", "games", json_count(total)));
		} else {
			printf("%" PRIu64 "\n", total);
		}
	}
	if (!cli->quiet) {
		print_remarks(cli, query, n);
	}
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	GAME_TERM_OPTIONS(games_state, terms),
	OPTION_NUMBER(games_state, spec.limit, 1, UINT64_MAX, "limit", "N",
		      "at most N games (default: all; 20 on a terminal, or if sorted)"),
	OPTION_TEXT(games_state, spec.cursor, "cursor", "C",
		    "continue after the game where an earlier list ended"),
	OPTION_WORD(games_state, spec.sort, sorts, "sort", "WHAT",
		    "number (default), date or rating, the average of both"),
	OPTION_FLAG(games_state, spec.descending, "descending", "the last or highest first"),
	OPTION_FLAG(games_state, count, "count", "print only how many games fit"),
	OPTION_FLAG(games_state, pgn, "pgn", "print whole games as PGN"),
	OPTION_FLAG(games_state, explain, "explain", "print how they would be found, and no game"),
	OPTIONS_END,
};

const struct command cmd_games = {
	.name = "games",
	.arguments = "",
	.summary = "list games: of a position, of players, of years",
	.help = "Prints the games of the store that fit, with the columns " GAMES_COLUMNS ".\n"
		"With --position or --moves, ply is where the game reached that position. Where\n"
		"there are more games than --limit, their number and the --cursor to go on with\n"
		"are printed on standard error. A list that continues must otherwise have the\n"
		"same options; sorted lists have 10,000 games at most.\n"
		"\n" GAME_TERMS_HELP,
	.example = "chistore -a ./games games --player Velan --white --since 1990\n"
		   "chistore -a ./games games --moves 'e4 c5 Nf3' --sort rating --descending\n"
		   "chistore -a ./games games --eco B90..B99 --not-result 1/2-1/2 --count",
	.options = options,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct games_state),
	.run = run_games,
};
