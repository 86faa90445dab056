/* SPDX-License-Identifier: MIT */
/* FENs from the arguments or, when there are none, from standard input, one a line. */
#pragma once

#include "client/cli/cli.h"

/*
 * Calls `each` for every FEN, normalised to its key. Blank lines and lines starting with # are
 * passed over. A FEN that cannot be read is reported and the next one taken. Returns the worst
 * exit code of all; stops early once standard output has failed.
 */
int fens_each(struct cli *cli, int argc, char **argv,
	      int (*each)(struct cli *cli, const struct chi_key *key));
