/* SPDX-License-Identifier: MIT */
/*
 * A thread that writes what is appended to the trees of a new store, while another makes more. The
 * write transaction is the thread's own from its begin to its end, as LMDB wants: its caller has
 * none until it has finished. It commits each time that enough has gathered.
 *
 * All functions are for one thread, which waits where the other is too far behind. Codes are
 * LMDB's: the first failure of the thread is that of every call after it.
 */
#pragma once

#include <lmdb.h>

#include "chistore/types.h"

struct chi_appender;

/* Without memory, or if the system starts no thread, a code: then nothing has begun. */
CHI_MUSTUSE int chi_appender_start(MDB_env *mdb, struct chi_appender **out);

/* The tree's next entry. Key and value are copied; together they are no longer than a record may
 * be, and a key. */
CHI_MUSTUSE int chi_appender_put(struct chi_appender *appender, MDB_dbi tree, const MDB_val *key,
				 const MDB_val *value);

/* Waits until all is committed; frees. */
CHI_MUSTUSE int chi_appender_finish(struct chi_appender *appender);

/* Gives up what is not committed; frees. NULL is fine. */
void chi_appender_abandon(struct chi_appender *appender);

/* ---- What a new store's commits have in common */

/* Commits, lets the disk begin, and begins again: *txn, or NULL after a failure. */
CHI_MUSTUSE int chi_append_commit(MDB_env *mdb, MDB_txn **txn);
