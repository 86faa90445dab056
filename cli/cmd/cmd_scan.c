/* SPDX-License-Identifier: MIT */
/* chistore scan: the positions of a band, in order. */
#include <stdio.h>
#include <string.h>

#include "cli/in/filter.h"
#include "cli/in/game_terms.h"
#include "cli/out/shown.h"
#include "store/store.h"

struct scan_state {
	struct chi_scan_spec spec;
	struct game_terms terms;
	struct shown shown;
	bool keys;
	bool print_cursor;
	bool ascending;
};

static const struct scan_state defaults = {.spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX}};

/* Each is that of one of the two trees. */
static const char *const orders[] = {
	[CHI_ORDER_STRENGTH] = "strength",
	[CHI_ORDER_POSITION] = "position",
};

static const char *const sorts[] = {
	[CHI_SORT_GAMES] = "games",
	[CHI_SORT_SCORE] = "score",
	[CHI_SORT_EVAL] = "eval",
	[CHI_SORT_GAP] = "gap",
	[FILTER_SORT_PERFORMANCE] = "performance",
};

static int take_cursor(struct cli *cli, const struct cli_option *option, const char *value,
		       void *after)
{
	if (chi_cursor_parse(value, strlen(value), after) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is no cursor that scan has printed", option->name,
				 value);
	}
	return EXIT_DONE;
}

/* Prints the rows; CHI_OK at the end. */
static int print_rows(struct cli *cli, struct chi_rows *iter, uint64_t *n)
{
	const struct scan_state *scan = cli->state;
	enum columns_form form = cli->json ? COLUMNS_JSON : COLUMNS_TSV;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	int status;
	shown_head(stdout, &scan->shown, form);
	while ((status = chi_scan_next(iter, &row, &record)) == CHI_OK && !cli_output_failed()) {
		status = shown_print(stdout, &scan->shown, form, row, record);
		if (status != CHI_OK) {
			return status;
		}
		(*n)++;
	}
	return status == CHI_NONE ? CHI_OK : status;
}

/* The cursor is that of the last row printed. It goes to standard error, as it is no row. */
static void print_next(const struct scan_state *scan, struct chi_rows *iter, uint64_t n)
{
	char text[CHI_CURSOR_TEXT_SIZE];
	if (!scan->print_cursor || n == 0 || n < scan->spec.limit) {
		return;
	}
	(void)chi_cursor_print(&chi_rows_state(iter)->cursor, text);
	fprintf(stderr, "next: --cursor %s\n", text);
}

/* The greatest first is what is looked for. */
static int check_sort(struct cli *cli, struct scan_state *scan)
{
	if (scan->spec.sort == CHI_SORT_NONE) {
		return !scan->ascending ? EXIT_DONE
					: cli_usage(cli, "--asc says something only with --sort");
	}
	if (cli_given(cli, "order") || cli_given(cli, "cursor") || cli_given(cli, "print-cursor") ||
	    (scan->ascending && scan->spec.descending)) {
		return cli_usage(cli,
				 "--sort goes without --order, --cursor and --print-cursor, and "
				 "is --desc or --asc");
	}
	if (scan->spec.limit < 1 || scan->spec.limit > CHI_SORT_MAX) {
		return cli_usage(cli, "--sort takes a --limit of 1 to %d rows", CHI_SORT_MAX);
	}
	scan->spec.descending = !scan->ascending;
	return EXIT_DONE;
}

static int run_scan(struct cli *cli)
{
	struct scan_state *scan = cli->state;
	_cleanup_(chi_rows_closep) struct chi_rows *iter = NULL;
	uint64_t n = 0;
	int code = check_sort(cli, scan);
	if (code == EXIT_DONE) {
		code = filter_take(cli, &scan->spec);
	}
	if (code == EXIT_DONE && scan->keys && scan->shown.n > 0) {
		code = cli_usage(cli, "--keys chooses columns, and so does --show");
	}
	if (code == EXIT_DONE) {
		code = shown_ready(cli, &scan->shown);
	}
	if (code == EXIT_DONE) {
		code = game_terms_take(cli, &scan->terms);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	scan->spec.games = scan->terms.text;
	if (scan->shown.n == 0) {
		shown_usual(&scan->shown, !scan->keys);
	}
	scan->spec.want = scan->shown.want;
	/* A question that the store refuses prints no header line. */
	int status = chi_scan_open(cli->client, &scan->spec, &iter);
	if (status == CHI_OK) {
		status = print_rows(cli, iter, &n);
	}
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	/* Remarks come after the rows, so that they are the last thing on a terminal. */
	game_terms_remark(cli);
	print_next(scan, iter, n);
	if (chi_rows_state(iter)->mixed && !cli->quiet) {
		cli_message("the store changed during the scan: the rows are from more than one "
			    "committed state");
	}
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	FILTER_OPTIONS(scan_state),
	EVIDENCE_OPTIONS(scan_state, spec.filter.evidence),
	OPTION_FLAG(scan_state, spec.descending, "desc", "in descending order"),
	/* To have no limit, leave it out: 0 rows make no sense. */
	OPTION_NUMBER(scan_state, spec.limit, 1, UINT64_MAX, "limit", "N", "at most N rows"),
	OPTION_WORD(scan_state, spec.order, orders, "order", "ORDER",
		    "strength (default), or position: by key only"),
	OPTION_WORD(scan_state, spec.sort, sorts, "sort", "WHAT",
		    "games, score, eval, performance or gap: the greatest first, up to --limit"),
	OPTION_FLAG(scan_state, ascending, "asc", "with --sort: the least first"),
	OPTION_FLAG(scan_state, keys, "keys", "columns chi2 and fen only; several times faster"),
	OPTION(scan_state, shown, shown_take, "show", "A,B,..",
	       "these columns, such as fen,games,score,eval,best,opening; see below"),
	OPTION_FLAG(scan_state, print_cursor, "print-cursor",
		    "if the limit ended the scan, print its cursor on standard error"),
	OPTION(scan_state, spec.after, take_cursor, "cursor", "C",
	       "continue after the row where an earlier scan ended"),
	GAME_HEAD_OPTIONS(scan_state, terms),
	OPTIONS_END,
};

const struct command cmd_scan = {
	.name = "scan",
	.arguments = "",
	.summary = "list the positions of a band of the statistic, in order",
	.help = "Prints the columns chi2 (- if not known), fen, games, white, draws, black of "
		"every\n"
		"position that matches, ordered by the statistic and, where it is equal, by key.\n"
		"A scan that continues with --cursor must otherwise have the same options.\n"
		"\n"
		"With options that choose games (--player and so on), only positions that one of\n"
		"these games reached, with counts of these alone: --min-games, --score and --sort\n"
		"go by them, moves are those that they played. The statistic is that of all\n"
		"games; plies are not known.\n"
		"\n"
		"--show takes " SHOWN_NAMES ".\n"
		"score is White's percentage of the results (in a score store the statistic); "
		"eval\n"
		"the deepest evaluation in pawns, White's view, or #3 and #-3 for mates; best the\n"
		"first move of its variation, else of the line, else the move played most; ply\n"
		"the first at which a game reached the position.",
	.example =
		"chistore -a ./positions scan --min 20 --max 39.99 --material KRPvKR --limit 5\n"
		"chistore -a ./positions scan --eval 0.5..1.2 --engines 2 --show fen,eval,best\n"
		"chistore -a ./positions scan --sort games --limit 20 --show games,score,opening\n"
		"chistore -a ./games scan --player Velan --white --sort games --limit 20",
	.options = options,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct scan_state),
	.defaults = &defaults,
	.run = run_scan,
};
