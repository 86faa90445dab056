/* SPDX-License-Identifier: MIT */
/* chistore ping: whether a store answers, and how fast. */
#include "cli/command.h"
#include "cli/out/output.h"

static int run_ping(struct cli *cli)
{
	uint64_t start = cli_clock();
	int status = chi_ping(cli->client);
	double ms = (double)(cli_clock() - start) / 1e6;
	return status != CHI_OK ? cli_fail(cli->client, status)
				: output_object(cli, json_pack("{s:f}", "round_trip_ms", ms));
}

const struct command cmd_ping = {
	.name = "ping",
	.arguments = "",
	.summary = "measure a round trip to the server",
	.help = "Prints round_trip_ms, the milliseconds until the server answered; for a "
		"directory,\n"
		"until the store has been checked.",
	.example = "chistore -a tcp:localhost:4660 ping",
	.needs = NEEDS_READ,
	.run = run_ping,
};
