/* SPDX-License-Identifier: MIT */
/*
 * A page is reached once: damage may lead two ways to it, or round in a circle. If the tree of free
 * pages is walked first, a tree that leads to one of these leads wrongly: what is there is not the
 * tree's.
 *
 * Keys must ascend through the whole tree. The key of a branch's node is a bound: all keys before
 * it are less, none after it is, or LMDB's look-ups would miss them.
 */
#include "store/pages/page_walk.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/lmdb_err.h"
#include "store/pages/pages.h"
#include "store/record/codec.h"

/* The two meta pages. */
#define HEADS 2

#define REPORT_SIZE 256

/* A file that LMDB has ended early lacks a few pages, which are free. One that lacks more is cut.
 */
#define MISSING_MOST (UINT64_C(1) << 20)

CHI_PRINTF(2, 0)
static void report_page(struct chi_page_walk *w, const char *format, va_list args)
{
	char text[REPORT_SIZE];
	w->errors++;
	if (w->damaged != NULL) {
		atomic_store_explicit(w->damaged, true, memory_order_relaxed);
	}
	if (w->report != NULL) {
		(void)vsnprintf(text, sizeof(text), format, args);
		w->report(w->report_context, text);
	}
}

void chi_page_complain(struct chi_page_walk *w, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	report_page(w, format, args);
	va_end(args);
}

CHI_PRINTF(2, 3) static void complain(struct chi_page_walk *w, const char *format, ...)
{
	va_list args;
	if (!w->quiet) {
		va_start(args, format);
		report_page(w, format, args);
		va_end(args);
	}
}

int chi_page_walk_init(struct chi_page_walk *w)
{
	uint64_t pages = chi_page_file_pages(&w->file_image);
	bool more = w->file_image.last >= pages && w->file_image.last - pages < MISSING_MOST;
	w->n_pages = more ? w->file_image.last + 1 : pages;
	w->pages = calloc(w->n_pages + 1, sizeof(*w->pages));
	return w->pages == NULL ? -CHI_ENOMEM : CHI_OK;
}

void chi_page_walk_deinit(struct chi_page_walk *w)
{
	free(w->pages);
	w->pages = NULL;
}

void chi_page_walk_restart(struct chi_page_walk *w)
{
	for (uint64_t i = 0; i < w->n_pages; i++) {
		atomic_store_explicit(&w->pages[i], CHI_PAGE_UNKNOWN, memory_order_relaxed);
	}
}

int chi_page_bytewise(const MDB_val *a, const MDB_val *b)
{
	return chi_position_compare(a->mv_data, a->mv_size, b->mv_data, b->mv_size);
}

bool chi_page_key_is(const MDB_val *key, const char *name)
{
	return key->mv_size == strlen(name) && memcmp(key->mv_data, name, key->mv_size) == 0;
}

int chi_page_value(struct chi_page_file *file_image, const struct chi_page_file_node *node,
		   MDB_val *value, uint8_t **memory)
{
	*value = chi_val(node->value, node->len);
	if (node->value != NULL) {
		return CHI_OK;
	}
	/* The file bounds what is taken. */
	if (node->len > file_image->bytes) {
		return -CHI_ECORRUPT;
	}
	*memory = malloc(node->len + UINT64_C(1));
	if (*memory == NULL) {
		return -CHI_ENOMEM;
	}
	value->mv_data = *memory;
	return chi_page_file_big(file_image, node, *memory) ? CHI_OK : -CHI_ECORRUPT;
}

/* ---- Pages -------------------------------------------------------------------------------- */

/* One page more is reached. */
static bool reach(struct chi_page_walk *w, const struct chi_page_tree *tree, uint64_t number)
{
	unsigned char unknown = CHI_PAGE_UNKNOWN;
	if (number < HEADS || number >= chi_page_file_pages(&w->file_image) ||
	    (!tree->lenient && number > w->file_image.last) ||
	    !atomic_compare_exchange_strong_explicit(&w->pages[number], &unknown, CHI_PAGE_REACHED,
						     memory_order_relaxed, memory_order_relaxed)) {
		complain(w, "the %s tree leads to page %" PRIu64 ", which is not its own",
			 tree->name, number);
		return false;
	}
	return true;
}

/* A value in pages of its own: as many as the first one says, which is at least as many as it
 * takes. A record that has become shorter keeps those it had. */
static bool reach_big(struct chi_page_walk *w, const struct chi_page_tree *tree,
		      const struct chi_page_file_node *node)
{
	uint8_t head[PAGE_HEADER];
	uint64_t size = w->file_image.page_size;
	uint64_t needed = (PAGE_HEADER + (uint64_t)node->len - 1) / size + 1;
	if (!reach(w, tree, node->big)) {
		return false;
	}
	uint64_t pages = 0;
	if (chi_page_file_read(&w->file_image, head, PAGE_HEADER, node->big * size) &&
	    chi_u16_at(head + PAGE_FLAGS) == FLAG_OVERFLOW &&
	    chi_u64_at(head + PAGE_NUMBER) == node->big) {
		pages = chi_u32_at(head + PAGE_COUNT);
	}
	if (pages < needed || pages > chi_page_file_pages(&w->file_image) - node->big) {
		complain(w, "page %" PRIu64 " of the %s tree is damaged: a long value", node->big,
			 tree->name);
		return false;
	}
	for (uint64_t i = 1; i < pages; i++) {
		if (!reach(w, tree, node->big + i)) {
			return false;
		}
	}
	return true;
}

/* LMDB takes a page with one of a writer's flags for memory of its own, and writes into it. */
static bool has_notes(const uint8_t *page)
{
	return (chi_u16_at(page + PAGE_FLAGS) & ~FLAG_KINDS) != 0;
}

/* What is wrong with a page that was read; NULL: nothing. */
static const char *page_problem(const struct chi_page_walk *w, struct chi_page_tree *tree,
				const uint8_t *page, unsigned level)
{
	uint32_t lower = chi_u16_at(page + PAGE_LOWER);
	uint32_t upper = chi_u16_at(page + PAGE_UPPER);
	bool branch = chi_page_file_is_branch(page);
	if (!tree->lenient && has_notes(page)) {
		return "its flags are";
	}
	if (upper < lower || upper > w->file_image.page_size || lower % 2 != 0) {
		return "its bounds are";
	}
	if (chi_page_file_nodes(page) < (branch ? tree->least : 1)) {
		return "it has too few nodes";
	}
	if (tree->depth == 0 && !branch) {
		tree->depth = level + 1;
	}
	/* All ways down are of the same length. */
	if (tree->depth != 0 && branch != (level + 1 < tree->depth)) {
		return "it is on a wrong level";
	}
	return NULL;
}

/* ---- Nodes -------------------------------------------------------------------------------- */

static bool get_node(const struct chi_page_walk *w, const struct chi_page_tree *tree,
		     const uint8_t *page, unsigned i, struct chi_page_file_node *out)
{
	bool branch = chi_page_file_is_branch(page);
	if (!chi_page_file_read_node(&w->file_image, page, i, out)) {
		return false;
	}
	/* The first key of a branch is never looked at. */
	return tree->lenient ||
	       (chi_u16_at(page + PAGE_HEADER + 2 * (size_t)i) >= chi_u16_at(page + PAGE_UPPER) &&
		out->key_len <= CHI_PAGE_KEY_MAX && (out->key_len > 0 || (branch && i == 0)) &&
		(branch || (out->flags & ~NODE_BIG) == tree->flags));
}

/* How many bytes of its page it takes. */
static uint64_t node_bytes(const uint8_t *page, const struct chi_page_file_node *node)
{
	uint64_t bytes = NODE_HEADER + (uint64_t)node->key_len;
	if (!chi_page_file_is_branch(page)) {
		bytes += node->value != NULL ? node->len : sizeof(uint64_t);
	}
	return (bytes + 1) & ~UINT64_C(1);
}

/* The next key on the way through the tree; `bound`: of a branch. */
static void check_order(struct chi_page_walk *w, struct chi_page_tree *tree, uint64_t number,
			const MDB_val *key, bool bound)
{
	if (tree->compare == NULL || tree->lenient) {
		return;
	}
	if (tree->last_len > 0) {
		const MDB_val last = {tree->last_len, tree->last};
		int order = tree->compare(&last, key);
		if (order > 0 || (order == 0 && (bound || !tree->last_is_bound))) {
			complain(w, "the %s tree is out of order at page %" PRIu64, tree->name,
				 number);
		}
	}
	memcpy(tree->last, key->mv_data, key->mv_size);
	tree->last_len = key->mv_size;
	tree->last_is_bound = bound;
}

static int take_entry(struct chi_page_walk *w, struct chi_page_tree *tree, uint64_t number,
		      const struct chi_page_file_node *node)
{
	_cleanup_(chi_freep) uint8_t *memory = NULL;
	const MDB_val key = chi_val(node->key, node->key_len);
	MDB_val value;
	tree->n++;
	check_order(w, tree, number, &key, false);
	if (node->value == NULL && !tree->lenient && !reach_big(w, tree, node)) {
		return CHI_OK;
	}
	if (tree->take == NULL) {
		return CHI_OK;
	}
	/* Many damaged nodes may claim the same long run of pages, where no one counts these. */
	int rc = tree->lenient && node->len > CHI_RECORD_BYTES_MAX
			 ? -CHI_ECORRUPT
			 : chi_page_value(&w->file_image, node, &value, &memory);
	if (rc == -CHI_ECORRUPT) {
		complain(w, "page %" PRIu64 " of the %s tree: a long value cannot be read", number,
			 tree->name);
		return CHI_OK;
	}
	return rc < 0 ? rc : tree->take(w, tree, &key, &value);
}

static int walk_page(struct chi_page_walk *w, struct chi_page_tree *tree, uint64_t number,
		     unsigned level);

static int walk_nodes(struct chi_page_walk *w, struct chi_page_tree *tree, uint64_t number,
		      const uint8_t *page, unsigned level)
{
	uint64_t room = w->file_image.page_size - chi_u16_at(page + PAGE_UPPER);
	uint64_t taken = 0;
	bool branch = chi_page_file_is_branch(page);
	int rc = CHI_OK;
	for (unsigned i = 0; rc == CHI_OK && i < chi_page_file_nodes(page); i++) {
		struct chi_page_file_node node;
		if (!get_node(w, tree, page, i, &node)) {
			complain(w, "page %" PRIu64 " of the %s tree: node %u is damaged", number,
				 tree->name, i);
			continue;
		}
		taken += node_bytes(page, &node);
		if (!branch) {
			rc = take_entry(w, tree, number, &node);
			continue;
		}
		if (i > 0) {
			const MDB_val bound = chi_val(node.key, node.key_len);
			check_order(w, tree, number, &bound, true);
		}
		rc = walk_page(w, tree, node.child, level + 1);
	}
	if (rc == CHI_OK && !tree->lenient && taken > room) {
		complain(w, "page %" PRIu64 " of the %s tree: its nodes overlap", number,
			 tree->name);
	}
	return rc;
}

static bool is_set(const atomic_bool *flag)
{
	return flag != NULL && atomic_load_explicit(flag, memory_order_relaxed);
}

/* The level of the pages that parts begin with. */
static unsigned part_level(const struct chi_page_tree *tree)
{
	return tree->depth > 2 ? tree->depth - 2 : 1;
}

/* A part instead of its pages. The last key that the walk saw is the part's bound. */
static int note_part(struct chi_page_tree *tree, uint64_t number)
{
	struct chi_page_parts *parts = tree->parts;
	if (tree->last_len > CHI_TREE_KEY_MAX) {
		return -CHI_ECORRUPT;
	}
	if (chi_grow(&parts->part, &parts->size, parts->n + 1, sizeof(*parts->part)) < 0) {
		return -CHI_ENOMEM;
	}
	struct chi_page_part *part = &parts->part[parts->n++];
	*part = (struct chi_page_part){.page = number, .bound_len = tree->last_len};
	memcpy(part->bound, tree->last, tree->last_len);
	return CHI_OK;
}

static int walk_page(struct chi_page_walk *w, struct chi_page_tree *tree, uint64_t number,
		     unsigned level)
{
	if (is_set(w->stop) || is_set(w->damaged)) {
		return -CHI_ECANCELED;
	}
	if (tree->parts != NULL && level == part_level(tree)) {
		return note_part(tree, number);
	}
	if (level == CHI_PAGE_FILE_DEPTH) {
		complain(w, "the %s tree is too deep", tree->name);
		return CHI_OK;
	}
	if (!reach(w, tree, number)) {
		return CHI_OK;
	}
	_cleanup_(chi_freep) uint8_t *page = malloc(w->file_image.page_size);
	if (page == NULL) {
		return -CHI_ENOMEM;
	}
	const char *problem = NULL;
	int before = w->file_image.error;
	w->file_image.error = 0;
	if (!chi_page_file_page(&w->file_image, number, page)) {
		problem = w->file_image.error != 0 ? "it cannot be read" : "its head is";
	} else if (!tree->lenient) {
		problem = page_problem(w, tree, page, level);
	}
	w->file_image.error = w->file_image.error != 0 ? w->file_image.error : before;
	if (problem != NULL) {
		complain(w, "page %" PRIu64 " of the %s tree is damaged: %s", number, tree->name,
			 problem);
		return CHI_OK;
	}
	return walk_nodes(w, tree, number, page, level);
}

int chi_page_walk_tree(struct chi_page_walk *w, struct chi_page_tree *tree)
{
	uint64_t before = w->errors;
	tree->n = 0;
	tree->last_len = 0;
	if (tree->root == NO_PAGE) {
		return CHI_OK;
	}
	int rc = walk_page(w, tree, tree->root, 0);
	if (rc == CHI_OK && !tree->lenient && w->errors == before && tree->n != tree->entries) {
		complain(w, "the %s tree has %" PRIu64 " entries, not %" PRIu64, tree->name,
			 tree->n, tree->entries);
	}
	return rc;
}

int chi_page_walk_parts(struct chi_page_walk *w, struct chi_page_tree *tree,
			struct chi_page_parts *parts)
{
	tree->n = 0;
	tree->last_len = 0;
	tree->parts = parts;
	int rc = walk_page(w, tree, tree->root, 0);
	tree->parts = NULL;
	return rc;
}

int chi_page_walk_part(struct chi_page_walk *w, struct chi_page_tree *tree,
		       const struct chi_page_parts *parts, size_t i)
{
	const struct chi_page_part *part = &parts->part[i];
	tree->n = 0;
	tree->last_len = part->bound_len;
	tree->last_is_bound = true;
	memcpy(tree->last, part->bound, part->bound_len);
	int rc = walk_page(w, tree, part->page, part_level(tree));
	if (rc == CHI_OK && i + 1 < parts->n) {
		const MDB_val bound = chi_val(part[1].bound, part[1].bound_len);
		check_order(w, tree, part[1].page, &bound, true);
	}
	return rc;
}

/* A page that says of itself that it is a leaf; its nodes are taken for what they are worth. */
static int search_page(struct chi_page_walk *w, struct chi_page_tree *tree, uint64_t number,
		       uint8_t *page)
{
	if (!chi_page_file_page(&w->file_image, number, page) || chi_page_file_is_branch(page)) {
		return CHI_OK;
	}
	int rc = CHI_OK;
	for (unsigned i = 0; rc == CHI_OK && i < chi_page_file_nodes(page); i++) {
		struct chi_page_file_node node;
		if (chi_page_file_read_node(&w->file_image, page, i, &node)) {
			rc = take_entry(w, tree, number, &node);
		}
	}
	return rc;
}

int chi_page_walk_lost(struct chi_page_walk *w, struct chi_page_tree *tree, bool all)
{
	_cleanup_(chi_freep) uint8_t *page = malloc(w->file_image.page_size);
	int rc = page == NULL ? -CHI_ENOMEM : CHI_OK;
	w->quiet = true;
	for (uint64_t i = HEADS; rc == CHI_OK && i < chi_page_file_pages(&w->file_image); i++) {
		if (w->pages[i] == CHI_PAGE_UNKNOWN || (all && w->pages[i] == CHI_PAGE_FREE)) {
			rc = search_page(w, tree, i, page);
		}
	}
	w->quiet = false;
	return rc;
}

/* ---- LMDB's own trees --------------------------------------------------------------------- */

/* A list of free pages is found by the number of the transaction that gave them up. */
static int compare_numbers(const MDB_val *a, const MDB_val *b)
{
	if (a->mv_size != sizeof(uint64_t) || b->mv_size != sizeof(uint64_t)) {
		return 0; /* such a key is reported by itself */
	}
	uint64_t first = chi_u64_at(a->mv_data);
	uint64_t second = chi_u64_at(b->mv_data);
	return (first > second) - (first < second);
}

/* A count, then the pages: each is free once, and nothing else. False: it is damaged. */
static bool take_numbers(struct chi_page_walk *w, const MDB_val *list)
{
	const uint8_t *bytes = list->mv_data;
	if (list->mv_size < 8 || chi_u64_at(bytes) > list->mv_size / 8 - 1) {
		return false;
	}
	uint64_t n = chi_u64_at(bytes);
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t page = chi_u64_at(bytes + 8 * i);
		if (page < HEADS || page > w->file_image.last) {
			return false;
		}
		if (page < w->n_pages) {
			if (w->pages[page] != CHI_PAGE_UNKNOWN) {
				return false;
			}
			w->pages[page] = CHI_PAGE_FREE;
		}
	}
	return true;
}

static int take_free(struct chi_page_walk *w, struct chi_page_tree *tree, const MDB_val *key,
		     const MDB_val *value)
{
	if (key->mv_size != sizeof(uint64_t) || !take_numbers(w, value)) {
		complain(w, "the %s tree: a list of free pages is damaged", tree->name);
	}
	return CHI_OK;
}

int chi_page_walk_free(struct chi_page_walk *w)
{
	/* LMDB itself leaves a branch of this one with a single child for a while. */
	struct chi_page_tree tree = {.name = "free",
				     .root = w->file_image.free_root,
				     .entries = w->file_image.free_entries,
				     .least = 1,
				     .compare = compare_numbers,
				     .take = take_free};
	return chi_page_walk_tree(w, &tree);
}

struct chi_page_tree chi_page_names(const struct chi_page_file *file_image)
{
	return (struct chi_page_tree){.name = "main",
				      .root = file_image->main_root,
				      .entries = file_image->main_entries,
				      .least = 2,
				      .flags = NODE_TREE,
				      .compare = chi_page_bytewise};
}

bool chi_page_record(const MDB_val *value, struct chi_page_tree *tree)
{
	const uint8_t *bytes = value->mv_data;
	if (value->mv_size != TREE_BYTES) {
		return false;
	}
	tree->root = chi_u64_at(bytes + TREE_ROOT);
	tree->entries = chi_u64_at(bytes + TREE_ENTRIES);
	tree->depth = chi_u16_at(bytes + TREE_DEPTH);
	/* No tree of ours has flags. */
	bool plain = chi_u32_at(bytes) == 0 && chi_u16_at(bytes + TREE_FLAGS) == 0;
	return (tree->root == NO_PAGE) == (tree->depth == 0) && (plain || tree->lenient);
}

/* ---- Look-ups ----------------------------------------------------------------------------- */

/* The last node whose key is not greater; of a branch the first one's key is less than all, and
 * *before becomes the page before the one it leads to. CHI_NONE: there is none. All nodes of the
 * page are looked at, as LMDB may look at any. */
static int search_nodes(const struct chi_page_file *file_image, const struct chi_page_tree *tree,
			const MDB_val *key, const uint8_t *page, struct chi_page_file_node *out,
			uint64_t *before)
{
	int rc = CHI_NONE;
	bool branch = chi_page_file_is_branch(page);
	for (unsigned i = 0; i < chi_page_file_nodes(page); i++) {
		struct chi_page_file_node node;
		if (!chi_page_file_read_node(file_image, page, i, &node)) {
			return -CHI_ECORRUPT;
		}
		const MDB_val here = chi_val(node.key, node.key_len);
		if ((i == 0 && branch) || key == NULL || tree->compare(&here, key) <= 0) {
			*before = i > 0 && branch ? out->child : *before;
			*out = node;
			rc = CHI_OK;
		}
	}
	return rc;
}

int chi_page_find(struct chi_page_file *file_image, const struct chi_page_tree *tree,
		  const MDB_val *key, uint8_t *page, struct chi_page_file_node *out)
{
	uint64_t number = tree->root;
	uint64_t before = NO_PAGE;
	const MDB_val *wanted = key;
	if (number == NO_PAGE) {
		return CHI_NONE;
	}
	for (unsigned level = 0; level < 2 * CHI_PAGE_FILE_DEPTH; level++) {
		if (number < HEADS || !chi_page_file_page(file_image, number, page) ||
		    has_notes(page)) {
			return -CHI_ECORRUPT;
		}
		out->key_len = 0;
		out->key = page;
		int rc = search_nodes(file_image, tree, wanted, page, out, &before);
		if (rc < 0) {
			return rc;
		}
		if (rc == CHI_OK && !chi_page_file_is_branch(page)) {
			const MDB_val there = chi_val(out->key, out->key_len);
			return tree->compare(&there, key) == 0 ? CHI_OK : CHI_NONE;
		}
		if (rc == CHI_NONE && (before == NO_PAGE || wanted == NULL)) {
			return CHI_NONE;
		}
		/* LMDB leaves branches as they are when the first entry of a leaf is deleted: the
		 * one before the key is the last one of the leaf before. */
		number = rc == CHI_OK ? out->child : before;
		wanted = rc == CHI_OK ? wanted : NULL;
	}
	return -CHI_ECORRUPT;
}
