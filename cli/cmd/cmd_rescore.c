/* SPDX-License-Identifier: MIT */
/* chistore rescore: computes all statistics again. */
#include "chess/statistic.h"
#include "cli/command.h"
#include "cli/out/output.h"
#include "cli/in/put_text.h"

struct rescore_state {
	struct chi_counts base;
	enum chi_statistic statistic;
};

/* Without --base the library takes the games counted in the store, or sums all counts. */
static int run_rescore(struct cli *cli)
{
	const struct rescore_state *wanted = cli->state;
	const struct chi_counts *base = cli_given(cli, "base") ? &wanted->base : NULL;
	struct chi_fault fault = {.text = ""};
	uint64_t changed = 0;
	int status;
	if (wanted->statistic != 0) {
		status = chi_store_set_statistic(cli->address, wanted->statistic, base, &changed,
						 &fault);
		if (status != CHI_OK) {
			return cli_fault(status, &fault);
		}
		return output_object(cli, json_pack("{s:o}", "changed", json_count(changed)));
	}
	int code = cli_open(cli, true, &cli->client);
	if (code != EXIT_DONE) {
		return code;
	}
	status = chi_store_rescore(cli->client, base, &changed);
	return status != CHI_OK
		       ? cli_fail(cli->client, status)
		       : output_object(cli, json_pack("{s:o}", "changed", json_count(changed)));
}

static const struct cli_option options[] = {
	{"base", "W,D,L", "compare with these games instead of all in the store", option_counts, 0,
	 0, 0, NULL, NULL},
	OPTION_WORD(rescore_state, statistic, chi_statistic_names, "statistic", "KIND",
		    "from now on: control, outcome, score, eval, performance, or external"),
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
		"nothing to compute, and is refused.\n"
		"\n"
		"--statistic gives a store in a directory another statistic; performance needs\n"
		"one that keeps games, and external keeps the numbers as they are. No other\n"
		"process may have the store open, a server neither.",
	.example = "chistore -a ./positions rescore --base 384,327,289\n"
		   "chistore -a ./games rescore --statistic performance",
	.options = options,
	.needs = NEEDS_ADDRESS,
	.slow = true,
	.state_size = sizeof(struct rescore_state),
	.run = run_rescore,
};
