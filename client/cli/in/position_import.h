/* SPDX-License-Identifier: MIT */
/* Files of positions, a line each, into a store: what `import` and `put --batch` share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/cli/cli.h"
#include "client/cli/in/batch.h"
#include "client/cli/out/progress.h"
#include "formats/reader.h"

struct positions {
	struct chi_position_reader_options options;
	enum chi_statistic create; /* of --statistic; 0 if it was not given */
	bool verbose;		   /* every bad line is reported */
	bool strict;		   /* bad lines fail the command, when all others are stored */

	struct cli *cli;
	int code;	   /* of the file being read: what was said of it */
	bool computed;	   /* the store computes its statistic: a given one is dropped */
	bool told_dropped; /* that has been said */
	const char *path;  /* of the file being read */
	uint64_t read;
	uint64_t rejected;
	uint64_t bytes_before; /* of the files done */
	struct progress progress;
	struct batch batch;
};

/*
 * Stores what is in the files, and prints the summary; a file without a position fails. A directory
 * without a store gets one when the first position has been read. `sources`: of each file one that
 * is open already, or NULL; NULL if none is. `total`: their bytes, 0 if not known. Returns an exit
 * code.
 */
int positions_run(struct cli *cli, struct positions *import, int n, char **paths,
		  struct chi_source **sources, uint64_t total);
