/* SPDX-License-Identifier: MIT */
/* chistore publish: a copy that all may read, made again and again at the same place. */
#include "cli/command.h"
#include "cli/out/output.h"

static int run_publish(struct cli *cli)
{
	int status = chi_store_backup(cli->client, cli->argv[0], true);
	return status != CHI_OK ? cli_fail(cli->client, status)
				: output_object(cli, json_pack("{s:o}", "published",
							       json_path(cli->argv[0])));
}

const struct command cmd_publish = {
	.name = "publish",
	.arguments = "DEST",
	.summary = "make a read-only copy that every local user may open",
	.help = "Makes the directory DEST on this machine with a copy of one committed state of "
		"the\n"
		"store, compacted and verified; others may read and write meanwhile. Every local\n"
		"user can open DEST as an address and read it, without permission to write there.\n"
		"It cannot be written; 'backup' makes a store of it again.\n"
		"An older copy that was published at DEST is replaced atomically, so this can be\n"
		"done every night; a program that has it open keeps it until it opens the store\n"
		"again.\n"
		"Anything else at DEST is left alone, with exit code 3. A damaged store is not\n"
		"published, with the same exit code.",
	.example = "chistore -a unix:/run/chistore/socket publish /srv/chess/positions\n"
		   "chistore -a /srv/chess/positions info",
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_READ,
	.slow = true,
	.run = run_publish,
};
