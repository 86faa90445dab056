/* SPDX-License-Identifier: MIT */
/* Files of games, into a store or out of it: what `import` and `subtract` share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "cli/out/progress.h"
#include "formats/source.h"

#define GAMES_THREADS_MAX 256

struct games {
	struct chi_import_options options;
	enum chi_statistic create; /* of --statistic; 0 if it was not given */
	bool verbose;
	uint64_t max_ply; /* of the options, as is threads */
	uint64_t threads;
	uint64_t notes;
	uint64_t seen;	       /* games that have been fed, about */
	uint64_t bytes_before; /* of the files done */
	struct progress progress;
};

/* --memory. */
cli_reader games_memory;

/* Says what is wrong, unless a signal stopped the work, which is said at the end. Returns `code`.
 */
int games_fail(struct games *games, const char *text, int code);

/* Feeds all games; returns an exit code, having said what is wrong. Looks at cli_stop. */
typedef int games_feed(struct games *games, struct chi_import *import, void *context);

/* Opens the store itself, has it fed, and stores what came, or nothing. `what` is where the games
 * are from, `bytes` how many there are, 0: not known. Prints the summary. */
int games_store(struct cli *cli, struct games *games, uint64_t bytes, const char *what,
		games_feed *feed, void *context);

/*
 * The same of files: feeds all files, and stores what is in them, or nothing. `sources`: of
 * each file one that is open already, or NULL; NULL if none is. Prints the summary.
 */
int games_run(struct cli *cli, struct games *games, int n, char **paths,
	      struct chi_source **sources);
