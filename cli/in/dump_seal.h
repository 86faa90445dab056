/* SPDX-License-Identifier: MIT */
/* The text of a dump that was edited, with the checksums of what it is now (store/text/seal.h). */
#pragma once

#include "cli/out/target.h"

/* Writes the dump at `path`, or from standard input for "-", into `target`. Returns an exit code,
 * having said what is wrong. */
int dump_seal(const struct cli *cli, const char *path, struct target *target);
