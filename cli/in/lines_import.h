/* SPDX-License-Identifier: MIT */
/* Files of positions into a store, all of them or nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "cli/out/progress.h"
#include "formats/source.h"

struct line_files {
	struct chi_import_options options; /* format, engine, add */
	enum chi_statistic create;	   /* of a store that is made; 0: not given */
	bool verbose;			   /* report all bad lines */
	bool strict; /* bad lines fail the command, when all others are stored */

	struct cli *cli;
	uint64_t bad;	       /* lines reported */
	bool empty;	       /* a file had not a byte */
	uint64_t told;	       /* such files that the import counts, too */
	uint64_t lines;	       /* of the file being fed */
	uint64_t all_lines;    /* of all files */
	uint64_t bytes_before; /* of the files done */
	struct progress progress;
};

/* Begins an import of positions. Without `create` a store that is missing is made, of the kind that
 * holds every position in both trees. Returns an exit code. */
int lines_import_open(struct cli *cli, enum chi_statistic create,
		      const struct chi_import_options *import, struct chi_import **out);

/*
 * Imports the files and prints the summary; a file without a position fails. A directory without a
 * store gets one if there is a position. `sources`: of each file one that is open already, or NULL;
 * those used are closed and cleared. `total`: their bytes, 0 if not known. Returns an exit code.
 */
int lines_import(struct cli *cli, struct line_files *files, int n, char **paths,
		 struct chi_source **sources, uint64_t total);
