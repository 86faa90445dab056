/* SPDX-License-Identifier: MIT */
/* chistore scan: the positions of a band, in order. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "client/cli/in/filter.h"
#include "client/cli/out/output.h"
#include "store/store.h"

enum {
	OPT_DESC = 1,
	OPT_LIMIT,
	OPT_CURSOR,
	OPT_PRINT_CURSOR,
	OPT_ORDER,
	OPT_KEYS,
};

struct scan_state {
	struct chi_scan_spec spec;
	bool ready; /* spec has its defaults */
	bool keys;
	bool print_cursor;
};

/* Options may come in any number, also none: whoever is first sets the defaults. */
static void set_defaults(struct scan_state *scan)
{
	if (!scan->ready) {
		filter_init(&scan->spec);
		scan->ready = true;
	}
}

/* No limit is said by leaving it out: 0 rows are nobody's wish. */
static int take_limit(struct cli *cli, const char *value, uint64_t *limit)
{
	if (chi_num_u64(value, strlen(value), UINT64_MAX, limit) != CHI_OK || *limit == 0) {
		return cli_usage(cli, "--limit: '%s' is no number from 1", value);
	}
	return EXIT_DONE;
}

/* Nothing is sorted: each order is that of one of the two trees. */
static int take_order(struct cli *cli, const char *value, uint8_t *order)
{
	bool by_position = strcmp(value, "position") == 0;
	if (!by_position && strcmp(value, "strength") != 0) {
		return cli_usage(cli, "--order: '%s' is neither strength nor position", value);
	}
	*order = by_position ? CHI_ORDER_POSITION : CHI_ORDER_STRENGTH;
	return EXIT_DONE;
}

/* Filters are shared with count; the rest is of scan alone. */
static int option(struct cli *cli, void *state, int id, const char *value)
{
	struct scan_state *scan = state;
	set_defaults(scan);
	switch (id) {
	case OPT_DESC:
		scan->spec.descending = true;
		return EXIT_DONE;
	case OPT_LIMIT:
		return take_limit(cli, value, &scan->spec.limit);
	case OPT_CURSOR:
		if (chi_cursor_parse(value, strlen(value), &scan->spec.after) != CHI_OK) {
			return cli_usage(cli, "--cursor: '%s' is no cursor that scan has printed",
					 value);
		}
		return EXIT_DONE;
	case OPT_PRINT_CURSOR:
		scan->print_cursor = true;
		return EXIT_DONE;
	case OPT_ORDER:
		return take_order(cli, value, &scan->spec.order);
	case OPT_KEYS:
		scan->keys = true;
		return EXIT_DONE;
	default:
		return filter_option(cli, &scan->spec, id, value);
	}
}

/* Prints the rows; CHI_OK at the end. */
static int print_rows(struct cli *cli, struct chi_iter *iter, bool counts, uint64_t *n)
{
	const struct chi_row *row = NULL;
	int status;
	while ((status = chi_iter_next(iter, &row, NULL)) == CHI_OK && !output_failed()) {
		char fen[CHI_FEN_SIZE];
		status = chi_key_to_fen(&row->key, fen, NULL);
		if (status != CHI_OK) {
			return status;
		}
		output_row(cli, row, fen, counts);
		(*n)++;
	}
	return status == CHI_NONE ? CHI_OK : status;
}

/* The cursor stands behind the last row printed. It goes to standard error, as it is no row. */
static void print_next(const struct scan_state *scan, const struct chi_iter *iter, uint64_t n)
{
	char text[CHI_CURSOR_TEXT_SIZE];
	struct chi_cursor cursor;
	if (!scan->print_cursor || n == 0 || n < scan->spec.limit) {
		return;
	}
	chi_iter_cursor(iter, &cursor);
	(void)chi_cursor_print(&cursor, text);
	fprintf(stderr, "next: --cursor %s\n", text);
}

static void iter_closep(struct chi_iter **iter)
{
	chi_iter_close(*iter);
}

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	struct scan_state *scan = state;
	_cleanup_(iter_closep) struct chi_iter *iter = NULL;
	uint64_t n = 0;
	(void)argc;
	(void)argv;
	set_defaults(scan);
	int code = filter_check(cli, &scan->spec);
	if (code != EXIT_DONE) {
		return code;
	}
	scan->spec.want = scan->keys ? CHI_WANT_KEYS : CHI_WANT_COUNTS;
	/* A question that the store refuses prints no header line. */
	int status = chi_iter_open(cli->client, &scan->spec, &iter);
	if (status == CHI_OK) {
		output_row_head(cli, !scan->keys);
		status = print_rows(cli, iter, !scan->keys, &n);
	}
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	/* Both remarks come behind the rows, so that they are the last thing on a terminal. */
	print_next(scan, iter, n);
	if (chi_iter_mixed(iter) && !cli->quiet) {
		cli_message("the store changed during the scan: the rows are from more than one "
			    "committed state");
	}
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	FILTER_OPTIONS,
	{OPT_DESC, "desc", NULL, "from the greatest down"},
	{OPT_LIMIT, "limit", "N", "N rows at most"},
	{OPT_ORDER, "order", "ORDER", "strength (default), or position: by key alone"},
	{OPT_KEYS, "keys", NULL, "columns chi2 and fen alone; several times faster"},
	{OPT_PRINT_CURSOR, "print-cursor", NULL,
	 "when the limit ended the scan, say on standard error how to go on"},
	{OPT_CURSOR, "cursor", "C", "go on behind the row where an earlier scan ended"},
	{0, NULL, NULL, NULL},
};

const struct command cmd_scan = {
	.name = "scan",
	.arguments = "",
	.summary = "list the positions of a band of the statistic, in order",
	.help = "Prints the columns chi2 (- if not known), fen, games, white, draws, black of "
		"every\n"
		"position that fits, by the statistic and, where it is equal, by the key.\n"
		"A scan that goes on with --cursor must have the same options otherwise.",
	.example = "chistore -a ./positions scan --min 20 --max 39.99 --material KRPvKR --limit 5",
	.options = options,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct scan_state),
	.option = option,
	.run = run,
};
