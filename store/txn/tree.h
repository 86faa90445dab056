/* SPDX-License-Identifier: MIT */
/*
 * The position tree or the strength tree in a write transaction. Changes are noted first, and made
 * later by ascending key: those of one block are one write of it. LMDB has none of them before
 * chi_tree_flush, which is also where damage shows of what no one looked up.
 *
 * Codes are LMDB's. MDB_CORRUPTED: a block or a group that must be read is damaged.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/block/block.h"
#include "store/txn/memtable.h"

struct chi_tree {
	enum chi_tree_kind kind;
	MDB_txn *txn;
	MDB_dbi dbi;
	uint64_t *entries; /* how many there are: follows every change, */
	uint64_t *bytes;   /* and what their blocks take */
	MDB_cursor *cursor;
	struct chi_memtable pending; /* changes that LMDB does not have yet, */
	size_t most;		     /* so many before they are flushed; any number from */
	size_t mark;		     /* here on, which can be taken back; SIZE_MAX: none can */
	uint8_t *memory;	     /* NULL until it is needed */
	struct chi_block block;	     /* the one that is kept, if `loaded` */
	bool loaded;
	bool dirty;	/* it is not what LMDB has, */
	uint64_t taken; /* what that takes; 0: LMDB has no such block */
	bool at_cursor; /* LMDB's cursor is on that */
	uint8_t *rooms; /* while changes are made: two, by turns, for what becomes of a block; */
	unsigned side;	/* in which of them the next edit goes */
	uint8_t seen[CHI_TREE_KEY_MAX]; /* low key of the block that was looked into last */
	size_t seen_len;
	bool broken; /* some changes were made, and others could not be */
};

/* Pending changes of a transaction that gathers them, and of one that has other use of memory. */
#define CHI_TREE_PENDING     (1u << 17)
#define CHI_TREE_PENDING_FEW (1u << 12)

void chi_tree_init(struct chi_tree *tree, enum chi_tree_kind kind, MDB_txn *txn, MDB_dbi dbi,
		   uint64_t *entries, uint64_t *bytes);

/* Frees memory; what is pending is lost. To be called after the transaction has ended, or before.
 */
void chi_tree_deinit(struct chi_tree *tree);

/* MDB_NOTFOUND if there is no such entry. The value lives until the next call. */
CHI_MUSTUSE int chi_tree_find(struct chi_tree *tree, const MDB_val *key, MDB_val *value);

/* Puts an entry, new or over another. Key and value are copied, but `value` may not be one that
 * chi_tree_find gave: what is pending may be made before. */
CHI_MUSTUSE int chi_tree_set(struct chi_tree *tree, const MDB_val *key, const MDB_val *value);

/* Removes an entry, which must be there: else the tree is damaged, as flushing it will say. */
CHI_MUSTUSE int chi_tree_unset(struct chi_tree *tree, const MDB_val *key);

/* The first entry whose key is greater; `key` NULL: the first of all. MDB_NOTFOUND: there is none.
 * Its value lives until the next call but chi_tree_set. What is pending is not seen. */
CHI_MUSTUSE int chi_tree_next(struct chi_tree *tree, const MDB_val *key,
			      struct chi_block_entry *out);

/* Makes the pending changes. */
CHI_MUSTUSE int chi_tree_flush(struct chi_tree *tree);

/* From here on changes can be taken back, and those are not flushed on their own. */
void chi_tree_mark(struct chi_tree *tree);

/* Takes back all changes since the mark. */
void chi_tree_rollback(struct chi_tree *tree);

/* Empties the tree. */
CHI_MUSTUSE int chi_tree_drop(struct chi_tree *tree);
