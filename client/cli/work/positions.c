/* SPDX-License-Identifier: MIT */
/* The positions that an analyser is to work off: named, of a line, or of a scan. */
#include "client/cli/work/positions.h"

#include <string.h>

#include "chess/key.h"
#include "chess/notation.h"
#include "client/cli/in/place.h"

static int no_room(struct cli *cli, int status)
{
	return status == -CHI_ETOOBIG ? cli_usage(cli, "more than %d positions", SOURCE_MAX)
				      : cli_no_memory();
}

/* Each position of a line, that where it begins first. */
static int take_line(struct cli *cli, const char *text, struct source *source)
{
	static const char start[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
	chi_move moves[CHI_LINE_MAX];
	struct chi_position position;
	struct chi_key key;
	struct chi_fault fault;
	size_t n = 0;
	int status = chi_key_from_fen(start, sizeof(start) - 1, &key, &fault);
	status = status == CHI_OK ? chi_key_decode(&key, &position, &fault) : status;
	status = status == CHI_OK ? chi_line_parse(&position, text, strlen(text), moves,
						   CHI_LINE_MAX, &n, &fault)
				  : status;
	if (status != CHI_OK) {
		return cli_usage(cli, "--line: %s", fault.text);
	}
	status = source_add(source, &key);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = chi_key_play(&key, moves[i], &key);
		status = status == CHI_OK ? source_add(source, &key) : status;
	}
	return status == CHI_OK ? EXIT_DONE : no_room(cli, status);
}

static void iter_closep(struct chi_iter **iter)
{
	chi_iter_close(*iter);
}

static int take_scan(struct cli *cli, struct chi_scan_spec *spec, struct source *source)
{
	_cleanup_(iter_closep) struct chi_iter *iter = NULL;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	spec->want = CHI_WANT_KEYS;
	int status = chi_iter_open(cli->client, spec, &iter);
	while (status == CHI_OK) {
		status = chi_iter_next(iter, &row, &record);
		int added = status == CHI_OK ? source_add(source, &row->key) : CHI_OK;
		if (added != CHI_OK) {
			return no_room(cli, added);
		}
	}
	return status == CHI_NONE ? EXIT_DONE : cli_fail(cli->client, status);
}

static int take_arguments(struct cli *cli, struct source *source)
{
	int code = EXIT_DONE;
	for (int at = 0; code == EXIT_DONE && at < cli->argc;) {
		struct place place;
		code = place_take(cli, cli->argc, cli->argv, &at, &place);
		int status = code == EXIT_DONE ? source_add(source, &place.key) : CHI_OK;
		if (status != CHI_OK) {
			return no_room(cli, status);
		}
	}
	return code;
}

int positions_take(struct cli *cli, const char *line, struct chi_scan_spec *spec,
		   struct source *source)
{
	if (line != NULL) {
		return take_line(cli, line, source);
	}
	return cli->argc > 0 ? take_arguments(cli, source) : take_scan(cli, spec, source);
}
