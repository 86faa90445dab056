/* SPDX-License-Identifier: MIT */
/*
 * Many look-ups at once. A look-up in a large tree waits for memory most of the time: each step of
 * its search needs a line that the step before has named. Here several descents through LMDB's
 * mapped pages take their steps in turns, each asking for its next line before the others go on,
 * so that their waits overlap.
 *
 * It reads what LMDB reads, in an ordinary read transaction, whose pages no one changes. It trusts
 * no page: one that is not as expected makes the answer "unsure", and the caller asks LMDB. What a
 * page leads to is believed if the block there (store/block) vouches for it: a key is there, or it
 * is in no block, or the store is damaged. Whether pages are laid out as expected at all is found
 * out once, when the environment is opened, by comparing with mdb_get.
 *
 * Nothing here allocates, except the check; all may be called by any number of threads.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "store/block/block.h"
#include "store/pages/root.h"

/* One descent, on one page. */
struct chi_lane {
	const uint8_t *page;
	uint64_t head; /* first 8 bytes of the key, as a number of the same order */
	const struct chi_key *key;
	uint32_t node;	/* where on the page the one at `at + left / 2` begins, asked for already */
	uint32_t at;	/* a node that is not greater than the key, by their heads */
	uint32_t left;	/* how many from there on may be the last such; 0: dropped out */
	uint32_t level; /* of the page that chi_lane_start has come to */
	struct chi_group group; /* of the block found, the one to look into */
};

enum chi_finding {
	CHI_FINDING_NONE,
	CHI_FINDING_THERE,
	CHI_FINDING_DAMAGED,
	CHI_FINDING_UNSURE, /* ask LMDB */
};

/* A value as it is in the map, valid until the transaction ends. */
struct chi_found {
	const uint8_t *value;
	size_t len;
	enum chi_finding finding;
};

/*
 * Finds the pages of an environment and compares descents with mdb_get. `pages` is zeroed if
 * something is not as expected, which is no failure. To be called again when the map has moved.
 */
void chi_pages_locate(MDB_env *mdb, MDB_txn *txn, MDB_dbi meta, MDB_dbi position,
		      struct chi_pages *pages);

/* The tree of that name as `txn` sees it. Costs a look-up in a tree of a few entries. */
void chi_descent_start(MDB_env *mdb, MDB_txn *txn, const struct chi_pages *pages, const char *name,
		       struct chi_descent *out);

/* Looks up `n` keys, 1 to CHI_DESCENT_LANES, in a usable descent. The keys' lengths must be
 * CHI_KEY_MIN to CHI_KEY_MAX. */
void chi_descent_find(struct chi_descent *descent, const struct chi_key *keys, size_t n,
		      struct chi_found *out);

/* The block that is responsible for a key, not looked at: its low key and its bytes in the map.
 * False: there is none, or unsure. */
bool chi_descent_block(const struct chi_descent *descent, const struct chi_key *key, MDB_val *low,
		       MDB_val *bytes);

/* The same as chi_descent_find for one key: nothing takes turns. */
void chi_descent_find_one(const struct chi_descent *descent, const struct chi_key *key,
			  struct chi_found *out);

/*
 * The same in parts, which lets other things be done in between. One that is known early goes as
 * far as it can without waiting for much, and asks for the whole page that it has come to
 * (chi_lane_start); then on to the end (chi_lane_go_on). Several go all the way in turns, up to
 * CHI_DESCENT_LANES. The keys must stay where they are until it was looked what was found, and the
 * descent be one and the same throughout.
 */
void chi_lane_start(const struct chi_descent *descent, const struct chi_key *key,
		    struct chi_lane *lane);
void chi_lane_go_on(const struct chi_descent *descent, struct chi_lane *lane);
void chi_lane_search(struct chi_descent *descent, const struct chi_key *keys, size_t n,
		     struct chi_lane *lanes);
void chi_lane_finish(const struct chi_descent *descent, const struct chi_lane *lane,
		     struct chi_found *out);
