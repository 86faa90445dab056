/* SPDX-License-Identifier: MIT */
/* chistore publish: a copy that all may read, made again and again at the same place. */
#include "cli/command.h"
#include "cli/out/output.h"

struct publish_state {
	bool verify;
};

static int run_publish(struct cli *cli)
{
	const struct publish_state *wanted = cli->state;
	int status = chi_store_backup(cli->client, cli->argv[0],
				      wanted->verify ? CHI_BACKUP_VERIFIED : CHI_BACKUP_PUBLISHED);
	return status != CHI_OK ? cli_fail(cli->client, status)
				: output_object(cli, json_pack("{s:o}", "published",
							       json_path(cli->argv[0])));
}

static const struct cli_option options[] = {
	OPTION_FLAG(publish_state, verify, "verify",
		    "check all that 'verify' checks before the copy gets its name"),
	OPTIONS_END,
};

const struct command cmd_publish = {
	.name = "publish",
	.arguments = "DEST",
	.summary = "make a read-only copy that every local user may open",
	.help = "Makes the directory DEST on this machine with a copy of one committed state of "
		"the\n"
		"store, compacted and checked; others may read and write meanwhile. Every local\n"
		"user can open DEST as an address and read it, without permission to write there.\n"
		"It cannot be written; 'backup' makes a store of it again.\n"
		"An older copy that was published at DEST is replaced atomically, so this can be\n"
		"done every night; a program that has it open keeps it until it opens the store\n"
		"again.\n"
		"Anything else at DEST is left alone, with exit code 3. A store whose pages or\n"
		"entries are damaged is not published, with the same exit code: each page, the\n"
		"checksum of each entry, its order and the numbers of all are checked. With\n"
		"--verify that is followed by all that 'verify' does: statistics are computed,\n"
		"games played and compared with the lists, which takes several times as long.",
	.example = "chistore -a unix:/run/chistore/socket publish /srv/chess/positions\n"
		   "chistore -a /srv/chess/positions info",
	.options = options,
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct publish_state),
	.run = run_publish,
};
