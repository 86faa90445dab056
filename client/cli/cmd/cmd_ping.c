/* SPDX-License-Identifier: MIT */
/* chistore ping: whether a store answers, and how fast. */
#include <time.h>

#include "client/cli/command.h"
#include "client/cli/out/output.h"

/* The monotonic clock: a step of the wall clock is no round trip. */
static double milliseconds(const struct timespec *start, const struct timespec *end)
{
	return (double)(end->tv_sec - start->tv_sec) * 1e3 +
	       (double)(end->tv_nsec - start->tv_nsec) / 1e6;
}

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	struct timespec start;
	struct timespec end;
	(void)state;
	(void)argc;
	(void)argv;
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	int status = chi_ping(cli->client);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	output_object(cli, json_pack("{s:f}", "round_trip_ms", milliseconds(&start, &end)));
	return EXIT_DONE;
}

const struct command cmd_ping = {
	.name = "ping",
	.arguments = "",
	.summary = "ask for a sign of life",
	.help = "Prints round_trip_ms, the milliseconds until the server answered; for a "
		"directory,\n"
		"until the store had been looked at.",
	.example = "chistore -a tcp:localhost:4660 ping",
	.needs = NEEDS_READ,
	.run = run,
};
