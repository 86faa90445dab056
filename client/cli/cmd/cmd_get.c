/* SPDX-License-Identifier: MIT */
/* chistore get: everything known about positions, as JSON. */
#include "client/cli/command.h"
#include "client/cli/in/fens.h"
#include "client/cli/out/output.h"
#include "client/cli/out/record.h"

/* Positions that are asked for together. */
#define TOGETHER 256

struct gathered {
	struct chi_key keys[TOGETHER];
	size_t n;
	size_t done; /* of them: printed, or said to be missing */
	int code;    /* the worst so far */
};

/* A position that is not stored prints nothing, so that each line of output is a record. */
static int print_record(void *context, size_t i, const struct chi_record *record)
{
	struct gathered *gathered = context;
	const struct chi_key *key = &gathered->keys[gathered->done++];
	char fen[CHI_FEN_SIZE];
	(void)i;
	if (record != NULL) {
		output_json(record_json(key, record));
		return CHI_OK;
	}
	if (chi_key_to_fen(key, fen, NULL) == CHI_OK) {
		cli_message("position not found: %s", fen);
	}
	gathered->code = cli_worse(gathered->code, EXIT_NOT_FOUND);
	return CHI_OK;
}

/* A damaged record is skipped, as if each position were asked for by itself. */
static int answer(struct cli *cli, void *context)
{
	struct gathered *gathered = context;
	int status = CHI_OK;
	gathered->code = EXIT_DONE;
	gathered->done = 0;
	while (gathered->done < gathered->n && (status == CHI_OK || status == -CHI_ECORRUPT)) {
		status = chi_get_many(cli->client, gathered->keys + gathered->done,
				      gathered->n - gathered->done, print_record, gathered);
		if (status != CHI_OK) {
			gathered->code = cli_worse(gathered->code, cli_fail(cli->client, status));
			gathered->done++;
		}
	}
	gathered->n = 0;
	return gathered->code;
}

static int gather(struct cli *cli, void *context, const struct chi_key *key)
{
	struct gathered *gathered = context;
	gathered->keys[gathered->n++] = *key;
	return gathered->n < TOGETHER ? EXIT_DONE : answer(cli, context);
}

static int run(struct cli *cli)
{
	struct gathered gathered = {.n = 0};
	const struct fens_user user = {.each = gather, .flush = answer, .context = &gathered};
	return fens_each(cli, &user);
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
		"lines starting with # are skipped. Put a FEN in quotes.",
	.example = "chistore -a ./positions get "
		   "'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'",
	.args_max = -1,
	.needs = NEEDS_READ,
	.run = run,
};
