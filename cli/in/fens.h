/* SPDX-License-Identifier: MIT */
/* Positions from the arguments or from files, one a line. */
#pragma once

#include "cli/cli.h"
#include "cli/in/place.h"

struct fens_user {
	/* What is done with each position. Returns an exit code, as the next. */
	int (*each)(struct cli *cli, void *context, const struct place *place);
	/* Answers what `each` has gathered: called before more input is waited for, and at the
	 * end. NULL: it gathers nothing. */
	int (*flush)(struct cli *cli, void *context);
	void *context;
	bool strict; /* the first that cannot be read, or refusal by `each`, ends it */
};

/*
 * Calls `each` for every position of the command's arguments or, when there are none, of standard
 * input. Blank lines and lines starting with # are skipped. A position that cannot be read is
 * reported and the next one taken. Returns the worst exit code of all; stops early once
 * standard output has failed.
 */
int fens_each(struct cli *cli, const struct fens_user *user);

/* The same for the lines of a file, packed or not; "-" is standard input. */
int fens_in_file(struct cli *cli, const char *path, const struct fens_user *user);
