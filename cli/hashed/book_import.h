/* SPDX-License-Identifier: MIT */
/* Polyglot books into a store: what `import` does with them. */
#pragma once

#include "cli/cli.h"

/*
 * Stores the moves of the books in turn at positions that hold no games and no moves yet, all of
 * them or nothing, and prints what was done. A directory without a store gets one of that statistic
 * (0: control). Returns an exit code.
 */
int book_import(struct cli *cli, enum chi_statistic create, int n, char **paths);
