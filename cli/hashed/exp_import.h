/* SPDX-License-Identifier: MIT */
/* Engines' files of experience (.exp) into a store: what `import` does with them. */
#pragma once

#include "cli/cli.h"

/*
 * Stores the lines of the files in turn as evaluations of `engine` ("": CHI_EXP_ENGINE), all of
 * them or nothing, and prints what was done. Positions are found from the initial one and from
 * those of the store. A directory without a store gets one of that statistic (0: control). Returns
 * an exit code.
 */
int exp_import(struct cli *cli, enum chi_statistic create, const char *engine, int n, char **paths);
