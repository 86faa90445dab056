/* SPDX-License-Identifier: MIT */
/* chistore init: makes an empty store. */
#include <string.h>

#include "chess/statistic.h"
#include "client/cli/command.h"
#include "client/cli/out/output.h"

enum {
	OPT_STATISTIC = 1,
};

struct init_state {
	enum chi_statistic statistic; /* 0: the default */
};

/* There is one option, so its id says nothing. */
static int option(struct cli *cli, void *state, int id, const char *value)
{
	struct init_state *init = state;
	(void)id;
	return cli_statistic(cli, value, &init->statistic);
}

/* Control is the default because every position has that statistic. */
static int run(struct cli *cli, void *state, int argc, char **argv)
{
	struct init_state *init = state;
	struct chi_fault fault = {.text = ""};
	enum chi_statistic statistic =
		init->statistic != 0 ? init->statistic : CHI_STATISTIC_CONTROL;
	(void)argc;
	(void)argv;
	/* No client: there is nothing to open yet, and a server cannot create stores. */
	int status = chi_create(cli->address, statistic, &fault);
	if (status != CHI_OK) {
		cli_message("%s", fault.text[0] != '\0' ? fault.text : chi_strerror(status));
		return cli_exit_of(status);
	}
	output_object(cli, json_pack("{s:o, s:s}", "created", json_path(cli->address), "statistic",
				     chi_statistic_name((int)statistic)));
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	{OPT_STATISTIC, "statistic", "KIND", "external, control or outcome (default: control)"},
	{0, NULL, NULL, NULL},
};

const struct command cmd_init = {
	.name = "init",
	.arguments = "",
	.summary = "create an empty store",
	.help = "Creates an empty store at ADDRESS, a directory that does not exist or is empty.\n"
		"\n"
		"A store orders its positions by one statistic, chosen here for good:\n"
		"  control   computed from the position: how differently the sides attack the "
		"board\n"
		"  outcome   computed from results: how surely they differ from the average game\n"
		"  external  given with each position ('put --chi2', or a chi2 column on import)",
	.example = "chistore -a ./positions init --statistic outcome",
	.options = options,
	.needs = NEEDS_ADDRESS,
	.state_size = sizeof(struct init_state),
	.option = option,
	.run = run,
};
