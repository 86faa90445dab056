/* SPDX-License-Identifier: MIT */
/* What a bench has measured, as rows: one for each kind of request, and one for all together. */
#pragma once

#include "client/cli/bench/loadgen.h"

/* Prints the table on standard output and the failures on standard error. Threads may still run.
 * *answered, *failed: requests measured. -CHI_ENOMEM. */
CHI_MUSTUSE int measured_print(const struct cli *cli, struct load *load, uint64_t *answered,
			       uint64_t *failed);
