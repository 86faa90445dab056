/* SPDX-License-Identifier: MIT */
/* A store's file changed behind the store's back, entry by entry or block by block. */
#pragma once

#include <lmdb.h>
#include <stdbool.h>

#include "store/block/block.h"
#include "store/chain/chain.h"
#include "tests/store/help.h"

/* Set: the strength tree is changed without its comparator. */
extern bool raw_wrong_order;

/* 0: the tree is not chained. */
enum chi_chain raw_chain(const char *tree);

/* Puts into or deletes from one tree alone, in blocks that are sound. `value` NULL deletes. */
void raw_change(const char *name, const char *tree, const void *key, size_t key_len,
		const void *value, size_t len);

/* Puts a whole block, or a record of the meta tree, as it is; or deletes it. */
void raw_put(const char *name, const char *tree, const void *key, size_t key_len, const void *value,
	     size_t len);

/* Changes a tree by a function of the store's, whose status must be CHI_OK. */
void raw_edit(const char *name, const char *tree,
	      int (*edit)(MDB_txn *txn, MDB_dbi dbi, uint32_t number), uint32_t number);

/* A block as it is stored. */
struct raw_block {
	uint8_t low[CHI_TREE_KEY_MAX];
	size_t low_len;
	uint8_t bytes[4096];
	size_t len;
};

/* The block that has a key; where in it the group with the key is, and how many bytes it takes. */
void raw_find(const char *name, const char *tree, enum chi_tree_kind kind, const uint8_t *key,
	      size_t key_len, struct raw_block *out, size_t *at, size_t *len);
