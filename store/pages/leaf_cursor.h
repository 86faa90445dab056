/* SPDX-License-Identifier: MIT */
/*
 * Walks through the leaf pages of a tree, in either direction, straight from LMDB's mapped pages:
 * what mdb_cursor_get does entry by entry is done here page by page, and the next page is asked for
 * while this one is read. The order of the entries, their keys and their values are a cursor's.
 *
 * It reads memory that no one changes while the snapshot lives, and nothing else: any number of
 * threads may walk in one snapshot, each with its own struct. Pages are not trusted. One that is
 * not as expected ends the walk with -CHI_ECORRUPT, before anything outside of it is touched:
 *
 *  - the keys of a leaf lie between those that part it from its neighbours in the branches above,
 *    so that a branch cannot lead to a wrong page, or pass one over;
 *  - the nodes of a page fill it from `upper` to its end, so that a page cannot hide nodes that it
 *    has. A leaf is checked when all of it was walked, a branch where its last child matters.
 *
 * A damaged page may still name an entry twice, and an older version of a page be in the place
 * of the current one: the caller knows how many entries there are, and compares the keys where that
 * matters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "store/pages/descent.h"
#include "store/pages/pages.h"

/* A leaf and the gap between two of its entries where the walk is. */
struct chi_leaf {
	const uint8_t *page;
	const uint8_t *ahead; /* the leaf that is next in the walk's direction, or this one */
	uint32_t size;	      /* of a page, in bytes */
	uint32_t n;	      /* entries */
	uint32_t at;	      /* so many of them are before the gap */
	uint32_t taken;	      /* bytes of the nodes that the walk has passed or left out */
};

/* Order of two keys, as memcmp's. */
typedef int chi_key_order(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);

struct chi_leaf_cursor {
	const struct chi_descent *tree;
	chi_key_order *order; /* NULL: leaves are not checked, as they are not read */
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
	uint32_t room; /* bytes that the node takes of its page */
	bool big;      /* the value is in pages of its own: chi_leaf_cursor_big finds it */
};

/*
 * To the gap before the first entry, or after the last; or before the first entry that is not less
 * than `key`. `backwards` is the direction it will be left in. `tree` is usable, and outlives the
 * walk; `order` is its order. CHI_NONE: the tree is empty, there is nothing to walk. -CHI_ECORRUPT.
 */
CHI_MUSTUSE int chi_leaf_cursor_start(struct chi_leaf_cursor *walk, const struct chi_descent *tree,
				      chi_key_order *order, bool backwards);
CHI_MUSTUSE int chi_leaf_cursor_seek(struct chi_leaf_cursor *walk, const struct chi_descent *tree,
				     chi_key_order *order, bool backwards, const uint8_t *key,
				     size_t len);

/* To the next leaf, before its first entry, or to the one before, after its last, regardless of
 * what was read of this one. CHI_NONE: there is none, and the walk stays where it is.
 * -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_leaf_cursor_skip(struct chi_leaf_cursor *walk, bool backwards);

/* The same from the end of a leaf whose entries have been walked. */
CHI_MUSTUSE int chi_leaf_cursor_turn(struct chi_leaf_cursor *walk, bool backwards);

/* Whether the leaf is whole, and in its place: for a walk that ends in it. One that goes on to the
 * next finds out itself. */
bool chi_leaf_cursor_end_ok(const struct chi_leaf_cursor *walk);

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
	uint64_t room = NODE_HEADER + out->key_len + here;
	out->room = (uint32_t)(room + 1) & ~UINT32_C(1);
	return !CHI_UNLIKELY((flags != 0 && !out->big) || room > leaf->size - offset);
}

/* The next entry of a leaf that has one in that direction, and asks for one line of the leaf ahead.
 * False: it is not whole within its page. */
static inline bool chi_leaf_take(struct chi_leaf *leaf, bool backwards, struct chi_item *out)
{
	uint32_t at = leaf->at - backwards;
	uint32_t i = backwards ? leaf->n - leaf->at : at;
	__builtin_prefetch(leaf->ahead + ((size_t)i * 64 & (leaf->size - 1)));
	if (CHI_UNLIKELY(!chi_leaf_item(leaf, at, out))) {
		return false;
	}
	leaf->taken += out->room;
	leaf->at = backwards ? at : at + 1;
	return true;
}

/*
 * The next entry in a direction, values in pages of their own included. CHI_NONE: no more;
 * -CHI_ECORRUPT.
 */
static inline int chi_leaf_cursor_next(struct chi_leaf_cursor *walk, bool backwards,
				       struct chi_item *out)
{
	struct chi_leaf *leaf = &walk->leaf;
	if (CHI_UNLIKELY(leaf->at == (backwards ? 0 : leaf->n))) {
		int rc = chi_leaf_cursor_turn(walk, backwards);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	if (CHI_UNLIKELY(!chi_leaf_take(leaf, backwards, out))) {
		return -CHI_ECORRUPT;
	}
	return CHI_UNLIKELY(out->big) ? chi_leaf_cursor_big(walk->tree, out) : CHI_OK;
}
