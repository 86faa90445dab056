/* SPDX-License-Identifier: MIT */
/* chistore init: makes an empty store. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chess/statistic.h"
#include "cli/command.h"
#include "cli/in/keep.h"
#include "cli/out/output.h"

/* As --games left it: what such a store can keep. */
#define KEEP_DEFAULT CHI_COUNT(keep_names)

struct init_state {
	enum chi_statistic statistic;
	uint8_t keep; /* enum chi_keep */
	uint64_t shards;
};

/* Control is the default because every position has that statistic. */
static const struct init_state defaults = {.statistic = CHI_STATISTIC_CONTROL,
					   .keep = KEEP_DEFAULT};

/* A number of shards is part of an address. */
static int make_address(struct cli *cli, uint64_t shards, char *out, size_t size)
{
	int len = snprintf(out, size, "%s", cli->address);
	if (shards > 0 && !cli_is_rados(cli)) {
		return cli_usage(cli, "--shards: '%s' is not on RADOS", cli->address);
	}
	if (shards > 0) {
		len = snprintf(out, size, "%s%cshards=%" PRIu64, cli->address,
			       strchr(cli->address, '?') != NULL ? '&' : '?', shards);
	}
	return len >= 0 && (size_t)len < size ? EXIT_DONE
					      : cli_usage(cli, "the address is too long");
}

/* No client: there is nothing to open yet, and a server cannot create stores. */
static int run_init(struct cli *cli)
{
	const struct init_state *wanted = cli->state;
	struct chi_fault fault = {.text = ""};
	char address[8192];
	uint8_t keep = wanted->keep != KEEP_DEFAULT ? wanted->keep
		       : cli_is_rados(cli)	    ? CHI_KEEP_COUNTS
						    : CHI_KEEP_GAMES;
	int bad = make_address(cli, wanted->shards, address, sizeof(address));
	if (bad != EXIT_DONE) {
		return bad;
	}
	int status = chi_store_create(address, wanted->statistic, (enum chi_keep)keep, &fault);
	if (status != CHI_OK) {
		return cli_fault(status, &fault);
	}
	return output_object(cli, json_pack("{s:o, s:s, s:s}", "created", json_path(cli->address),
					    "statistic", chi_statistic_name(wanted->statistic),
					    "games", keep_names[keep]));
}

static const struct cli_option options[] = {
	OPTION_WORD(init_state, statistic, chi_statistic_names, "statistic", "KIND",
		    "control (default), outcome, score, eval, performance or external"),
	OPTION_WORD(init_state, keep, keep_names, "games", "WORD",
		    "keep (default): the games themselves; none: only their counts,\n"
		    "as always on RADOS"),
	OPTION_NUMBER(init_state, shards, 1, CHI_SHARDS_MAX, "shards", "N",
		      "on RADOS: objects that hold the positions (default 64)"),
	OPTIONS_END,
};

const struct command cmd_init = {
	.name = "init",
	.arguments = "",
	.summary = "create an empty store",
	.help = "Creates an empty store at ADDRESS, a directory that does not exist or is empty,\n"
		"or rados:POOL/NAME in a pool of a Ceph cluster.\n"
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
	.run = run_init,
};
