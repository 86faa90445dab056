/* SPDX-License-Identifier: MIT */
/* Files of positions into a store, all of them or nothing; or standard input, piece by piece. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/in/import_run.h"

struct line_files {
	struct import_run run; /* of its options: format, engine, add */
	bool verbose;	       /* report all bad lines */
	bool strict;	       /* bad lines fail the command, when all others are stored */

	uint64_t bad;	     /* lines reported */
	struct piped *piped; /* NULL: files */
	bool empty;	     /* a file had not a byte */
	uint64_t told;	     /* such files that the import counts, too */
};

/*
 * Imports the files and prints the summary; a file without a position fails. A directory without a
 * store gets one if there is a position. `sources`: of each file one that is open already, or NULL;
 * those used are closed and cleared. `total`: their bytes, 0 if not known. Returns an exit code.
 */
int lines_import(struct cli *cli, struct line_files *files, int n, char **paths,
		 struct chi_source **sources, uint64_t total);

/*
 * Imports standard input, whose format has no first line of its own, as it comes: what was read is
 * stored when it is much, or when a second is over and nothing more is there to be read. Prints one
 * summary of all. If it ends before the input, says which lines are stored. Returns an exit code.
 */
int lines_pipe(struct cli *cli, struct line_files *files);
