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
#include "store/store.h"

/* Games on a terminal, as of 'games'. */
#define ROWS 20

struct find_state {
	struct game_terms pattern; /* all board options, of which some are the filter's */
	struct game_terms filter;
	struct progress progress;
	struct chi_scan_spec spec;
	uint64_t limit;
	const char *cursor;
	bool print_cursor;
	bool count;
	bool games;
	bool pgn;
	bool explain;
	uint64_t n; /* printed */
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
	if (state->explain && (!state->games || state->pgn)) {
		return cli_usage(cli, "--explain goes with --games, without --pgn");
	}
	return EXIT_DONE;
}

static int show_progress(void *context, unsigned thousandths)
{
	progress_phase(context, "looking at positions", thousandths, 1000);
	return cli_stop != 0 ? -CHI_ECANCELED : CHI_OK;
}

/* CHI_OK after what was done to the end. */
static int end_rows(int status)
{
	return status == CHI_OK ? -CHI_ECANCELED : status == CHI_NONE ? CHI_OK : status;
}

/* ---- Positions ---------------------------------------------------------------------------- */

/* Prints the rows, and where the last one is. */
static int print_positions(struct cli *cli, char cursor[CHI_CURSOR_TEXT_SIZE])
{
	struct find_state *state = cli->state;
	_cleanup_(chi_rows_closep) struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	struct chi_cursor after;
	struct shown shown = {.n = 0};
	enum columns_form form = cli->json ? COLUMNS_JSON : COLUMNS_TSV;
	shown_usual(&shown, true);
	int status = chi_scan_open(cli->client, &state->spec, &iter);
	if (status != CHI_OK) {
		return status;
	}
	while (!cli_output_failed() && cli_stop == 0 &&
	       (status = chi_scan_next(iter, &row, NULL)) == CHI_OK) {
		if (state->n++ == 0) {
			progress_clear(&state->progress);
			shown_head(stdout, &shown, form);
		}
		status = shown_print(stdout, &shown, form, row, NULL);
	}
	if (status == CHI_NONE && state->n == 0) {
		progress_clear(&state->progress);
		shown_head(stdout, &shown, form);
	}
	after = chi_rows_state(iter)->cursor;
	(void)chi_cursor_print(&after, cursor);
	return end_rows(status);
}

/* What is said after the rows goes to standard error. */
static int find_positions(struct cli *cli)
{
	struct find_state *state = cli->state;
	char cursor[CHI_CURSOR_TEXT_SIZE] = "";
	bool tells = state->cursor == NULL && !cli->quiet;
	uint64_t total = 0;
	int status = print_positions(cli, cursor);
	bool cut = status == CHI_OK && state->limit > 0 && state->n == state->limit;
	if (status == CHI_OK) {
		game_terms_remark(cli);
	}
	if (cut && tells) {
		status = chi_scan_count(cli->client, &state->spec, &total, NULL);
		progress_clear(&state->progress);
	}
	if (cut && tells && status == CHI_OK) {
		cli_message("%" PRIu64 " of %" PRIu64 " positions", state->n, total);
	}
	if (cut && status == CHI_OK && state->print_cursor) {
		fprintf(stderr, "next: --cursor %s\n", cursor);
	}
	return status;
}

/* ---- Games -------------------------------------------------------------------------------- */

/* The pattern comes first: `ply` is of it. */
static int print_games(struct cli *cli, struct chi_rows *query)
{
	struct find_state *state = cli->state;
	struct cli_rows rows = games_rows(cli);
	const struct chi_game_row *row = NULL;
	int status = CHI_OK;
	while (!cli_output_failed() && cli_stop == 0 &&
	       (status = chi_games_next(query, &row)) == CHI_OK) {
		progress_clear(&state->progress);
		if (state->pgn) {
			(void)fwrite(row->pgn, 1, row->pgn_len, stdout);
		} else if (!state->count) {
			rows_print(&rows, row);
		}
		state->n++;
	}
	progress_clear(&state->progress);
	if (status == CHI_NONE && !state->pgn && !state->count && !state->explain) {
		rows_head(&rows);
	}
	return end_rows(status);
}

static int find_games(struct cli *cli, uint64_t *total)
{
	struct find_state *state = cli->state;
	_cleanup_(chi_rows_closep) struct chi_rows *query = NULL;
	char text[2 * CHI_FILTER_TEXT_SIZE + sizeof(" and ")];
	bool both = state->pattern.text[0] != '\0' && state->filter.text[0] != '\0';
	(void)snprintf(text, sizeof(text), "%s%s%s", state->pattern.text, both ? " and " : "",
		       state->filter.text);
	const struct chi_game_spec spec = {
		CHI_GAME_SPEC_INIT,
		.filter = text,
		.by_positions = true,
		.want = state->count ? CHI_GAMES_HEADS
			: state->pgn ? CHI_GAMES_PGN
				     : CHI_GAMES_TEXTS,
		.skip_ply = state->count || state->pgn,
		.want_total = state->count || (state->limit > 0 && !cli->quiet),
		.limit = state->count ? 1 : state->limit,
		.cursor = state->cursor,
		.explain = state->explain,
	};
	int status = chi_games_open(cli->client, &spec, &query);
	status = status == CHI_OK ? print_games(cli, query) : status;
	if (status != CHI_OK) {
		return status;
	}
	const struct chi_rows_place *place = chi_rows_state(query);
	*total = place->total;
	if (state->explain) {
		games_print_plan(cli, query);
	}
	game_terms_remark(cli);
	if (!state->count && !cli->quiet && state->limit > 0 && state->n == state->limit &&
	    state->n < *total) {
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " games; next: --cursor %s\n", state->n,
			*total, place->games);
	}
	return CHI_OK;
}

/* ---- The command -------------------------------------------------------------------------- */

static void print_total(const struct cli *cli, bool games, uint64_t total)
{
	if (cli->json) {
		output_json(json_pack("{s:o}", games ? "games" : "positions", json_count(total)));
	} else {
		printf("%" PRIu64 "\n", total);
	}
}

static int find_and_print(struct cli *cli)
{
	struct find_state *state = cli->state;
	uint64_t total = 0;
	int status = CHI_OK;
	if (state->games) {
		status = find_games(cli, &total);
	} else if (state->count) {
		status = chi_scan_count(cli->client, &state->spec, &total, NULL);
		progress_clear(&state->progress);
		if (status == CHI_OK) {
			game_terms_remark(cli);
		}
	} else {
		status = find_positions(cli);
	}
	if (status == CHI_OK && state->count && !state->explain) {
		print_total(cli, state->games, total);
	}
	progress_clear(&state->progress);
	return status;
}

static int run_find(struct cli *cli)
{
	struct find_state *state = cli->state;
	struct chi_scan_spec *spec = &state->spec;
	int code = check_find(cli, state);
	code = code == EXIT_DONE ? split_terms(cli, state) : code;
	if (code != EXIT_DONE) {
		return code;
	}
	if (state->games && !state->count && state->limit == 0 && !cli->json && !state->pgn &&
	    isatty(STDOUT_FILENO) != 0) {
		state->limit = ROWS;
	}
	*spec = (struct chi_scan_spec){CHI_SCAN_SPEC_INIT,	    .chi2_max = CHI_CHI2_MAX,
				       .order = CHI_ORDER_POSITION, .want = CHI_WANT_COUNTS,
				       .limit = state->limit,	    .games = state->filter.text,
				       .whole_counts = true,	    .pattern = state->pattern.text};
	if (!state->games && state->cursor != NULL &&
	    chi_cursor_parse(state->cursor, strlen(state->cursor), &spec->after) != CHI_OK) {
		return cli_usage(cli, "--cursor: '%s' is none that a find of positions has printed",
				 state->cursor);
	}
	progress_init(&state->progress, cli->quiet, 0);
	cli_catch_signals();
	int status =
		cli->quiet ? CHI_OK : chi_on_progress(cli->client, show_progress, &state->progress);
	status = status == CHI_OK ? find_and_print(cli) : status;
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	if (cli_output_failed()) {
		return EXIT_STORE;
	}
	return status == CHI_OK ? EXIT_DONE : cli_fail(cli->client, status);
}

static const struct cli_option options[] = {
	GAME_BOARD_OPTIONS(find_state, pattern),
	OPTION_FLAG(find_state, games, "games", "the games that reached one of the positions"),
	OPTION_FLAG(find_state, pgn, "pgn", "... whole, as PGN"),
	OPTION_FLAG(find_state, count, "count", "print only how many positions or games there are"),
	OPTION_FLAG(find_state, explain, "explain",
		    "with --games: print how they would be found, and no game"),
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
		   "chistore -a ./games find --material \"KRP*vKRP*\" --player Norheim\n"
		   "chistore -a ./games find --pawns \"+ d4 / + d5\" --games --limit 5\n"
		   "chistore -a ./games find --endgame \"rook endings\" --count",
	.options = options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct find_state),
	.run = run_find,
};
