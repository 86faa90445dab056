/* SPDX-License-Identifier: MIT */
/* chistore backup: a consistent copy, while the store is in use. */
#include "client/cli/command.h"
#include "client/cli/out/output.h"

/* The library makes the directory under another name and renames it when it is whole. */
static int run(struct cli *cli, void *state, int argc, char **argv)
{
	(void)state;
	(void)argc;
	int status = chi_backup(cli->client, argv[0]);
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	output_object(cli, json_pack("{s:o}", "backup", json_path(argv[0])));
	return EXIT_DONE;
}

const struct command cmd_backup = {
	.name = "backup",
	.arguments = "DEST",
	.summary = "copy the store to a new directory, while it is in use",
	.help = "Makes the directory DEST on this machine, which must not exist, with a copy of "
		"one\n"
		"committed state of the store. Others may read and write meanwhile. Copying the\n"
		"files of a store in use with other programs gives damaged copies.",
	.example = "chistore -a ./positions backup ./positions-monday",
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_READ,
	.slow = true,
	.run = run,
};
