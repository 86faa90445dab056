/* SPDX-License-Identifier: MIT */
/* chistore reshard: another number of shards for a store on RADOS. */
#include "client/cli/command.h"
#include "client/cli/out/output.h"
#include "client/cli/out/progress.h"

struct reshard_state {
	uint64_t shards;
};

static void progressed(void *context, const char *phase, uint64_t done, uint64_t total)
{
	progress_phase(context, phase, done, total);
}

static int run(struct cli *cli)
{
	const struct reshard_state *wanted = cli->state;
	struct progress progress;
	const struct chi_reshard_options options = {
		.progress = progressed, .context = &progress, .cancel = &cli_stop};
	struct chi_reshard_result result;
	if (wanted->shards == 0) {
		return cli_usage(cli, "reshard needs --shards");
	}
	progress_init(&progress, cli->quiet, 0);
	cli_catch_signals();
	int status = chi_reshard(cli->client, (uint32_t)wanted->shards, &options, &result);
	progress_clear(&progress);
	if (status != CHI_OK) {
		int code = cli_fail(cli->client, status);
		return status == -CHI_ECANCELED && cli_stop != 0 ? 128 + cli_stop : code;
	}
	return output_object(cli, json_pack("{s:o, s:o, s:o}", "before", json_count(result.before),
					    "shards", json_count(result.shards), "positions",
					    json_count(result.positions)));
}

static const struct cli_option options[] = {
	OPTION_NUMBER(reshard_state, shards, 1, CHI_SHARDS_MAX, "shards", "N",
		      "how many there are to be"),
	OPTIONS_END,
};

const struct command cmd_reshard = {
	.name = "reshard",
	.arguments = "",
	.summary = "change the number of shards of a store on RADOS",
	.help = "Copies all entries of a store on RADOS to N new objects, removes the old ones, "
		"and\n"
		"prints how many shards there were before and are now, and how many positions\n"
		"were copied (0 if there were N already). Meanwhile the store takes the room of\n"
		"both.\n"
		"\n"
		"Others can read meanwhile; scans that are open when the new shards are there "
		"end\n"
		"with an error. Writes wait, and fail when their time is over. Ctrl-C takes all\n"
		"back. If it was killed, the store takes no writes until it is repeated; with "
		"the\n"
		"number that the store has, it takes back what was begun.",
	.example = "chistore -a rados:chess/main reshard --shards 4096",
	.options = options,
	.needs = NEEDS_WRITE,
	.slow = true,
	.state_size = sizeof(struct reshard_state),
	.run = run,
};
