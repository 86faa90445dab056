/* SPDX-License-Identifier: MIT */
/* chistore count: how many positions a scan would list. */
#include <inttypes.h>
#include <stdio.h>

#include "client/cli/in/filter.h"
#include "client/cli/out/output.h"

struct count_state {
	struct chi_scan_spec spec;
	bool ready; /* spec has its defaults */
};

/* Without any option run() is the first to ask for them. */
static void set_defaults(struct count_state *count)
{
	if (!count->ready) {
		filter_init(&count->spec);
		count->ready = true;
	}
}

static int option(struct cli *cli, void *state, int id, const char *value)
{
	struct count_state *count = state;
	set_defaults(count);
	return filter_option(cli, &count->spec, id, value);
}

/* The library counts without reading values where the filter allows it. */
static int run(struct cli *cli, void *state, int argc, char **argv)
{
	struct count_state *count = state;
	uint64_t n = 0;
	bool mixed = false;
	(void)argc;
	(void)argv;
	set_defaults(count);
	int code = filter_check(cli, &count->spec);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_count(cli->client, &count->spec, &n, &mixed);
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	if (cli->json) {
		output_json(json_pack("{s:o}", "count", json_count(n)));
	} else {
		printf("%" PRIu64 "\n", n);
	}
	/* Only over a socket: a server does not keep a snapshot for as long as a count may take. */
	if (mixed && !cli->quiet) {
		cli_message("the store changed during the count: it is of more than one committed "
			    "state");
	}
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	FILTER_OPTIONS,
	{0, NULL, NULL, NULL},
};

const struct command cmd_count = {
	.name = "count",
	.arguments = "",
	.summary = "count the positions of a band",
	.help = "Prints how many positions 'chistore scan' with the same options would list.",
	.example = "chistore -a ./positions count --pieces ..7 --side w",
	.options = options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct count_state),
	.option = option,
	.run = run,
};
