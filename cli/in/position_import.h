/* SPDX-License-Identifier: MIT */
/* Lines of positions put as they come, for `put --batch`: a program may feed it for hours. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "cli/in/batch.h"
#include "cli/out/progress.h"
#include "formats/reader.h"

struct position_import {
	struct chi_position_reader_options options;
	bool strict; /* bad lines fail the command, when all others are stored */

	struct cli *cli;
	int code;	   /* what was said of the input */
	bool computed;	   /* the store computes its statistic: a given one is dropped */
	bool told_dropped; /* that has been said */
	const char *path;  /* for messages */
	uint64_t read;
	uint64_t rejected;
	struct progress progress;
	struct batch batch;
};

/* Stores what standard input says until it ends, and prints the summary; none at all fails. Returns
 * an exit code. */
int positions_run(struct cli *cli, struct position_import *import);
