/* SPDX-License-Identifier: MIT */
/* Bytes go to the reader until a game is whole. */
#include "cli/work/pgn_file.h"

#include <inttypes.h>

#include "cli/in/files.h"

struct feeding {
	struct chi_pgn *pgn;
	const char *path;
	pgn_each *each;
	void *context;
	uint64_t games;
};

static int take_ready(struct feeding *feeding)
{
	const struct chi_pgn_game *game = NULL;
	int code = EXIT_DONE;
	while (code == EXIT_DONE && !cli_output_failed() &&
	       chi_pgn_next(feeding->pgn, &game) == CHI_OK) {
		feeding->games++;
		if (game->end != CHI_PGN_COMPLETE) {
			cli_message("%s:%" PRIu64 ": game %" PRIu64
				    " cannot be read after %zu moves",
				    feeding->path, game->end_line, game->number, game->n_plies);
		}
		code = feeding->each(feeding->context, feeding->path, game);
	}
	return code;
}

int pgn_file(struct cli *cli, const char *path, struct chi_pgn *pgn, pgn_each *each, void *context)
{
	_cleanup_(chi_source_closep) struct chi_source *source = NULL;
	struct feeding feeding = {.pgn = pgn, .path = path, .each = each, .context = context};
	struct chi_fault fault = {.text = ""};
	const char *bytes = NULL;
	size_t len = 0;
	int code = EXIT_DONE;
	chi_pgn_restart(pgn);
	int status = chi_source_open(path, NULL, &source, &fault);
	while (status == CHI_OK && code == EXIT_DONE) {
		status = chi_source_read(source, &bytes, &len, &fault);
		while (status == CHI_OK && code == EXIT_DONE && len > 0) {
			size_t taken = chi_pgn_feed(pgn, bytes, len);
			bytes += taken;
			len -= taken;
			code = take_ready(&feeding);
		}
	}
	if (status < 0) {
		cli_message("%s: %s", path, fault.text);
		return files_exit_of(status);
	}
	if (code == EXIT_DONE) {
		chi_pgn_finish(pgn);
		code = take_ready(&feeding);
	}
	return code == EXIT_DONE && feeding.games == 0
		       ? cli_usage(cli, "%s: there is no game in it", path)
		       : code;
}
