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

/* True if the nodes of a branch fill it: none is there that its index does not name. */
static bool is_full(const struct chi_descent *tree, const uint8_t *page)
{
	uint32_t n = chi_page_entries(tree, page, FLAG_BRANCH);
	uint32_t taken = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *node = node_of(tree, page, i);
		if (node == NULL) {
			return false;
		}
		taken += (NODE_HEADER + chi_u16_at(node + NODE_KSIZE) + 1) & ~UINT32_C(1);
	}
	return taken == tree->pages.size - chi_u16_at(page + PAGE_UPPER);
}

/* The node of a branch whose key parts the leaf from the leaves before it, or after it; NULL: there
 * are none. A first node's key stands for "less than all". */
static const uint8_t *border_of(const struct chi_leaf_cursor *walk, bool after)
{
	for (unsigned level = walk->tree->depth - 1u; level-- > 0;) {
		const uint8_t *page = walk->pages[level];
		uint32_t at = walk->at[level] + after;
		if (at > 0 && at < chi_page_entries(walk->tree, page, FLAG_BRANCH)) {
			return node_of(walk->tree, page, at);
		}
	}
	return NULL;
}

static int compare(const struct chi_leaf_cursor *walk, const uint8_t *a, const uint8_t *b)
{
	return walk->order(a + NODE_HEADER, chi_u16_at(a + NODE_KSIZE), b + NODE_HEADER,
			   chi_u16_at(b + NODE_KSIZE));
}

/* All keys of the leaf lie between its borders. */
static bool borders_ok(const struct chi_leaf_cursor *walk)
{
	const uint8_t *low = border_of(walk, false);
	const uint8_t *high = border_of(walk, true);
	const uint8_t *first = node_of(walk->tree, walk->leaf.page, 0);
	const uint8_t *last = node_of(walk->tree, walk->leaf.page, walk->leaf.n - 1);
	return first != NULL && last != NULL && (low == NULL || compare(walk, low, first) <= 0) &&
	       (high == NULL || compare(walk, last, high) < 0);
}

/* The last key of one leaf is before the key that parts them, the first one of the next is not. */
static bool border_ok(const struct chi_leaf_cursor *walk, const uint8_t *border,
		      const struct chi_leaf *left, const struct chi_leaf *right)
{
	const uint8_t *last = node_of(walk->tree, left->page, left->n - 1);
	const uint8_t *first = node_of(walk->tree, right->page, 0);
	return border != NULL && first != NULL && last != NULL && compare(walk, last, border) < 0 &&
	       compare(walk, border, first) <= 0;
}

/* Takes a leaf; the gap is before its first entry, or after its last. */
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
		.at = backwards ? n : 0,
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
		if (page == NULL || (backwards && !is_full(walk->tree, page))) {
			return -CHI_ECORRUPT;
		}
		walk->pages[level] = page;
		walk->at[level] = backwards ? n - 1 : 0;
		number = child_of(walk->tree, page, walk->at[level]);
	}
	return take_leaf(walk, number, backwards);
}

int chi_leaf_cursor_start(struct chi_leaf_cursor *walk, const struct chi_descent *tree,
			  chi_key_order *order, bool backwards)
{
	walk->tree = tree;
	walk->floor = 0;
	walk->order = order;
	int rc = tree->depth == 0 ? CHI_NONE : go_down(walk, tree->root, 0, backwards);
	return rc == CHI_OK && !borders_ok(walk) ? -CHI_ECORRUPT : rc;
}

/*
 * Halves the nodes `first` .. n - 1 of a page; *at is how many nodes of all are less than the key,
 * or, `or_equal`, not greater.
 */
static int halve(const struct chi_descent *tree, const uint8_t *page, uint32_t first, uint32_t n,
		 chi_key_order *order, const uint8_t *key, size_t len, bool or_equal, uint32_t *at)
{
	while (first < n) {
		uint32_t middle = first + (n - first) / 2;
		const uint8_t *node = node_of(tree, page, middle);
		if (node == NULL) {
			return -CHI_ECORRUPT;
		}
		int c = order(node + NODE_HEADER, chi_u16_at(node + NODE_KSIZE), key, len);
		if (c < 0 || (or_equal && c == 0)) {
			first = middle + 1;
		} else {
			n = middle;
		}
	}
	*at = first;
	return CHI_OK;
}

/* Bytes of the nodes `from` .. to - 1; of those that are not damaged. */
static uint32_t taken_by(const struct chi_leaf *leaf, uint32_t from, uint32_t to)
{
	uint32_t taken = 0;
	for (; from < to; from++) {
		struct chi_item item;
		taken += chi_leaf_item(leaf, from, &item) ? item.room : 0;
	}
	return taken;
}

static bool is_whole(const struct chi_leaf *leaf, uint32_t taken)
{
	return taken == leaf->size - chi_u16_at(leaf->page + PAGE_UPPER);
}

bool chi_leaf_cursor_end_ok(const struct chi_leaf_cursor *walk)
{
	const struct chi_leaf *leaf = &walk->leaf;
	return is_whole(leaf, taken_by(leaf, 0, leaf->n)) && borders_ok(walk);
}

int chi_leaf_cursor_seek(struct chi_leaf_cursor *walk, const struct chi_descent *tree,
			 chi_key_order *order, bool backwards, const uint8_t *key, size_t len)
{
	uint64_t number = tree->root;
	walk->tree = tree;
	walk->floor = 0;
	walk->order = order;
	if (tree->depth == 0) {
		return CHI_NONE;
	}
	for (unsigned level = 0; level + 1u < tree->depth; level++) {
		uint32_t n = 0;
		const uint8_t *page = page_of(tree, number, FLAG_BRANCH, &n);
		uint32_t at = 0;
		/* The first node's key stands for "less than all". */
		if (page == NULL || halve(tree, page, 1, n, order, key, len, true, &at) < 0 ||
		    (at == n && !is_full(tree, page))) {
			return -CHI_ECORRUPT;
		}
		walk->pages[level] = page;
		walk->at[level] = at - 1;
		number = child_of(tree, page, at - 1);
	}
	struct chi_leaf *leaf = &walk->leaf;
	int rc = take_leaf(walk, number, backwards);
	if (rc == CHI_OK && !borders_ok(walk)) {
		rc = -CHI_ECORRUPT;
	}
	if (rc == CHI_OK) {
		rc = halve(tree, leaf->page, 0, leaf->n, order, key, len, false, &leaf->at);
	}
	if (rc == CHI_OK) {
		/* These will not be walked. */
		leaf->taken =
			taken_by(leaf, backwards ? leaf->at : 0, backwards ? leaf->n : leaf->at);
	}
	return rc;
}

int chi_leaf_cursor_skip(struct chi_leaf_cursor *walk, bool backwards)
{
	const struct chi_descent *tree = walk->tree;
	for (unsigned level = tree->depth - 1u; level > walk->floor; level--) {
		const uint8_t *page = walk->pages[level - 1];
		uint32_t *at = &walk->at[level - 1];
		uint32_t n = chi_page_entries(tree, page, FLAG_BRANCH);
		if (backwards ? *at > 0 : *at + 1 < n) {
			const struct chi_leaf from = walk->leaf;
			const uint8_t *border = node_of(tree, page, *at + !backwards);
			*at = backwards ? *at - 1 : *at + 1;
			int rc = go_down(walk, child_of(tree, page, *at), level, backwards);
			bool good = rc == CHI_OK &&
				    (walk->order == NULL ||
				     (backwards ? border_ok(walk, border, &walk->leaf, &from)
						: border_ok(walk, border, &from, &walk->leaf)));
			return good ? CHI_OK : -CHI_ECORRUPT;
		}
		if (!backwards && !is_full(tree, page)) {
			return -CHI_ECORRUPT;
		}
	}
	return CHI_NONE;
}

int chi_leaf_cursor_turn(struct chi_leaf_cursor *walk, bool backwards)
{
	bool whole = walk->order == NULL || is_whole(&walk->leaf, walk->leaf.taken);
	return CHI_LIKELY(whole) ? chi_leaf_cursor_skip(walk, backwards) : -CHI_ECORRUPT;
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
