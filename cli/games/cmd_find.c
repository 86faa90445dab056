/* SPDX-License-Identifier: MIT */
/* chistore find: positions by what is on the board, or the games that reached them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/games/print.h"
#include "cli/in/game_terms.h"
#include "cli/out/output.h"
#include "cli/out/progress.h"
#include "cli/out/shown.h"

/* Games on a terminal, as of 'games'. */
#define ROWS 20

struct find_state {
	struct game_terms pattern; /* all board options, of which some are the filter's */
	struct game_terms filter;
	struct progress progress;
	struct cli *cli;
	uint64_t limit;
	const char *cursor;
	bool print_cursor;
	bool count;
	bool games;
	bool pgn;
	struct shown shown;
	struct cli_rows rows; /* of games */
	uint64_t n;	      /* printed */
};

/* What is asked of games, not of the one position, moves to the filter. */
static int split_terms(struct cli *cli, struct find_state *state)
{
	size_t n = 0;
	for (size_t i = 0; i < state->pattern.n; i++) {
		const struct chi_filter_term *term = &state->pattern.term[i];
		bool of_games = term->negated || strcmp(term->name, "position") == 0 ||
				strcmp(term->name, "moves") == 0;
		if (!of_games) {
			state->pattern.term[n++] = *term;
		} else if (state->filter.n == GAME_TERMS_MAX) {
			return cli_usage(cli, "more than %d options choose games", GAME_TERMS_MAX);
		} else {
			state->filter.term[state->filter.n++] = *term;
		}
	}
	state->pattern.n = n;
	int code = game_terms_take(cli, &state->pattern);
	return code == EXIT_DONE ? game_terms_take(cli, &state->filter) : code;
}

static int check_find(struct cli *cli, const struct find_state *state)
{
	if (state->count && (state->limit > 0 || state->cursor != NULL)) {
		return cli_usage(cli, "--count goes without --limit and --cursor");
	}
	if (state->pgn && (!state->games || state->count || cli->json)) {
		return cli_usage(cli, "--pgn goes with --games, without --count and --json");
	}
	return EXIT_DONE;
}

static void set_limit(const struct cli *cli, struct find_state *state)
{
	bool people = isatty(STDOUT_FILENO) != 0 && !cli->json && !state->pgn;
	if (state->games && !state->count && state->limit == 0 && people) {
		state->limit = ROWS;
	}
}

static int print_row(void *context, const struct chi_row *row)
{
	struct find_state *state = context;
	enum columns_form form = state->cli->json ? COLUMNS_JSON : COLUMNS_TSV;
	if (state->n++ == 0) {
		progress_clear(&state->progress);
		shown_head(stdout, &state->shown, form);
	}
	int status = shown_print(stdout, &state->shown, form, row, NULL);
	return status == CHI_OK && (cli_output_failed() || cli_stop != 0) ? -CHI_ECANCELED : status;
}

static int print_game(void *context, const struct chi_game_row *row)
{
	struct find_state *state = context;
	progress_clear(&state->progress);
	if (state->pgn) {
		(void)fwrite(row->pgn, 1, row->pgn_len, stdout);
	} else {
		rows_print(&state->rows, row);
	}
	state->n++;
	return cli_output_failed() || cli_stop != 0 ? -CHI_ECANCELED : CHI_OK;
}

static int show_progress(void *context, unsigned thousandths)
{
	struct find_state *state = context;
	progress_phase(&state->progress, "looking at positions", thousandths, 1000);
	return cli_stop != 0 ? -CHI_ECANCELED : CHI_OK;
}

/* After the rows, on standard error. */
static void print_remarks(const struct cli *cli, const struct find_state *state,
			  const struct chi_search_result *result)
{
	if (state->limit == 0 || state->n < state->limit) {
		return;
	}
	if (state->games && !cli->quiet && state->n < result->total) {
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " games; next: --cursor %s\n", state->n,
			result->total, result->cursor);
	}
	if (!state->games && result->has_total && !cli->quiet) {
		cli_message("%" PRIu64 " of %" PRIu64 " positions", state->n, result->total);
	}
	if (!state->games && state->print_cursor && result->cursor[0] != '\0') {
		fprintf(stderr, "next: --cursor %s\n", result->cursor);
	}
}

static void print_total(const struct cli *cli, const struct find_state *state, uint64_t total)
{
	if (cli->json) {
		output_json(json_pack("{s:o}", state->games ? "games" : "positions",
				      json_count(total)));
	} else {
		printf("%" PRIu64 "\n", total);
	}
}

static int run_find(struct cli *cli)
{
	struct find_state *state = cli->state;
	struct chi_search_result result;
	int code = check_find(cli, state);
	code = code == EXIT_DONE ? split_terms(cli, state) : code;
	if (code != EXIT_DONE) {
		return code;
	}
	state->cli = cli;
	state->rows = games_rows(cli);
	shown_usual(&state->shown, true);
	set_limit(cli, state);
	progress_init(&state->progress, cli->quiet, 0);
	const struct chi_search_spec spec = {
		.pattern = state->pattern.text,
		.filter = state->filter.text,
		.games = state->games,
		.want = state->pgn ? CHI_GAMES_PGN : CHI_GAMES_TEXTS,
		.only_count = state->count,
		.want_total = state->limit > 0 && state->cursor == NULL && !cli->quiet,
		.limit = state->limit,
		.cursor = state->cursor,
		.each = print_row,
		.each_game = print_game,
		.progress = cli->quiet ? NULL : show_progress,
		.context = state,
	};
	cli_catch_signals();
	int status = chi_search_positions(cli->client, &spec, &result);
	progress_clear(&state->progress);
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	if (cli_output_failed()) {
		return EXIT_STORE;
	}
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (state->count) {
		print_total(cli, state, result.total);
	} else if (state->n == 0 && !state->games) {
		shown_head(stdout, &state->shown, cli->json ? COLUMNS_JSON : COLUMNS_TSV);
	} else if (state->games && !state->pgn) {
		rows_head(&state->rows);
	}
	game_terms_remark(cli);
	if (!state->count) {
		print_remarks(cli, state, &result);
	}
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	GAME_BOARD_OPTIONS(find_state, pattern),
	OPTION_FLAG(find_state, games, "games", "the games that reached one of the positions"),
	OPTION_FLAG(find_state, pgn, "pgn", "... whole, as PGN"),
	OPTION_FLAG(find_state, count, "count", "print only how many positions or games there are"),
	OPTION_NUMBER(find_state, limit, 1, UINT64_MAX, "limit", "N", "at most N of them"),
	OPTION_TEXT(find_state, cursor, "cursor", "C",
		    "continue after the row where an earlier search ended"),
	OPTION_FLAG(find_state, print_cursor, "print-cursor",
		    "if the limit ended the search of positions, print its cursor on standard "
		    "error"),
	GAME_HEAD_OPTIONS(find_state, filter),
	OPTIONS_END,
};

const struct command cmd_find = {
	.name = "find",
	.arguments = "",
	.summary = "look for positions, and games, by what is on the board",
	.help = "Looks at every position of the store, and prints those that fit with the columns\n"
		"chi2, fen, games, white, draws, black. --has, --fen-part, --pawns, --material,\n"
		"--balance, --endgame and --to-move must hold together; --mirror and\n"
		"--either-colour let the files or the colours be exchanged.\n"
		"\n"
		"With options that choose games, only positions that one of these games reached.\n"
		"--games prints the games themselves, each once and with the columns of\n"
		"'chistore games', of which ply is where it first reached such a position.",
	.example = "chistore -a ./games find --has \"Nd5 kg8 .e6\" --limit 5\n"
		   "chistore -a ./games find --material \"KRP*vKRP*\" --player Carlsen\n"
		   "chistore -a ./games find --pawns \"+ d4 / + d5\" --games --limit 5\n"
		   "chistore -a ./games find --endgame \"rook endings\" --count",
	.options = options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct find_state),
	.run = run_find,
};
