/* SPDX-License-Identifier: MIT */
/*
 * Entries of the queue tree (FORMAT.md). Each position has an entry, and a second one that says its
 * place among those of its state; the totals have one. Functions work in a transaction of the
 * caller's; changes are made by store/txn/queue.c.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/queue.h"
#include "chistore/types.h"

#define CHI_QUEUE_ENTRY_KEY_MAX (1 + CHI_KEY_MAX)
#define CHI_QUEUE_PLACE_MAX	(1 + 16 + CHI_KEY_MAX)
#define CHI_QUEUE_HEAD		(8 + 1 + 1 + 4 + 4 + 8 + 8 + 8 + 8)
#define CHI_QUEUE_VALUE_MAX	(CHI_QUEUE_HEAD + CHI_QUEUE_HOLDER_MAX)
#define CHI_QUEUE_TOTALS_SIZE	(8 + 8 + 3 * 8)

/* The first byte of a key: of places, totals and entries. */
enum {
	CHI_QUEUE_OF_FAILED = 'f',
	CHI_QUEUE_OF_LEASED = 'l',
	CHI_QUEUE_OF_TOTALS = 'n',
	CHI_QUEUE_OF_ENTRIES = 'p',
	CHI_QUEUE_OF_WAITING = 'w',
};

struct chi_queue_totals {
	uint64_t next; /* number of the next arrival or lease; 1 at first */
	struct chi_queue_counts counts;
};

/* Of a key in the tree: its bytes and how many. */
struct chi_queue_bytes {
	size_t len;
	uint8_t bytes[CHI_QUEUE_PLACE_MAX];
};

/* Keys of the position's entry, and of its place. */
struct chi_queue_bytes chi_queued_entry_key(const struct chi_key *key);
struct chi_queue_bytes chi_queued_place(const struct chi_queue_row *row);

/* An entry's value; the holder needs no NUL. Returns its length. */
size_t chi_queued_encode(const struct chi_queue_row *row, uint8_t out[CHI_QUEUE_VALUE_MAX]);
/* The holder goes to memory of `arena`. -CHI_ECORRUPT, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_queued_decode(const MDB_val *key, const MDB_val *value, struct chi_arena *arena,
				  struct chi_queue_row *out);

void chi_queued_totals_encode(const struct chi_queue_totals *totals,
			      uint8_t out[CHI_QUEUE_TOTALS_SIZE]);
CHI_MUSTUSE int chi_queued_totals_decode(const MDB_val *value, struct chi_queue_totals *out);

/* The totals; those of an empty queue if there are none. -CHI_ECORRUPT, -CHI_EIO. */
CHI_MUSTUSE int chi_queued_totals_get(MDB_txn *txn, MDB_dbi tree, struct chi_queue_totals *out);

/* CHI_NONE: it is not in the queue. */
CHI_MUSTUSE int chi_queued_get(MDB_txn *txn, MDB_dbi tree, const struct chi_key *key,
			       struct chi_arena *arena, struct chi_queue_row *out);

/* The first place after `after` (which has at least one byte, and is not it) that begins with its
 * first `prefix` bytes. CHI_NONE: there is none. */
CHI_MUSTUSE int chi_queued_next(MDB_txn *txn, MDB_dbi tree, const struct chi_queue_bytes *after,
				size_t prefix, struct chi_queue_bytes *out);

/* The row at a place; that it says otherwise is damage. */
CHI_MUSTUSE int chi_queued_row_at(MDB_txn *txn, MDB_dbi tree, const struct chi_queue_bytes *place,
				  struct chi_arena *arena, struct chi_queue_row *out);

/* Before the first place of the state. */
struct chi_queue_bytes chi_queued_before(enum chi_queue_state state);

/* Before the first place of the lease, and how many bytes of it all of them share. */
struct chi_queue_bytes chi_queued_before_lease(uint64_t expires, uint64_t lease);
#define CHI_QUEUE_LEASE_PREFIX (1 + 16)
