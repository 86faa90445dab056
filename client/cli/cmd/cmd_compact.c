/* SPDX-License-Identifier: MIT */
/* chistore compact: gives free pages back to the disk. */
#include "client/cli/child.h"
#include "client/cli/command.h"
#include "client/cli/out/output.h"

/* The store is verified first, and reading a damaged page can end the process. Needs a writable
 * client: readers elsewhere make the library refuse, and nothing changes. */
static int work(struct cli *cli, const void *state)
{
	uint64_t before = 0;
	uint64_t after = 0;
	(void)state;
	int code = cli_open(cli, true, &cli->client);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_compact(cli->client, &before, &after);
	if (status != CHI_OK) {
		code = cli_fail(cli, status);
	} else {
		output_object(cli, json_pack("{s:o, s:o}", "bytes_before", json_count(before),
					     "bytes_after", json_count(after)));
	}
	chi_close(cli->client);
	cli->client = NULL;
	return code;
}

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return cli_in_child(cli, work, state, "compaction");
}

const struct command cmd_compact = {
	.name = "compact",
	.arguments = "",
	.summary = "rewrite the data file without its free pages",
	.help = "A store's file never shrinks by itself; pages that deletions left free are used\n"
		"again. This rewrites it without them and prints bytes_before and bytes_after. It\n"
		"needs room for the new file beside the old one, and no other process may have\n"
		"the store open. The store is verified first: a damaged one stays as it is, and "
		"the\n"
		"exit code is 3. A server goes on reading and writing meanwhile; its writes wait\n"
		"while the new file is written.",
	.example = "chistore -a ./positions compact",
	.needs = NEEDS_ADDRESS,
	.slow = true,
	.run = run,
};
