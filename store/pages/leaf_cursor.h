/* SPDX-License-Identifier: MIT */
/*
 * Walks through the leaf pages of a tree, in either direction, straight from LMDB's mapped pages:
 * what mdb_cursor_get does entry by entry is done here page by page, and the next page is asked for
 * while this one is read.
 *
 * It reads memory that no one changes while the snapshot lives, and nothing else: any number of
 * threads may walk in one snapshot, each with its own struct. Pages are not trusted: what a walk
 * would touch outside of one ends it with -CHI_ECORRUPT. Whether a page is the right one, and the
 * walk complete, is for the blocks to say (block_cursor.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "store/pages/pages.h"
#include "store/pages/root.h"

/* A leaf and the entry that the walk is at. */
struct chi_leaf {
	const uint8_t *page;
	const uint8_t *ahead; /* the leaf that is next in the walk's direction, or this one */
	uint32_t size;	      /* of a page, in bytes */
	uint32_t n;	      /* entries, at least one */
	uint32_t at;
};

/* Order of two keys, as memcmp's. */
typedef int chi_key_order(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);

struct chi_leaf_cursor {
	const struct chi_descent *tree;
	const uint8_t *pages[CHI_TREE_DEPTH_MOST]; /* the branches above, from the root on */
	uint32_t at[CHI_TREE_DEPTH_MOST];	   /* the child of each that the walk is in */
	uint32_t floor; /* in so many branches, from the root on, the walk stays where it is: 0,
			   unless it is confined to what is below one */
	struct chi_leaf leaf;
};

/* An entry in the map, valid until the snapshot ends. */
struct chi_item {
	const uint8_t *key;
	const uint8_t *value;
	size_t key_len;
	size_t len;
	bool big; /* the value is in pages of its own: chi_leaf_cursor_big finds it */
};

/*
 * To the first entry, or to the last; or to the last one whose key is not greater than `key`.
 * `backwards` is the direction that it will be left in. `tree` is usable, and outlives the walk;
 * `order` is its order. CHI_NONE: the tree is empty. -CHI_ECORRUPT.
 */
CHI_MUSTUSE int chi_leaf_cursor_start(struct chi_leaf_cursor *walk, const struct chi_descent *tree,
				      bool backwards);
CHI_MUSTUSE int chi_leaf_cursor_seek(struct chi_leaf_cursor *walk, const struct chi_descent *tree,
				     chi_key_order *order, bool backwards, const uint8_t *key,
				     size_t len);

/* To the next leaf and its first entry, or to the one before and its last. CHI_NONE: there is none,
 * and the walk stays where it is. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_leaf_cursor_skip(struct chi_leaf_cursor *walk, bool backwards);

/* The value of a big item: sets item->value. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_leaf_cursor_big(const struct chi_descent *tree, struct chi_item *item);

/* The number of entries of a leaf or branch page; 0 if it is none of `kind`. */
static inline uint32_t chi_page_entries(const struct chi_descent *tree, const uint8_t *page,
					unsigned kind)
{
	uint32_t size = tree->pages.size;
	uint64_t number = (uint64_t)(page - tree->pages.base) / size;
	uint32_t lower = chi_u16_at(page + PAGE_LOWER);
	bool good = (chi_u16_at(page + PAGE_FLAGS) & FLAG_KINDS) == kind && lower <= size &&
		    lower >= PAGE_HEADER + 2 && chi_u64_at(page + PAGE_NUMBER) == number;
	return good ? (lower - PAGE_HEADER) / 2 : 0;
}

/* Entry `i` of a leaf, i < n; false: it is not whole within its page. */
static inline bool chi_leaf_item(const struct chi_leaf *leaf, uint32_t i, struct chi_item *out)
{
	uint32_t offset = chi_u16_at(leaf->page + PAGE_HEADER + 2 * (size_t)i);
	if (CHI_UNLIKELY(offset < PAGE_HEADER || offset > leaf->size - NODE_HEADER)) {
		return false;
	}
	const uint8_t *node = leaf->page + offset;
	uint32_t flags = chi_u16_at(node + NODE_FLAGS);
	out->key_len = chi_u16_at(node + NODE_KSIZE);
	out->len = chi_node_size(node);
	out->key = node + NODE_HEADER;
	out->value = out->key + out->key_len;
	out->big = flags == NODE_BIG;
	uint64_t here = out->big ? sizeof(uint64_t) : out->len;
	return !CHI_UNLIKELY((flags != 0 && !out->big) ||
			     NODE_HEADER + out->key_len + here > leaf->size - offset);
}
