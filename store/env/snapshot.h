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
	struct chi_descent descent; /* of the snapshot that its `txn` names; its guide is ours */
	uint32_t unguided;	    /* look-ups until a guide is asked for; 0: it is not any more */
	const struct chi_evidence *evidence; /* what chi_read_see was called with, or NULL */
	struct chi_seen *seen;		     /* of the archive; NULL: nothing */
};

/* True if the snapshot's position tree can be descended, in read->descent. `n` look-ups are to
 * come, which may get it a guide; 0 where threads share it, after a first call. */
bool chi_read_can_descend(struct chi_read *read, size_t n);
