/* SPDX-License-Identifier: MIT */
/* chistore rescore: computes all statistics again. */
#include "cli/command.h"
#include "cli/out/output.h"
#include "cli/in/put_text.h"

/* Without --base the library takes the games counted in the store, or sums all counts. */
static int run_rescore(struct cli *cli)
{
	uint64_t changed = 0;
	int status = chi_store_rescore(cli->client, cli_given(cli, "base") ? cli->state : NULL,
				       &changed);
	return status != CHI_OK
		       ? cli_fail(cli->client, status)
		       : output_object(cli, json_pack("{s:o}", "changed", json_count(changed)));
}

static const struct cli_option options[] = {
	{"base", "W,D,L", "compare with these games instead of all in the store", option_counts, 0,
	 0, 0, NULL, NULL},
	OPTIONS_END,
};

const struct command cmd_rescore = {
	.name = "rescore",
	.arguments = "",
	.summary = "recompute every statistic",
	.help = "In an outcome or score store the statistic depends on base rates as well.\n"
		"Imports change these: rescore sets them to the results of the games counted in\n"
		"the store (without any: to the sum of all positions' counts), or to --base,\n"
		"recomputes every statistic, and prints how many changed. An external store has\n"
		"nothing to compute, and is refused.",
	.example = "chistore -a ./positions rescore --base 384,327,289",
	.options = options,
	.needs = NEEDS_WRITE,
	.slow = true,
	.state_size = sizeof(struct chi_counts),
	.run = run_rescore,
};
