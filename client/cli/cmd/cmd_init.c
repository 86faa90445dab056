/* SPDX-License-Identifier: MIT */
/* chistore init: makes an empty store. */
#include "chess/statistic.h"
#include "client/cli/command.h"
#include "client/cli/in/keep.h"
#include "client/cli/out/output.h"

struct init_state {
	enum chi_statistic statistic;
	enum chi_keep keep;
};

/* Control is the default because every position has that statistic. */
static const struct init_state defaults = {.statistic = CHI_STATISTIC_CONTROL};

/* No client: there is nothing to open yet, and a server cannot create stores. */
static int run(struct cli *cli)
{
	const struct init_state *wanted = cli->state;
	struct chi_fault fault = {.text = ""};
	int status = chi_create(cli->address, wanted->statistic, wanted->keep, &fault);
	if (status != CHI_OK) {
		return cli_fault(status, &fault);
	}
	return output_object(cli, json_pack("{s:o, s:s, s:s}", "created", json_path(cli->address),
					    "statistic", chi_statistic_name(wanted->statistic),
					    "games", keep_names[wanted->keep]));
}

static const struct cli_option options[] = {
	OPTION_WORD(init_state, statistic, chi_statistic_names, "statistic", "KIND",
		    "control (default), outcome, score, eval or external"),
	OPTION_WORD(init_state, keep, keep_names, "games", "WORD",
		    "keep (default): the games themselves; none: only their counts"),
	OPTIONS_END,
};

const struct command cmd_init = {
	.name = "init",
	.arguments = "",
	.summary = "create an empty store",
	.help = "Creates an empty store at ADDRESS, a directory that does not exist or is empty.\n"
		"\n"
		"A store orders its positions by one statistic, which cannot be changed later:\n"
		"  control   computed from the position: how differently the sides attack the "
		"board\n"
		"  outcome   computed from results: how significantly they differ from the "
		"average\n"
		"  score     computed from results: the percentage that White can expect\n"
		"  eval      the deepest evaluation, as White sees it\n"
		"  external  given with each position ('put --chi2', or a chi2 column on import)",
	.example = "chistore -a ./positions init --statistic outcome",
	.options = options,
	.needs = NEEDS_ADDRESS,
	.state_size = sizeof(struct init_state),
	.defaults = &defaults,
	.run = run,
};
