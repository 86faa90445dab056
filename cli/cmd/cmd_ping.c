/* SPDX-License-Identifier: MIT */
/* chistore ping: whether a store answers, and how fast; and its disk. */
#include "cli/command.h"
#include "cli/out/output.h"

struct ping_state {
	bool store;
};

static int run_ping(struct cli *cli)
{
	struct chi_disk_check disk = {.direct = false};
	bool reads = ((const struct ping_state *)cli->state)->store;
	uint64_t start = cli_clock();
	int status = reads ? chi_store_check_disk(cli->client, &disk) : chi_ping(cli->client);
	double ms = (double)(cli_clock() - start) / 1e6;
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	json_t *out = json_pack("{s:f}", "round_trip_ms", ms);
	if (out != NULL && reads) {
		(void)json_object_set_new(out, "disk_read", json_boolean(disk.direct));
	}
	return output_object(cli, out);
}

static const struct cli_option options[] = {
	OPTION_FLAG(ping_state, store, "store",
		    "read the disk under the store, past the page cache"),
	OPTIONS_END,
};

const struct command cmd_ping = {
	.name = "ping",
	.arguments = "",
	.summary = "measure a round trip to the server",
	.help = "Prints round_trip_ms, the milliseconds until the server answered; for a "
		"directory,\n"
		"until the store has been checked. With --store the disk is read first: the "
		"check\n"
		"for a monitor, since a server answers a ping from memory after its disk was cut "
		"off.\n"
		"disk_read is false where the file system has no reads past the page cache.",
	.example = "chistore -a tcp:localhost:4660 ping\n"
		   "chistore -a unix:/run/chistore/socket ping --store",
	.options = options,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct ping_state),
	.run = run_ping,
};
