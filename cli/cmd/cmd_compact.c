/* SPDX-License-Identifier: MIT */
/* chistore compact: gives free pages back to the disk. */
#include "cli/command.h"
#include "cli/out/output.h"

/* Needs a writable client: readers elsewhere make the library refuse, and nothing changes. */
static int run_compact(struct cli *cli)
{
	uint64_t before = 0;
	uint64_t after = 0;
	int status = chi_store_compact(cli->client, &before, &after);
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
	.help = "A store's file never shrinks by itself; pages freed by deletions are reused.\n"
		"This rewrites it without them and prints bytes_before and bytes_after. It needs\n"
		"disk space for the new file beside the old one, and no other process may have\n"
		"the store open. The store is verified first: a damaged one is not changed, and\n"
		"the exit code is 3. A server keeps answering meanwhile; writes wait while the\n"
		"new file is written.",
	.example = "chistore -a ./positions compact",
	.needs = NEEDS_WRITE,
	.slow = true,
	.run = run_compact,
};
