/* SPDX-License-Identifier: MIT */
/* chistore backup: a consistent copy, while the store is in use. */
#include "cli/command.h"
#include "cli/out/output.h"

/* The library makes the directory under another name and renames it when it is whole. */
static int run_backup(struct cli *cli)
{
	int status = chi_store_backup(cli->client, cli->argv[0], CHI_BACKUP_STORE);
	return status != CHI_OK
		       ? cli_fail(cli->client, status)
		       : output_object(cli, json_pack("{s:o}", "backup", json_path(cli->argv[0])));
}

const struct command cmd_backup = {
	.name = "backup",
	.arguments = "DEST",
	.summary = "copy the store to a new directory while it is in use",
	.help = "Makes the directory DEST on this machine, which must not exist, with a copy of "
		"one\n"
		"committed state of the store. Others may read and write meanwhile. Do not copy\n"
		"the files of a store in use with other programs: such copies are damaged.",
	.example = "chistore -a ./positions backup ./positions-monday",
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_READ,
	.slow = true,
	.run = run_backup,
};
