/* SPDX-License-Identifier: MIT */
/* Read transactions and their pool. */
#pragma once

#include <lmdb.h>
#include <stdbool.h>

#include "store/pages/descent.h"

struct chi_env;

struct chi_read {
	struct chi_env *env;
	MDB_txn *txn;
	struct chi_descent descent;	     /* of the snapshot that its `txn` names */
	const struct chi_evidence *evidence; /* what chi_read_see was called with, or NULL */
	struct chi_seen *seen;		     /* of the archive; NULL: nothing */
};

/* True if the snapshot's position tree can be descended, in read->descent. */
bool chi_read_can_descend(struct chi_read *read);

/* A thread's place to start in the pool. */
unsigned chi_pool_place(void);
