/* SPDX-License-Identifier: MIT */
/*
 * The position tree or the strength tree in a write transaction: entries are looked up, put and
 * removed in blocks (store/block), and one block at a time is kept out of LMDB, so that changes
 * that come in the tree's order cost one write a block. What is kept is lost unless it is flushed.
 *
 * Codes are LMDB's. MDB_CORRUPTED: a block or a group that must be read is damaged.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/block/block.h"

struct chi_tree {
	enum chi_tree_kind kind;
	MDB_txn *txn;
	MDB_dbi dbi;
	uint64_t *entries; /* how many there are: follows every change, */
	uint64_t *bytes;   /* and what their blocks take */
	MDB_cursor *cursor;
	uint8_t *memory;	/* NULL until it is needed */
	struct chi_block block; /* the one that is kept, if `loaded`; in `memory` */
	bool loaded;
	bool dirty;	/* it is not what LMDB has, */
	uint64_t taken; /* what that takes; 0: LMDB has no such block */
	bool broken;	/* LMDB failed to change the tree */
};

void chi_tree_init(struct chi_tree *tree, enum chi_tree_kind kind, MDB_txn *txn, MDB_dbi dbi,
		   uint64_t *entries, uint64_t *bytes);

/* Frees memory; what is kept is lost. To be called after the transaction has ended, or before. */
void chi_tree_deinit(struct chi_tree *tree);

/* MDB_NOTFOUND if there is no such entry. The value lives until the next call. */
CHI_MUSTUSE int chi_tree_find(struct chi_tree *tree, const MDB_val *key, MDB_val *value);

/* Puts an entry, new or over another. `value` may not be one that chi_tree_find gave. */
CHI_MUSTUSE int chi_tree_set(struct chi_tree *tree, const MDB_val *key, const MDB_val *value);

/* MDB_NOTFOUND: there is none. */
CHI_MUSTUSE int chi_tree_unset(struct chi_tree *tree, const MDB_val *key);

/* The first entry whose key is greater; `key` NULL: the first of all. MDB_NOTFOUND: there is none.
 * Its value lives until the next call. */
CHI_MUSTUSE int chi_tree_next(struct chi_tree *tree, const MDB_val *key, struct chi_entry *out);

/* Gives LMDB what is kept. */
CHI_MUSTUSE int chi_tree_flush(struct chi_tree *tree);

/* Empties the tree. */
CHI_MUSTUSE int chi_tree_drop(struct chi_tree *tree);
