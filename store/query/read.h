/* SPDX-License-Identifier: MIT */
/* Look-ups of single keys, by descent or by LMDB. */
#pragma once

#include <stddef.h>

#include "chistore/types.h"

struct chi_found;
struct chi_read;

/* LMDB's own look-up, for what descents are not sure of. CHI_NONE if there is none. */
CHI_MUSTUSE int chi_read_get(struct chi_read *read, const struct chi_key *key,
			     struct chi_found *found);

/* What a descent has found, or LMDB where that is not sure: CHI_OK, CHI_NONE, -CHI_ECORRUPT, or one
 * of LMDB's failures. */
CHI_MUSTUSE int chi_read_settle(struct chi_read *read, const struct chi_key *key,
				struct chi_found *found);

/* Looks up 1 to CHI_DESCENT_LANES keys of valid length together: each is THERE or NONE. The
 * failure is one of LMDB's. Not for a child after fork. */
CHI_MUSTUSE int chi_read_find(struct chi_read *read, const struct chi_key *keys, size_t n,
			      struct chi_found *found);
