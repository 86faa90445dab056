/* SPDX-License-Identifier: MIT */
/* The positions that an analyser is to work off, or to grow trees from. */
#pragma once

#include "cli/cli.h"

struct positions {
	const char *line;	/* not NULL: each position of this line, */
	const char *repertoire; /* else not NULL: of the games and variations of this PGN file, */
	struct chi_scan_spec *scan; /* else, without arguments, those of the scan; */
	bool initial;		    /* but if this is set, the initial one */
	/* What is done with each; of an error, -CHI_ETOOBIG is told as more than `max`. */
	int (*add)(void *context, const struct chi_key *key);
	void *context;
	size_t max;
};

/* Says what is wrong; returns an exit code. */
int positions_take(struct cli *cli, const struct positions *positions);
