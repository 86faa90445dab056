/* SPDX-License-Identifier: MIT */
/* Files of games, into a store or out of it: what `import` and `subtract` share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/cli/cli.h"
#include "client/cli/out/progress.h"
#include "formats/source.h"

/* Options of both commands; their own ids are below. */
enum games_option_id {
	OPT_MAX_PLY = 300, /* above every character, which short options are */
	OPT_MIN_GAMES,
	OPT_STRICT,
	OPT_MEMORY,
	OPT_THREADS,
	OPT_STATISTIC,
	OPT_SKIP_VARIATIONS,
};

struct games {
	struct chi_import_options options;
	enum chi_statistic create; /* of --statistic; 0 if it was not given */
	bool verbose;
	const char *given; /* an option that goes with games alone, NULL if there was none */
	uint64_t notes;
	uint64_t seen;	       /* games that have been fed, about */
	uint64_t bytes_before; /* of the files done */
	struct progress progress;
};

/* Takes one of the options above. Returns an exit code. */
int games_option(struct cli *cli, struct games *games, int id, const char *value);

/*
 * Opens the store itself, feeds all files, and stores what is in them, or nothing. `sources`: of
 * each file one that is open already, or NULL; closed here in every case. Prints the summary.
 */
int games_run(struct cli *cli, struct games *games, int n, char **paths,
	      struct chi_source **sources);
