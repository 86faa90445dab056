/* SPDX-License-Identifier: MIT */
/*
 * A walk holds the path from the root to its leaf, as indexes into the branch pages. All leaves are
 * on the last level, which the tree's record tells, so a path has always the same length.
 */
#include "store/pages/leaf_cursor.h"

/* A page by its number, of `kind`, with *n entries; NULL: it is not. */
static const uint8_t *page_of(const struct chi_descent *tree, uint64_t number, unsigned kind,
			      uint32_t *n)
{
	if (number >= tree->end) {
		return NULL;
	}
	const uint8_t *page = tree->pages.base + number * tree->pages.size;
	*n = chi_page_entries(tree, page, kind);
	return *n != 0 ? page : NULL;
}

/* The node of a page, with its key in the page; NULL: it is not. */
static const uint8_t *node_of(const struct chi_descent *tree, const uint8_t *page, uint32_t i)
{
	uint32_t size = tree->pages.size;
	uint32_t offset = chi_u16_at(page + PAGE_HEADER + 2 * (size_t)i);
	if (offset < PAGE_HEADER || offset > size - NODE_HEADER) {
		return NULL;
	}
	const uint8_t *node = page + offset;
	return NODE_HEADER + (uint32_t)chi_u16_at(node + NODE_KSIZE) <= size - offset ? node : NULL;
}

/* Child `i` of a branch page, as a page's number; one past the end if the node is damaged. */
static uint64_t child_of(const struct chi_descent *tree, const uint8_t *page, uint32_t i)
{
	const uint8_t *node = node_of(tree, page, i);
	return node != NULL ? chi_node_child(node) : tree->end;
}

/* The level of the branches right above the leaves; none if the root is a leaf. */
static bool lowest(const struct chi_descent *tree, unsigned *level)
{
	*level = tree->depth - 2u;
	return tree->depth >= 2;
}

/* Looks where the leaf after this one in the walk's direction is, as far as the branch above
 * tells, and asks for its head: its lines are asked for one by one. */
static void look_ahead(struct chi_leaf_cursor *walk, bool backwards)
{
	const struct chi_descent *tree = walk->tree;
	unsigned level;
	walk->leaf.ahead = walk->leaf.page;
	if (!lowest(tree, &level)) {
		return;
	}
	const uint8_t *branch = walk->pages[level];
	uint32_t n = chi_page_entries(tree, branch, FLAG_BRANCH);
	uint32_t at = walk->at[level];
	if (backwards ? at == 0 : at + 1 >= n) {
		return;
	}
	uint64_t number = child_of(tree, branch, backwards ? at - 1 : at + 1);
	if (number < tree->end) {
		walk->leaf.ahead = tree->pages.base + number * tree->pages.size;
		__builtin_prefetch(walk->leaf.ahead);
	}
}

/* Takes a leaf, to its first entry or its last. */
static int take_leaf(struct chi_leaf_cursor *walk, uint64_t number, bool backwards)
{
	uint32_t n = 0;
	const uint8_t *page = page_of(walk->tree, number, FLAG_LEAF, &n);
	if (page == NULL) {
		return -CHI_ECORRUPT;
	}
	walk->leaf = (struct chi_leaf){
		.page = page,
		.size = walk->tree->pages.size,
		.n = n,
		.at = backwards ? n - 1 : 0,
	};
	look_ahead(walk, backwards);
	return CHI_OK;
}

/* From page `number` on `level` down to its first leaf, or its last. */
static int go_down(struct chi_leaf_cursor *walk, uint64_t number, unsigned level, bool backwards)
{
	for (; level + 1 < walk->tree->depth; level++) {
		uint32_t n = 0;
		const uint8_t *page = page_of(walk->tree, number, FLAG_BRANCH, &n);
		if (page == NULL) {
			return -CHI_ECORRUPT;
		}
		walk->pages[level] = page;
		walk->at[level] = backwards ? n - 1 : 0;
		number = child_of(walk->tree, page, walk->at[level]);
	}
	return take_leaf(walk, number, backwards);
}

int chi_leaf_cursor_start(struct chi_leaf_cursor *walk, const struct chi_descent *tree,
			  bool backwards)
{
	walk->tree = tree;
	walk->floor = 0;
	return tree->depth == 0 ? CHI_NONE : go_down(walk, tree->root, 0, backwards);
}

/* Halves the nodes `first` .. n - 1 of a page: *at is how many nodes of all are not greater than
 * the key. */
static int halve(const struct chi_descent *tree, const uint8_t *page, uint32_t first, uint32_t n,
		 chi_key_order *order, const uint8_t *key, size_t len, uint32_t *at)
{
	while (first < n) {
		uint32_t middle = first + (n - first) / 2;
		const uint8_t *node = node_of(tree, page, middle);
		if (node == NULL) {
			return -CHI_ECORRUPT;
		}
		if (order(node + NODE_HEADER, chi_u16_at(node + NODE_KSIZE), key, len) <= 0) {
			first = middle + 1;
		} else {
			n = middle;
		}
	}
	*at = first;
	return CHI_OK;
}

int chi_leaf_cursor_seek(struct chi_leaf_cursor *walk, const struct chi_descent *tree,
			 chi_key_order *order, bool backwards, const uint8_t *key, size_t len)
{
	uint64_t number = tree->root;
	walk->tree = tree;
	walk->floor = 0;
	if (tree->depth == 0) {
		return CHI_NONE;
	}
	for (unsigned level = 0; level + 1u < tree->depth; level++) {
		uint32_t n = 0;
		const uint8_t *page = page_of(tree, number, FLAG_BRANCH, &n);
		uint32_t at = 0;
		/* The first node's key stands for "less than all". */
		if (page == NULL || halve(tree, page, 1, n, order, key, len, &at) < 0) {
			return -CHI_ECORRUPT;
		}
		walk->pages[level] = page;
		walk->at[level] = at - 1;
		number = child_of(tree, page, at - 1);
	}
	struct chi_leaf *leaf = &walk->leaf;
	int rc = take_leaf(walk, number, backwards);
	rc = rc == CHI_OK ? halve(tree, leaf->page, 0, leaf->n, order, key, len, &leaf->at) : rc;
	if (rc != CHI_OK || leaf->at-- > 0) {
		return rc;
	}
	/* LMDB leaves branches as they are when the first entry of a leaf is deleted: the last one
	 * before the key is in the leaf before. */
	rc = chi_leaf_cursor_skip(walk, true);
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

int chi_leaf_cursor_skip(struct chi_leaf_cursor *walk, bool backwards)
{
	const struct chi_descent *tree = walk->tree;
	for (unsigned level = tree->depth - 1u; level > walk->floor; level--) {
		const uint8_t *page = walk->pages[level - 1];
		uint32_t *at = &walk->at[level - 1];
		uint32_t n = chi_page_entries(tree, page, FLAG_BRANCH);
		if (backwards ? *at > 0 : *at + 1 < n) {
			*at = backwards ? *at - 1 : *at + 1;
			return go_down(walk, child_of(tree, page, *at), level, backwards);
		}
	}
	return CHI_NONE;
}

int chi_leaf_cursor_big(const struct chi_descent *tree, struct chi_item *item)
{
	uint64_t number = chi_u64_at(item->value);
	uint64_t pages = (PAGE_HEADER + (uint64_t)item->len - 1) / tree->pages.size + 1;
	if (number >= tree->end || pages > tree->end - number) {
		return -CHI_ECORRUPT;
	}
	const uint8_t *page = tree->pages.base + number * tree->pages.size;
	item->value = page + PAGE_HEADER;
	return (chi_u16_at(page + PAGE_FLAGS) & FLAG_KINDS) == FLAG_OVERFLOW &&
			       chi_u64_at(page + PAGE_NUMBER) == number
		       ? CHI_OK
		       : -CHI_ECORRUPT;
}
