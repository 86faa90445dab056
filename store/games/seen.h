/* SPDX-License-Identifier: MIT */
/*
 * Chunks of columns that were verified in a snapshot: the next reader of the same snapshot finds
 * them without a descent and without their checksum. Pages of a snapshot do not change.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

/* Numbers that share a place, fewer than a chunk usually has. */
#define CHI_SEEN_NUMBERS 128

struct chi_seen_chunk {
	uint64_t serial; /* of the snapshot that it is of; 0: none */
	const uint8_t *bytes;
	uint32_t first;
	uint16_t n;
	uint16_t size;
};

/* 48 KiB, for a reader may be one of a thousand: as many chunks as the games of a request or two
 * are in; of more the last ones read. */
struct chi_seen {
	size_t txn;	 /* of the snapshot */
	uint64_t serial; /* its number in this process, never that of another */
	struct chi_seen_chunk chunks[2048];
};

/* Makes *seen, or what was made before, that of the transaction's snapshot; *seen stays NULL
 * without memory. It is its owner's to free, and used by one thread at a time. */
void chi_seen_begin(struct chi_seen **seen, MDB_txn *txn);

/* A number for what is of no known snapshot. Any thread. */
uint64_t chi_seen_serial(void);

static inline struct chi_seen_chunk *chi_seen_place(struct chi_seen *seen, uint32_t number)
{
	return &seen->chunks[number / CHI_SEEN_NUMBERS %
			     (sizeof(seen->chunks) / sizeof(seen->chunks[0]))];
}
