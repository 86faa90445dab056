/* SPDX-License-Identifier: MIT */
/*
 * A store inside the process that ours is compared with: what each of them fills in. peer.c holds
 * the program around it. All get the same keys and values, and are set up as their manuals tell
 * for reading from memory: a cache that holds everything, no compression, Bloom filters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

#define PEER_CACHE_BYTES ((size_t)4 << 30)
/* Records of one transaction while a peer is filled. */
#define PEER_BATCH 10000

struct peer {
	bool is_filled; /* it reads our store; nothing to load */
	/* Opens or makes the store in the directory `path`; ends the program on failure, as all. */
	void *(*open)(const char *path);
	/* Records come in the order of the keys. */
	void (*put)(void *store, const void *key, size_t key_len, const void *value,
		    size_t value_len);
	/* All records are there. */
	void (*filled)(void *store);
	/* Looks one key up, touches the value; false if it is not there. */
	bool (*get)(void *store, const struct chi_key *key, uint64_t *touched);
	/* The same for many at once, in the groups the peer likes best; NULL if it has none.
	 * Returns how many are there. */
	uint64_t (*get_many)(void *store, const struct chi_key *keys, size_t n);
	void (*close)(void *store);
};

/* Defined by each program's own file. */
extern const struct peer peer;
