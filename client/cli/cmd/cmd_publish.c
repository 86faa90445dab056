/* SPDX-License-Identifier: MIT */
/* chistore publish: a copy that everybody may read, made again and again at the same place. */
#include "client/cli/child.h"
#include "client/cli/command.h"
#include "client/cli/out/output.h"

/* The copy is verified before it is published, and reading a damaged page can end the process. */
static int work(struct cli *cli, const void *state)
{
	const char *dest = state;
	int code = cli_open(cli, false, &cli->client);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_publish(cli->client, dest);
	if (status != CHI_OK) {
		code = cli_fail(cli, status);
	} else {
		output_object(cli, json_pack("{s:o}", "published", json_path(dest)));
	}
	chi_close(cli->client);
	cli->client = NULL;
	return code;
}

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	(void)state;
	(void)argc;
	return cli_in_child(cli, work, argv[0], "publication");
}

const struct command cmd_publish = {
	.name = "publish",
	.arguments = "DEST",
	.summary = "make a read-only copy that every local user may open",
	.help = "Makes the directory DEST on this machine with a copy of one committed state of "
		"the\n"
		"store, compacted and verified; others may read and write meanwhile. Every local\n"
		"user can open DEST as an address and read it, without rights to write there; "
		"nobody\n"
		"can write it, and 'backup' of it makes a store again.\n"
		"An older copy that was published at DEST is replaced at one moment, so that this "
		"can\n"
		"be done every night; who has that one open keeps it until the store is opened "
		"anew.\n"
		"Anything else at DEST is left alone, and the exit code is 3. The same if the "
		"store is\n"
		"damaged: nothing is published then.",
	.example = "chistore -a unix:/run/chistore.sock publish /srv/chess/positions\n"
		   "chistore -a /srv/chess/positions info",
	.args_min = 1,
	.args_max = 1,
	.needs = NEEDS_ADDRESS,
	.slow = true,
	.run = run,
};
