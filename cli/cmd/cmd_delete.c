/* SPDX-License-Identifier: MIT */
/* chistore delete: removes positions. */
#include "cli/command.h"
#include "cli/in/fens.h"
#include "cli/out/output.h"

/* One transaction each: what was printed before a failure stays deleted. */
static int delete_one(struct cli *cli, void *context, const struct place *place)
{
	const struct chi_key *key = &place->key;
	(void)context;
	uint64_t deleted = 0;
	char fen[CHI_FEN_SIZE];
	int status = chi_key_to_fen(key, fen, NULL);
	if (status == CHI_OK) {
		status = chi_delete(cli->client, key, 1, CHI_SYNC, &deleted);
	}
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (deleted == 0) {
		return cli_not_found(key);
	}
	return output_object(cli, json_pack("{s:s}", "deleted", fen));
}

static int run_delete(struct cli *cli)
{
	return fens_each(cli, &(struct fens_user){.each = delete_one});
}

const struct command cmd_delete = {
	.name = "delete",
	.arguments = "POSITION...",
	.summary = "remove positions",
	.help = "Removes each position with everything known about it, and prints 'deleted' and\n"
		"the FEN. A position that is not stored is named on standard error, and the exit\n"
		"code is 1. What has been printed is on disk.\n\n" PLACE_HELP,
	.example = "chistore -a ./positions delete '8/8/4k3/8/8/4K3/4P3/8 w - - 0 1'",
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_WRITE,
	.run = run_delete,
};
