/* SPDX-License-Identifier: MIT */
/* The trees of the archive alone, in an environment without a store. */
#pragma once

#include <lmdb.h>

#include "store/archive_trees.h"

struct archive {
	MDB_env *env;
	MDB_txn *txn; /* writes */
	struct chi_archive_trees trees;
};

/* cmocka's setup and teardown: *state is a struct archive, in a scratch directory. */
int archive_setup(void **state);
int archive_teardown(void **state);
