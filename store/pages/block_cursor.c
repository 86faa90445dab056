/* SPDX-License-Identifier: MIT */
#include "store/pages/block_cursor.h"

#include <string.h>

#include "store/record/codec.h"

/* Lines of the leaf ahead that are asked for with each group: all, as a leaf has some 16 groups. */
#define LINES 4
#define LINE  64

static chi_key_order *order_of(enum chi_tree_kind kind)
{
	return kind == CHI_TREE_STRENGTH ? chi_strength_compare : chi_position_compare;
}

/* Opens the block that the leaf cursor is at. */
static int open_block(struct chi_block_cursor *walk, enum chi_tree_kind kind)
{
	struct chi_item item;
	const struct chi_leaf *leaf = &walk->leaves.leaf;
	if (leaf->at >= leaf->n || !chi_leaf_item(leaf, leaf->at, &item) ||
	    (item.big && chi_leaf_cursor_big(walk->leaves.tree, &item) < 0)) {
		return -CHI_ECORRUPT;
	}
	return chi_block_open(kind, item.key, item.key_len, item.value, item.len, &walk->block);
}

static bool is_first(const struct chi_block *block)
{
	return block->low_len == chi_tree_first_len(block->kind) &&
	       memcmp(block->low, chi_tree_first, block->low_len) == 0;
}

static bool follows(const struct chi_block *left, const struct chi_block *right)
{
	return left->fence_len == right->low_len &&
	       memcmp(left->fence, right->low, right->low_len) == 0;
}

int chi_block_cursor_start(struct chi_block_cursor *walk, const struct chi_descent *tree,
			   enum chi_tree_kind kind, bool backwards)
{
	int rc = chi_leaf_cursor_start(&walk->leaves, tree, backwards);
	rc = rc == CHI_OK ? open_block(walk, kind) : rc;
	bool good =
		rc != CHI_OK || (backwards ? walk->block.fence_len == 0 : is_first(&walk->block));
	return good ? rc : -CHI_ECORRUPT;
}

int chi_block_cursor_seek(struct chi_block_cursor *walk, const struct chi_descent *tree,
			  enum chi_tree_kind kind, bool backwards, const uint8_t *key, size_t len)
{
	int rc = chi_leaf_cursor_seek(&walk->leaves, tree, order_of(kind), backwards, key, len);
	rc = rc == CHI_OK ? open_block(walk, kind) : rc;
	return rc == CHI_OK && !chi_block_covers(&walk->block, key, len) ? -CHI_ECORRUPT : rc;
}

/* Nothing more in that direction: the block must say so itself. */
static int end_walk(const struct chi_block_cursor *walk, bool backwards)
{
	bool confined = walk->leaves.floor > 0;
	bool last = backwards ? is_first(&walk->block) : walk->block.fence_len == 0;
	return confined || last ? CHI_NONE : -CHI_ECORRUPT;
}

int chi_block_cursor_next(struct chi_block_cursor *walk, bool backwards)
{
	const struct chi_block from = walk->block;
	struct chi_leaf *leaf = &walk->leaves.leaf;
	int rc = CHI_OK;
	if (backwards ? leaf->at > 0 : leaf->at + 1 < leaf->n) {
		leaf->at = backwards ? leaf->at - 1 : leaf->at + 1;
	} else {
		rc = chi_leaf_cursor_skip(&walk->leaves, backwards);
	}
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? end_walk(walk, backwards) : rc;
	}
	rc = open_block(walk, from.kind);
	bool good = rc == CHI_OK &&
		    (backwards ? follows(&walk->block, &from) : follows(&from, &walk->block));
	return good ? CHI_OK : -CHI_ECORRUPT;
}

int chi_block_cursor_pass(struct chi_block_cursor *walk, unsigned level)
{
	struct chi_leaf_cursor *leaves = &walk->leaves;
	enum chi_tree_kind kind = walk->block.kind;
	leaves->at[level] = chi_page_entries(leaves->tree, leaves->pages[level], FLAG_BRANCH) - 1;
	int rc = chi_leaf_cursor_skip(leaves, false);
	return rc == CHI_OK ? open_block(walk, kind) : rc;
}

void chi_block_cursor_ask(const struct chi_block_cursor *walk, uint32_t group)
{
	const struct chi_leaf *leaf = &walk->leaves.leaf;
	size_t from = ((size_t)leaf->at * 8 + group) * LINES * LINE;
	for (size_t i = 0; i < LINES; i++) {
		__builtin_prefetch(leaf->ahead + ((from + i * LINE) & (leaf->size - 1)));
	}
}
