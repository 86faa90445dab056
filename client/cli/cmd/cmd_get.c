/* SPDX-License-Identifier: MIT */
/* chistore get: everything known about positions, as JSON. */
#include "client/cli/command.h"
#include "client/cli/in/fens.h"
#include "client/cli/out/output.h"
#include "client/cli/out/record.h"

/* A position that is not stored prints nothing, so that each line of output is a record. */
static int print_record(struct cli *cli, const struct chi_key *key)
{
	struct chi_record record;
	char fen[CHI_FEN_SIZE];
	int status = chi_get(cli->client, key, &record);
	if (status == CHI_NONE) {
		if (chi_key_to_fen(key, fen, NULL) == CHI_OK) {
			cli_message("position not found: %s", fen);
		}
		return EXIT_NOT_FOUND;
	}
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	output_json(record_json(key, &record));
	return EXIT_DONE;
}

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	(void)state;
	return fens_each(cli, argc, argv, print_record);
}

const struct command cmd_get = {
	.name = "get",
	.arguments = "[FEN...]",
	.summary = "print everything known about positions",
	.help = "Prints for each FEN one line of JSON: fen, chi2 (null: not known), games, white,\n"
		"draws, black, other (games without a result), min_ply (the lowest ply at which a\n"
		"game reached it), plies (how many games at each), moves (played from here, the\n"
		"most played first), evals, line, note. A position that is not stored is named on\n"
		"standard error, and the exit code is 1.\n"
		"Without arguments FENs are read from standard input, one a line; blank lines and\n"
		"lines starting with # are passed over. Put a FEN in quotes.",
	.example = "chistore -a ./positions get "
		   "'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'",
	.args_max = -1,
	.needs = NEEDS_READ,
	.run = run,
};
