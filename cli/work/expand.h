/* SPDX-License-Identifier: MIT */
/* Workers that grow one tree; by the store's leases those of other programs grow it, too. */
#pragma once

#include "cli/work/worker.h"

/* Works until the tree has as many positions as are wanted, or no leaf is left. */
void expand_work(struct worker *worker);
