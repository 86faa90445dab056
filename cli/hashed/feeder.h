/* SPDX-License-Identifier: MIT */
/* What was found by a walk over hashes, on its way to an import as lines of JSON. */
#pragma once

#include "base/buffer.h"
#include "cli/in/import_run.h"

struct feeder {
	struct import_run run;
	struct chi_buffer text; /* to be sent */
	bool empty;		/* of a file no position was found */
};

/* Feeds the positions of a file; returns an exit code. */
typedef int feeder_file(struct feeder *feeder, const char *path);

/* Imports lines of JSON, all or nothing; what the options of `run` say of kind, format and reports
 * is set here. `done` as of import_store. Returns an exit code. */
int feeder_run(struct cli *cli, struct feeder *feeder, int n, char **paths, feeder_file *feed,
	       import_done *done);

/* A chi_hashed_take, whose context is the feeder: the line that the import reads as that put. */
CHI_MUSTUSE int feeder_take(void *feeder, const struct chi_put_entry *put);

/* All of a file was added, `positions` of them, unless `status` says why not. Returns an exit code.
 */
int feeder_end_file(struct feeder *feeder, const char *path, int status, uint64_t positions);
