/* SPDX-License-Identifier: MIT */
/* The store that an import goes into, which is made where a directory holds none: but not before
 * there is something to store. */
#pragma once

#include <stdbool.h>

#include "client/cli/cli.h"

/* Opens cli->client for writing, unless it is open. It stays NULL, with EXIT_DONE, if the address
 * is a directory without a store. *statistic: the kind asked for, 0 if any will do, becomes that of
 * the store; a store of another kind is a mistake. */
int made_store_open(struct cli *cli, enum chi_statistic *statistic);

/* Makes and opens it if cli->client is still NULL. Returns an exit code, having said what is
 * wrong. */
int made_store_need(struct cli *cli, enum chi_statistic statistic);
