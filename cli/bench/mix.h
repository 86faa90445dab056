/* SPDX-License-Identifier: MIT */
/* The kinds of request that a bench sends, and how often each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "cli/bench/rng.h"

enum mix_kind {
	MIX_PROBE,   /* one position's statistic and counts */
	MIX_BATCH,   /* those of many */
	MIX_GET,     /* one position's whole record */
	MIX_EXPLORE, /* what was played from one */
	MIX_SCAN,    /* rows from one on, in the order of the statistic */
	MIX_PUT,     /* new positions */
	MIX_KINDS,
};

struct mix {
	uint32_t weights[MIX_KINDS]; /* 0: none of the kind */
	uint32_t sum;
};

const char *mix_name(enum mix_kind kind);

/* Takes "probe=90,scan=10", the value of --mix, to a struct mix. */
cli_reader mix_parse;

/* A kind, as often as its weight says. The mix is not empty. */
enum mix_kind mix_draw(const struct mix *mix, struct rng *rng);
