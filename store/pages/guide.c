/* SPDX-License-Identifier: MIT */
/*
 * A guide is a tree of nodes with a fixed number of heads, so that a node's children need no
 * pointers. The lowest nodes hold the leaves' page numbers beside their heads: three lines that are
 * waited for at once.
 *
 * The tree's record says how many branch pages and leaves there are. So no damaged page can lead
 * around in a circle, and any surprise is the end of the guide.
 *
 * A guide that is not the newest and that no snapshot has is made again for another one. Who wants
 * the newest counts himself in first and looks then whether it still is the newest.
 */
#include "store/pages/guide.h"

#include <endian.h>
#include <string.h>
#include <sys/mman.h>

#include "base/attr.h"
#include "store/pages/leaf_cursor.h"
#include "store/pages/pages.h"

#define LINE 64 /* bytes of a cache line */
#define FAN  16 /* heads of a node */
#define HEAD 8	/* bytes of a key that are compared as a number */

/* Fills a node up after its last head. No position has a piece on each square, so that a key has.
 */
#define FILLER UINT64_MAX

/* Instead of references, while it is made. */
#define MAKING (1u << 31)

struct chi_guide_node {
	uint64_t heads[FAN];
};

struct chi_guide_lowest {
	struct chi_guide_node node;
	uint32_t pages[FAN];
};
_Static_assert(sizeof(struct chi_guide_lowest) % LINE == 0, "nodes begin at lines");

#define LOWEST_MOST ((size_t)CHI_GUIDE_LEAVES_MOST / FAN)
/* All levels above have a fifteenth of the lowest one's nodes, and one each. */
_Static_assert(LOWEST_MOST * sizeof(struct chi_guide_lowest) +
			       (LOWEST_MOST / (FAN - 1) + CHI_GUIDE_LEVELS) *
				       sizeof(struct chi_guide_node) <=
		       CHI_GUIDE_BYTES_MOST,
	       "the largest guide fits");

uint32_t chi_guide_after = 20000;

/* ---- Making one ---------------------------------------------------------------------------- */

struct making {
	const struct chi_descent *tree;
	struct chi_guide_lowest *lowest;
	uint64_t branches; /* so far */
	uint64_t leaves;
	uint64_t last; /* head of the last leaf */
};

static bool add_leaf(struct making *m, uint64_t head, uint64_t page)
{
	if (m->leaves == m->tree->leaves || head < m->last || head == FILLER) {
		return false;
	}
	struct chi_guide_lowest *lowest = &m->lowest[m->leaves / FAN];
	size_t at = m->leaves % FAN;
	if (at == 0) {
		memset(lowest, 0xff, sizeof(*lowest));
	}
	lowest->node.heads[at] = head;
	lowest->pages[at] = (uint32_t)page;
	m->last = head;
	m->leaves++;
	return true;
}

/* Adds the leaves below a page of `level`, whose first key begins with `head`. */
static bool add_below(struct making *m, uint64_t number, unsigned level, uint64_t head)
{
	const struct chi_descent *tree = m->tree;
	if (level == tree->depth) {
		return add_leaf(m, head, number);
	}
	const uint8_t *page = tree->pages.base + number * tree->pages.size;
	uint32_t n = chi_page_entries(tree, page, FLAG_BRANCH);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t offset = chi_u16_at(page + PAGE_HEADER + 2 * (size_t)i);
		if (offset < PAGE_HEADER || offset > tree->pages.size - NODE_HEADER) {
			return false;
		}
		const uint8_t *node = page + offset;
		uint32_t ksize = chi_u16_at(node + NODE_KSIZE);
		/* The first node's key stands for "less than all". */
		if (i > 0) {
			if (ksize < HEAD || ksize > tree->pages.size - NODE_HEADER - offset) {
				return false;
			}
			head = be64toh(chi_u64_at(node + NODE_HEADER));
		}
		uint64_t child = chi_node_child(node);
		if (child >= tree->end || !add_below(m, child, level + 1, head)) {
			return false;
		}
	}
	return n > 0 && m->branches++ < tree->branches;
}

static size_t nodes_for(size_t n)
{
	return (n + FAN - 1) / FAN;
}

/* Each level has the first heads of the nodes below. */
static void add_levels(struct chi_guide *guide, size_t n_lowest)
{
	const uint8_t *below = guide->memory;
	size_t size = sizeof(*guide->lowest);
	struct chi_guide_node *up[CHI_GUIDE_LEVELS];
	guide->levels = 0;
	for (size_t n = n_lowest; n > 1; n = nodes_for(n)) {
		struct chi_guide_node *nodes =
			(struct chi_guide_node *)(uintptr_t)(below + n * size);
		memset(nodes, 0xff, nodes_for(n) * sizeof(*nodes));
		for (size_t i = 0; i < n; i++) {
			nodes[i / FAN].heads[i % FAN] = chi_u64_at(below + i * size);
		}
		up[guide->levels++] = nodes;
		below = (const uint8_t *)nodes;
		size = sizeof(*nodes);
	}
	for (unsigned i = 0; i < guide->levels; i++) {
		guide->level_at[i] = up[guide->levels - 1 - i];
	}
}

static bool read_tree(struct chi_guide *guide, const struct chi_descent *tree)
{
	struct making m = {.tree = tree, .lowest = guide->lowest};
	if (tree->root >= tree->end || !add_below(&m, tree->root, 1, 0) ||
	    m.branches != tree->branches || m.leaves != tree->leaves) {
		return false;
	}
	add_levels(guide, nodes_for(m.leaves));
	return true;
}

/* ---- Keeping them -------------------------------------------------------------------------- */

void chi_guides_init(struct chi_guides *guides)
{
	guides->memory = NULL;
	atomic_init(&guides->newest, NULL);
	atomic_init(&guides->making, false);
	for (size_t i = 0; i < CHI_GUIDES; i++) {
		atomic_init(&guides->all[i].refs, 0);
	}
}

void chi_guides_reserve(struct chi_guides *guides)
{
	void *memory = mmap(NULL, CHI_GUIDES * CHI_GUIDE_BYTES_MOST, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED) {
		return;
	}
	guides->memory = memory;
	for (size_t i = 0; i < CHI_GUIDES; i++) {
		struct chi_guide *guide = &guides->all[i];
		guide->memory = (uint8_t *)memory + i * CHI_GUIDE_BYTES_MOST;
		guide->lowest = (struct chi_guide_lowest *)(void *)guide->memory;
	}
}

void chi_guides_deinit(struct chi_guides *guides)
{
	if (guides->memory != NULL) {
		(void)munmap(guides->memory, CHI_GUIDES * CHI_GUIDE_BYTES_MOST);
	}
}

void chi_guide_release(const struct chi_guide *guide)
{
	if (guide != NULL) {
		struct chi_guide *own = (struct chi_guide *)(uintptr_t)guide;
		atomic_fetch_sub(&own->refs, 1);
	}
}

const struct chi_guide *chi_guide_take(struct chi_guides *guides, uint64_t epoch, uint64_t txn)
{
	struct chi_guide *guide = atomic_load(&guides->newest);
	if (guide == NULL) {
		return NULL;
	}
	atomic_fetch_add(&guide->refs, 1);
	/* If it still is the newest, it cannot be made for another snapshot any more. */
	bool is = atomic_load(&guides->newest) == guide;
	if (!is || guide->epoch != epoch || guide->txn != txn) {
		chi_guide_release(guide);
		return NULL;
	}
	return guide;
}

/* One that no snapshot has, for the thread that makes; NULL: there is none. */
static struct chi_guide *find_free(struct chi_guides *guides)
{
	for (size_t i = 0; i < CHI_GUIDES; i++) {
		struct chi_guide *guide = &guides->all[i];
		unsigned none = 0;
		if (guide != atomic_load(&guides->newest) &&
		    atomic_compare_exchange_strong(&guide->refs, &none, MAKING)) {
			return guide;
		}
	}
	return NULL;
}

/* With `making`: a walk that goes on in an older snapshot does not take the newest one's place. */
static void publish(struct chi_guides *guides, struct chi_guide *guide)
{
	const struct chi_guide *newest = atomic_load(&guides->newest);
	if (newest == NULL || newest->epoch != guide->epoch || newest->txn < guide->txn) {
		atomic_store(&guides->newest, guide);
	}
}

/* With `making`. */
static int make_guide(struct chi_guides *guides, uint64_t epoch, const struct chi_descent *tree,
		      const struct chi_guide **out)
{
	struct chi_guide *guide = find_free(guides);
	if (guide == NULL) {
		return -CHI_ENOMEM;
	}
	bool good = read_tree(guide, tree);
	if (good) {
		guide->epoch = epoch;
		guide->txn = tree->txn;
		atomic_fetch_add(&guide->refs, 1);
		publish(guides, guide);
		*out = guide;
	}
	atomic_fetch_sub(&guide->refs, MAKING);
	return good ? CHI_OK : CHI_NONE;
}

int chi_guide_make(struct chi_guides *guides, uint64_t epoch, const struct chi_descent *tree,
		   const struct chi_guide **out)
{
	*out = chi_guide_take(guides, epoch, tree->txn);
	if (*out != NULL) {
		return CHI_OK;
	}
	if (!tree->usable || tree->pages.far || tree->depth < 2 || guides->memory == NULL ||
	    tree->leaves > CHI_GUIDE_LEAVES_MOST || tree->end > UINT32_MAX) {
		return CHI_NONE;
	}
	if (atomic_exchange(&guides->making, true)) {
		return -CHI_EBUSY;
	}
	int rc = make_guide(guides, epoch, tree, out);
	atomic_store(&guides->making, false);
	return rc;
}

/* ---- Searching one ------------------------------------------------------------------------- */

/* The last of a node's heads that is not greater than `head`, as its first one is not. Without a
 * branch that depends on them. */
static inline size_t step(const struct chi_guide_node *node, uint64_t head)
{
	size_t at = 0;
	for (size_t half = FAN / 2; half > 0; half /= 2) {
		at += node->heads[at + half] <= head ? half : 0;
	}
	return at;
}

/* The lowest node for a head, which is asked for. Less than FILLER, or it would lead to nodes that
 * are not there. */
static inline const struct chi_guide_lowest *find_lowest(const struct chi_guide *guide,
							 uint64_t head)
{
	size_t at = 0;
	head -= head == FILLER;
	for (unsigned i = 0; i < guide->levels; i++) {
		at = at * FAN + step(&guide->level_at[i][at], head);
	}
	const struct chi_guide_lowest *lowest = &guide->lowest[at];
	for (size_t i = 0; i < sizeof(*lowest) / LINE; i++) {
		__builtin_prefetch((const uint8_t *)lowest + i * LINE);
	}
	return lowest;
}

static inline uint64_t head_of(const struct chi_key *key)
{
	return be64toh(chi_u64_at(key->bytes));
}

void chi_guide_search(const struct chi_guide *guide, const struct chi_key *keys, size_t n,
		      uint64_t *pages)
{
	const struct chi_guide_lowest *lowest[CHI_DESCENT_LANES];
	for (size_t i = 0; i < n; i++) {
		lowest[i] = find_lowest(guide, head_of(&keys[i]));
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t head = head_of(&keys[i]);
		size_t at = step(&lowest[i]->node, head);
		pages[i] = CHI_LIKELY(lowest[i]->node.heads[at] != head) ? lowest[i]->pages[at]
									 : CHI_GUIDE_NO_LEAF;
	}
}
