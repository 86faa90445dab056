/* SPDX-License-Identifier: MIT */
/* Work on a whole store in a process of its own: a damaged page can kill the process that reads
 * it. */
#pragma once

#include "client/cli/cli.h"

/*
 * Runs `work` in a child, forked before anything is opened, and says how it ended if not by itself.
 * `what` is the work's name in that. Returns the exit code: what `work` returned, EXIT_STORE for a
 * damaged page and for a child that was killed, 128 and the signal's number if the user ended it.
 */
int cli_in_child(struct cli *cli, int (*work)(struct cli *cli, const void *state),
		 const void *state, const char *what);
