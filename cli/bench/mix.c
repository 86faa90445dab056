/* SPDX-License-Identifier: MIT */
/* Kinds of requests by name and by weight. */
#include "cli/bench/mix.h"

#include <string.h>

#include "base/num.h"

#define WEIGHT_MAX 1000000

static const char *const names[MIX_KINDS] = {
	[MIX_PROBE] = "probe",	   [MIX_BATCH] = "batch", [MIX_GET] = "get",
	[MIX_EXPLORE] = "explore", [MIX_SCAN] = "scan",	  [MIX_PUT] = "put",
};

const char *mix_name(enum mix_kind kind)
{
	return names[kind];
}

/* MIX_KINDS if the name is none. */
static size_t find_mix(const char *name, size_t len)
{
	size_t kind = 0;
	while (kind < MIX_KINDS &&
	       (strlen(names[kind]) != len || memcmp(names[kind], name, len) != 0)) {
		kind++;
	}
	return kind;
}

/* "probe=90". */
static int take_part(const struct cli *cli, const char *part, size_t len, struct mix *mix)
{
	const char *equals = memchr(part, '=', len);
	size_t n_name = equals != NULL ? (size_t)(equals - part) : len;
	size_t kind = find_mix(part, n_name);
	uint64_t weight = 0;
	if (kind == MIX_KINDS) {
		return cli_usage(cli,
				 "--mix: '%.*s' is not one of probe, batch, get, explore, scan, "
				 "put",
				 (int)n_name, part);
	}
	if (equals == NULL ||
	    chi_num_u64(equals + 1, len - n_name - 1, WEIGHT_MAX, &weight) != CHI_OK ||
	    weight == 0) {
		return cli_usage(cli, "--mix: '%.*s' needs a weight from 1 to %d, as in %s=10",
				 (int)len, part, WEIGHT_MAX, names[kind]);
	}
	if (mix->weights[kind] != 0) {
		return cli_usage(cli, "--mix: %s is named twice", names[kind]);
	}
	mix->weights[kind] = (uint32_t)weight;
	mix->sum += (uint32_t)weight;
	return EXIT_DONE;
}

int mix_parse(struct cli *cli, const struct cli_option *option, const char *text, void *out)
{
	int code;
	(void)option;
	*(struct mix *)out = (struct mix){.sum = 0};
	do {
		size_t len = strcspn(text, ",");
		code = take_part(cli, text, len, out);
		text += len;
	} while (code == EXIT_DONE && *text++ == ',');
	return code;
}

enum mix_kind mix_draw(const struct mix *mix, struct rng *rng)
{
	uint32_t left = rng_below(rng, mix->sum);
	unsigned kind = 0;
	while (left >= mix->weights[kind]) {
		left -= mix->weights[kind++];
	}
	return kind;
}
