/* SPDX-License-Identifier: MIT */
/* chistore rescore: computes all statistics anew. */
#include "client/cli/command.h"
#include "client/cli/out/output.h"
#include "client/cli/out/put_text.h"

enum {
	OPT_BASE = 1,
};

struct rescore_state {
	struct chi_counts base;
	bool has_base;
};

/* Base rates of 0,0,0 are given ones, too: has_base tells them from none. */
static int option(struct cli *cli, void *state, int id, const char *value)
{
	struct rescore_state *rescore = state;
	(void)id;
	rescore->has_base = true;
	return text_counts(cli, "base", value, &rescore->base);
}

/* Without --base the library takes the games counted in the store, or sums all counts. */
static int run(struct cli *cli, void *state, int argc, char **argv)
{
	struct rescore_state *rescore = state;
	uint64_t changed = 0;
	(void)argc;
	(void)argv;
	int status = chi_rescore(cli->client, rescore->has_base ? &rescore->base : NULL, &changed);
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	output_object(cli, json_pack("{s:o}", "changed", json_count(changed)));
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	{OPT_BASE, "base", "W,D,L", "compare with these games instead of all in the store"},
	{0, NULL, NULL, NULL},
};

const struct command cmd_rescore = {
	.name = "rescore",
	.arguments = "",
	.summary = "compute every statistic anew",
	.help = "In an outcome store the statistic compares a position's results with base rates.\n"
		"After imports these have moved: this sets them to the results of the games\n"
		"counted in the store (without any: to the sum of all positions' counts), or to\n"
		"--base, computes every statistic anew, and prints how many changed. In an\n"
		"external store there is nothing to compute, and it is refused.",
	.example = "chistore -a ./positions rescore --base 384,327,289",
	.options = options,
	.needs = NEEDS_WRITE,
	.slow = true,
	.state_size = sizeof(struct rescore_state),
	.option = option,
	.run = run,
};
