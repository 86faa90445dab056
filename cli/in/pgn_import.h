/* SPDX-License-Identifier: MIT */
/* Files of games, into a store or out of it: what `import` and `subtract` share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/in/import_run.h"

#define GAMES_THREADS_MAX 256

struct games {
	struct import_run run;
	bool verbose;
	uint64_t max_ply; /* of the options, as is threads */
	uint64_t threads;
	uint64_t notes;
};

/* --memory. */
cli_reader games_memory;

/* Opens the store itself, has it fed, and stores what came, or nothing. `what` is where the games
 * are from, `bytes` how many there are, 0: not known. Prints the summary. */
int games_store(struct cli *cli, struct games *games, uint64_t bytes, const char *what,
		import_feed *feed, void *context);

/*
 * The same of files: feeds all files, and stores what is in them, or nothing. `sources`: of
 * each file one that is open already, or NULL; NULL if none is. Prints the summary.
 */
int games_run(struct cli *cli, struct games *games, int n, char **paths,
	      struct chi_source **sources);
