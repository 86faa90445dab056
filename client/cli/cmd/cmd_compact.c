/* SPDX-License-Identifier: MIT */
/* chistore compact: gives free pages back to the disk. */
#include "client/cli/command.h"
#include "client/cli/out/output.h"

/* Needs a writable client: readers elsewhere make the library refuse, and nothing changes. */
static int run(struct cli *cli)
{
	uint64_t before = 0;
	uint64_t after = 0;
	int status = chi_compact(cli->client, &before, &after);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	return output_object(cli, json_pack("{s:o, s:o}", "bytes_before", json_count(before),
					    "bytes_after", json_count(after)));
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
	.needs = NEEDS_WRITE,
	.slow = true,
	.run = run,
};
