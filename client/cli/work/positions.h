/* SPDX-License-Identifier: MIT */
/* The positions that an analyser is to work off. */
#pragma once

#include "client/cli/cli.h"
#include "client/cli/work/source.h"

/* Adds those of the line if it is not NULL, else of the arguments, else of a scan by `spec`, to the
 * source. Says what is wrong; returns an exit code. */
int positions_take(struct cli *cli, const char *line, struct chi_scan_spec *spec,
		   struct source *source);
