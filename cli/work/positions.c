/* SPDX-License-Identifier: MIT */
/* Positions named, of a line, of a repertoire, or of a scan. */
#include "cli/work/positions.h"

#include <string.h>

#include "chess/key.h"
#include "chess/notation.h"
#include "cli/in/place.h"
#include "cli/work/keyset.h"
#include "cli/work/repertoire.h"

static int fail_positions(struct cli *cli, const struct positions *positions, int status)
{
	return status == -CHI_ETOOBIG  ? cli_usage(cli, "more than %zu positions", positions->max)
	       : status == -CHI_ENOMEM ? cli_no_memory()
				       : cli_usage(cli, "%s", chi_strerror(status));
}

/* Each position of a line, that where it begins first. */
static int take_positions_line(struct cli *cli, const struct positions *positions)
{
	chi_move moves[CHI_LINE_MAX];
	struct chi_key key;
	struct chi_fault fault;
	size_t n = 0;
	const char *text = positions->line;
	int status = chi_line_parse(&chi_position_initial, text, strlen(text), moves, CHI_LINE_MAX,
				    &n, &fault);
	if (status != CHI_OK) {
		return cli_usage(cli, "--line: %s", fault.text);
	}
	chi_key_encode(&chi_position_initial, &key);
	status = positions->add(positions->context, &key);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = chi_key_play(&key, moves[i], &key);
		status = status == CHI_OK ? positions->add(positions->context, &key) : status;
	}
	return status == CHI_OK ? EXIT_DONE : fail_positions(cli, positions, status);
}

/* ---- A repertoire -------------------------------------------------------------------------- */

struct taking {
	struct cli *cli;
	const struct positions *positions;
	struct keyset seen;
};

static void taking_deinit(struct taking *taking)
{
	keyset_deinit(&taking->seen);
}

/* Each position once, whatever moves lead to it. */
static int take_after(void *context, const struct chi_position *before, chi_move move,
		      const struct chi_position *after)
{
	struct taking *taking = context;
	struct chi_key key;
	uint32_t number = 0;
	bool added = false;
	(void)before;
	(void)move;
	chi_key_encode(after, &key);
	int status = keyset_add(&taking->seen, &key, &number, &added);
	if (status == CHI_OK && added) {
		status = taking->positions->add(taking->positions->context, &key);
	}
	return status == CHI_OK ? EXIT_DONE
				: fail_positions(taking->cli, taking->positions, status);
}

static int take_repertoire(struct cli *cli, const struct positions *positions)
{
	_cleanup_(taking_deinit) struct taking taking = {.cli = cli, .positions = positions};
	keyset_init(&taking.seen);
	return repertoire_read(cli, positions->repertoire, take_after, &taking);
}

/* ---- The store's, and those named ---------------------------------------------------------- */

static int take_scan(struct cli *cli, const struct positions *positions)
{
	_cleanup_(chi_rows_closep) struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	positions->scan->want = CHI_WANT_KEYS;
	int status = chi_scan_open(cli->client, positions->scan, &iter);
	while (status == CHI_OK) {
		status = chi_scan_next(iter, &row, &record);
		int added =
			status == CHI_OK ? positions->add(positions->context, &row->key) : CHI_OK;
		if (added != CHI_OK) {
			return fail_positions(cli, positions, added);
		}
	}
	return status == CHI_NONE ? EXIT_DONE : cli_fail(cli->client, status);
}

static int take_arguments(struct cli *cli, const struct positions *positions)
{
	int code = EXIT_DONE;
	for (int at = 0; code == EXIT_DONE && at < cli->argc;) {
		struct place place;
		code = place_take(cli, cli->argc, cli->argv, &at, &place);
		int status =
			code == EXIT_DONE ? positions->add(positions->context, &place.key) : CHI_OK;
		if (status != CHI_OK) {
			return fail_positions(cli, positions, status);
		}
	}
	return code;
}

static int take_initial(struct cli *cli, const struct positions *positions)
{
	struct chi_key key;
	chi_key_encode(&chi_position_initial, &key);
	int status = positions->add(positions->context, &key);
	return status == CHI_OK ? EXIT_DONE : fail_positions(cli, positions, status);
}

int positions_take(struct cli *cli, const struct positions *positions)
{
	if (positions->line != NULL) {
		return take_positions_line(cli, positions);
	}
	if (positions->repertoire != NULL) {
		return take_repertoire(cli, positions);
	}
	if (cli->argc > 0) {
		return take_arguments(cli, positions);
	}
	return positions->initial ? take_initial(cli, positions) : take_scan(cli, positions);
}
