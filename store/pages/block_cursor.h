/* SPDX-License-Identifier: MIT */
/*
 * Walks through the blocks of a tree, in either direction. A walk is complete, or says that it is
 * not: each block begins where the one before it says that the next one does, the first block at
 * the tree's first key, and the last one names none. So no page is passed over, or met twice, and
 * no walk goes round in a circle.
 *
 * Any number of threads may walk in one snapshot, each with its own struct.
 */
#pragma once

#include "store/block/block.h"
#include "store/pages/leaf_cursor.h"

struct chi_block_cursor {
	struct chi_leaf_cursor leaves;
	struct chi_block block; /* that the walk is in, its head verified */
};

/* To the first block, or the last. `tree` is usable, and outlives the walk. CHI_NONE: the tree is
 * empty. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_block_cursor_start(struct chi_block_cursor *walk,
				       const struct chi_descent *tree, enum chi_tree_kind kind,
				       bool backwards);

/* To the block that is responsible for a key. The same. */
CHI_MUSTUSE int chi_block_cursor_seek(struct chi_block_cursor *walk, const struct chi_descent *tree,
				      enum chi_tree_kind kind, bool backwards, const uint8_t *key,
				      size_t len);

/* To the next block, or to the one before. CHI_NONE: there is none, or none in the part that the
 * walk is confined to: the walk stays where it is. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_block_cursor_next(struct chi_block_cursor *walk, bool backwards);

/* Over the rest of the lowest branch page that the walk is in, to the block after it, whose place
 * is not checked. CHI_NONE: there is none. */
CHI_MUSTUSE int chi_block_cursor_pass(struct chi_block_cursor *walk, unsigned level);

/* Asks for some lines of the leaf ahead: to be called for each group that is read. */
void chi_block_cursor_ask(const struct chi_block_cursor *walk, uint32_t group);
