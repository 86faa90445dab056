/* SPDX-License-Identifier: MIT */
/* The trees of the archive alone, in an environment without a store. */
#pragma once

#include <lmdb.h>

#include "chistore/types.h"
#include "store/archive_trees.h"

struct archive {
	MDB_env *env;
	MDB_txn *txn; /* writes */
	struct chi_archive_trees trees;
};

/* cmocka's setup and teardown: *state is a struct archive, in a scratch directory. */
int archive_setup(void **state);
int archive_teardown(void **state);

/* Packs and appends a game under its head's number and with its head's source. */
struct chi_archive_writer;
struct chi_game;
CHI_MUSTUSE int archive_put(struct chi_archive_writer *writer, const struct chi_game *game);
