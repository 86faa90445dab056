/* SPDX-License-Identifier: MIT */
/* chistore count: how many positions a scan would list. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/in/filter.h"
#include "cli/in/game_terms.h"
#include "cli/out/output.h"

struct count_state {
	struct chi_scan_spec spec;
	struct game_terms terms;
};

static const struct count_state defaults = {.spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX}};

/* The library counts without reading values where the filter allows it. */
static int run_count(struct cli *cli)
{
	struct count_state *state = cli->state;
	struct chi_scan_spec *spec = &state->spec;
	uint64_t n = 0;
	bool mixed = false;
	int code = filter_take(cli, spec);
	if (code == EXIT_DONE) {
		code = game_terms_take(cli, &state->terms);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	spec->games = state->terms.text;
	int status = chi_scan_count(cli->client, spec, &n, &mixed);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (cli->json) {
		output_json(json_pack("{s:o}", "count", json_count(n)));
	} else {
		printf("%" PRIu64 "\n", n);
	}
	game_terms_remark(cli);
	/* Only over a socket: a server keeps no snapshot for the time that a count may take. */
	if (mixed && !cli->quiet) {
		cli_message("the store changed during the count: it is of more than one committed "
			    "state");
	}
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	FILTER_OPTIONS(count_state),
	EVIDENCE_OPTIONS(count_state, spec.filter.evidence),
	GAME_HEAD_OPTIONS(count_state, terms),
	OPTIONS_END,
};

const struct command cmd_count = {
	.name = "count",
	.arguments = "",
	.summary = "count the positions of a band",
	.help = "Prints how many positions 'chistore scan' with the same options would list.",
	.example = "chistore -a ./positions count --pieces ..7 --side w\n"
		   "chistore -a ./games count --player Velan --min-games 5",
	.options = options,
	.needs = NEEDS_READ,
	.slow = true,
	.state_size = sizeof(struct count_state),
	.defaults = &defaults,
	.run = run_count,
};
