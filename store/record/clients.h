/* SPDX-License-Identifier: MIT */
/*
 * Records of the clients tree (FORMAT.md, "Clients tree"): which writes of a client were done, and
 * how they were answered.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/idempotency.h"
#include "store/store.h"

/* A write that was done. */
struct chi_done {
	uint64_t sequence;
	struct chi_outcome outcome;
};

/* What is remembered of a client. The writes lie in memory of the caller's, which has room for
 * CHI_REMEMBERED_ROOM of them where nothing else is said. */
struct chi_remembered {
	uint8_t id[CHI_IDEMPOTENCY_CLIENT];
	uint32_t peer;	   /* who wrote it last */
	uint64_t last_use; /* number of the transaction that wrote it last */
	uint64_t floor;	   /* no write below is known, nor will be done */
	size_t n;
	struct chi_done *done; /* ascending */
};

/* One more while a write is added. */
#define CHI_REMEMBERED_ROOM (CHI_IDEMPOTENCY_WRITES + 1)

/* Most bytes of a record: 8 for its last use, 4 for its peer, the floor, how many, and of each a
 * number, a kind and its counts; a checksum. */
#define CHI_REMEMBERED_BYTES                                                                       \
	(8 + 4 + 10 + 1 + CHI_IDEMPOTENCY_WRITES * (10 + 1 + CHI_OUTCOME_COUNTS * 10) + 4)

size_t chi_remembered_encode(const struct chi_remembered *client,
			     uint8_t out[CHI_REMEMBERED_BYTES]);

/* Into out->done, which is left where it is. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_remembered_decode(const MDB_val *key, const MDB_val *value,
				      struct chi_remembered *out);

/* Adds a write that was done, for which there is room after the others, and forgets what need not
 * or cannot be kept. */
void chi_remembered_add(struct chi_remembered *client,
			const struct chi_idempotency_key *idempotency_key,
			const struct chi_outcome *outcome);

/* The write of that number, or NULL. */
const struct chi_done *chi_remembered_find(const struct chi_remembered *client, uint64_t sequence);

/* Of a tree of so many entries: forgets clients if there are more than CHI_IDEMPOTENCY_CLIENTS,
 * down to CHI_IDEMPOTENCY_CLIENTS_KEPT: of the peers that have most of them, those longest unused.
 * *horizon is raised to the latest last use among them; that of a damaged record counts as `now`.
 * Returns LMDB's code, or ENOMEM. */
CHI_MUSTUSE int chi_clients_trim(MDB_txn *txn, MDB_dbi clients, size_t entries, uint64_t now,
				 uint64_t *horizon);
