/* SPDX-License-Identifier: MIT */
#include "store/rescue/salvage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "store/record/codec.h"
#include "store/pages/pages.h"
#include "store/env/env_priv.h"

/* The two head pages. */
#define HEADS 2

#define REPORT_SIZE 256

enum page_state {
	PAGE_UNKNOWN = 0,
	PAGE_FREE,
	PAGE_REACHED,
};

static const char *const names[CHI_SALVAGE_TREES] = {
	[CHI_SALVAGE_META] = META_TREE,
	[CHI_SALVAGE_POSITION] = POSITION_TREE,
	[CHI_SALVAGE_STRENGTH] = STRENGTH_TREE,
	[CHI_SALVAGE_GAME_IDS] = GAME_IDS_TREE,
};

CHI_PRINTF(2, 3) static void complain(struct chi_salvage *s, const char *format, ...)
{
	s->damaged++;
	if (s->report == NULL) {
		return;
	}
	char text[REPORT_SIZE];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	s->report(s->context, text);
}

static void mark_free(void *context, uint64_t page)
{
	struct chi_salvage *s = context;
	if (page >= HEADS && page < chi_page_file_pages(&s->file_image) &&
	    s->pages[page] == PAGE_UNKNOWN) {
		s->pages[page] = PAGE_FREE;
	}
}

void chi_salvage_doubt(struct chi_salvage *s)
{
	for (uint64_t i = 0; i < chi_page_file_pages(&s->file_image); i++) {
		s->pages[i] = s->pages[i] == PAGE_FREE ? PAGE_UNKNOWN : s->pages[i];
	}
	s->free_known = false;
}

int chi_salvage_trust(struct chi_salvage *s)
{
	s->free_known = chi_page_file_free(&s->file_image, mark_free, s);
	return s->file_image.error == ENOMEM ? -CHI_ENOMEM : CHI_OK;
}

/* A leaf's node: its value may stand elsewhere. */
static int take_node(struct chi_salvage *s, enum chi_salvage_tree tree, uint64_t number,
		     const struct chi_page_file_node *node)
{
	const uint8_t *value = node->value;
	if (value == NULL) {
		if (node->len > CHI_RECORD_BYTES_MAX ||
		    !chi_page_file_big(&s->file_image, node, s->value)) {
			if (tree != CHI_SALVAGE_LOST) {
				complain(s, "page %" PRIu64 ": a long value cannot be read",
					 number);
			}
			return CHI_OK;
		}
		value = s->value;
	}
	return s->take(s->context, tree, node->key, node->key_len, value, node->len);
}

static int walk_page(struct chi_salvage *s, enum chi_salvage_tree tree, uint64_t number, int depth);

static int walk_nodes(struct chi_salvage *s, enum chi_salvage_tree tree, uint64_t number,
		      const uint8_t *page, int depth)
{
	int rc = CHI_OK;
	for (unsigned i = 0; rc == CHI_OK && i < chi_page_file_nodes(page); i++) {
		struct chi_page_file_node node;
		if (!chi_page_file_node(&s->file_image, page, i, &node)) {
			complain(s, "page %" PRIu64 " of the %s tree: node %u is damaged", number,
				 names[tree], i);
		} else if (chi_page_file_is_branch(page)) {
			rc = walk_page(s, tree, node.child, depth + 1);
		} else {
			rc = take_node(s, tree, number, &node);
		}
	}
	return rc;
}

/* A page is reached once: damage may lead two ways to it, or round in a circle. A tree that leads
 * to a free page leads wrongly: what is there is not the tree's any more. */
static int walk_page(struct chi_salvage *s, enum chi_salvage_tree tree, uint64_t number, int depth)
{
	bool inside = number >= HEADS && number < chi_page_file_pages(&s->file_image);
	if (!inside || depth > CHI_PAGE_FILE_DEPTH || s->pages[number] != PAGE_UNKNOWN) {
		complain(s, "the %s tree leads to page %" PRIu64 ", which is not its own",
			 names[tree], number);
		return CHI_OK;
	}
	_cleanup_(chi_freep) uint8_t *page = malloc(s->file_image.page_size);
	if (page == NULL) {
		return -CHI_ENOMEM;
	}
	if (!chi_page_file_page(&s->file_image, number, page)) {
		complain(s, "page %" PRIu64 " of the %s tree is damaged", number, names[tree]);
		return CHI_OK;
	}
	s->pages[number] = PAGE_REACHED;
	return walk_nodes(s, tree, number, page, depth);
}

int chi_salvage_walk(struct chi_salvage *s, enum chi_salvage_tree tree)
{
	if (!s->found[tree]) {
		complain(s, "the %s tree cannot be found", names[tree]);
		return CHI_OK;
	}
	return s->roots[tree] == NO_PAGE ? CHI_OK : walk_page(s, tree, s->roots[tree], 0);
}

/* A page that says of itself that it is a leaf; its nodes are taken for what they are worth. */
static int search_page(struct chi_salvage *s, uint64_t number, uint8_t *page)
{
	if (!chi_page_file_page(&s->file_image, number, page) || chi_page_file_is_branch(page)) {
		return CHI_OK;
	}
	int rc = CHI_OK;
	for (unsigned i = 0; rc == CHI_OK && i < chi_page_file_nodes(page); i++) {
		struct chi_page_file_node node;
		if (chi_page_file_node(&s->file_image, page, i, &node)) {
			rc = take_node(s, CHI_SALVAGE_LOST, number, &node);
		}
	}
	return rc;
}

int chi_salvage_lost(struct chi_salvage *s)
{
	_cleanup_(chi_freep) uint8_t *page = malloc(s->file_image.page_size);
	int rc = page == NULL ? -CHI_ENOMEM : CHI_OK;
	for (uint64_t i = HEADS; rc == CHI_OK && i < chi_page_file_pages(&s->file_image); i++) {
		if (s->pages[i] == PAGE_UNKNOWN) {
			rc = search_page(s, i, page);
		}
	}
	return rc;
}

/* ---- Finding the trees -------------------------------------------------------------------- */

/* An entry of LMDB's main tree: the name and the record of a tree. */
static void take_tree(struct chi_salvage *s, const struct chi_page_file_node *node)
{
	for (int i = 0; i < CHI_SALVAGE_TREES; i++) {
		size_t len = strlen(names[i]);
		if (node->key_len == len && memcmp(node->key, names[i], len) == 0 &&
		    node->value != NULL && node->len == TREE_BYTES) {
			s->roots[i] = chi_u64_at(node->value + TREE_ROOT);
			s->entries[i] = chi_u64_at(node->value + TREE_ENTRIES);
			s->found[i] = true;
		}
	}
}

/* A handful of names fits into one page: the root is a leaf. */
static int find_trees(struct chi_salvage *s)
{
	_cleanup_(chi_freep) uint8_t *page = malloc(s->file_image.page_size);
	if (page == NULL) {
		return -CHI_ENOMEM;
	}
	uint64_t root = s->file_image.main_root;
	if (root < HEADS || !chi_page_file_page(&s->file_image, root, page) ||
	    chi_page_file_is_branch(page) || s->pages[root] != PAGE_UNKNOWN) {
		complain(s, "the names of the trees cannot be read");
		return CHI_OK;
	}
	s->pages[root] = PAGE_REACHED;
	for (unsigned i = 0; i < chi_page_file_nodes(page); i++) {
		struct chi_page_file_node node;
		if (chi_page_file_node(&s->file_image, page, i, &node)) {
			take_tree(s, &node);
		} else {
			complain(s, "the name of a tree is damaged");
		}
	}
	return CHI_OK;
}

static int prepare(struct chi_salvage *s)
{
	s->pages = calloc(chi_page_file_pages(&s->file_image) + 1, 1);
	s->value = malloc(CHI_RECORD_BYTES_MAX);
	if (s->pages == NULL || s->value == NULL) {
		return -CHI_ENOMEM;
	}
	if (s->file_image.last >= chi_page_file_pages(&s->file_image)) {
		complain(s, "the file ends at page %" PRIu64 ", the last one in use is %" PRIu64,
			 chi_page_file_pages(&s->file_image), s->file_image.last);
	}
	if (s->file_image.head_lost) {
		complain(s, "a head page is damaged");
	}
	if (chi_salvage_trust(s) < 0) {
		return -CHI_ENOMEM;
	}
	if (!s->free_known) {
		complain(s, "the list of free pages is damaged");
	}
	return find_trees(s);
}

int chi_salvage_open(struct chi_salvage *s, const char *dir, chi_salvage_take *take,
		     chi_verify_report *report, void *context, struct chi_fault *fault)
{
	*s = (struct chi_salvage){.take = take, .report = report, .context = context};
	int rc = chi_page_file_open(&s->file_image, dir, CHI_PAGE_FILE_ANY, fault);
	if (rc < 0) {
		return rc;
	}
	rc = prepare(s);
	if (rc < 0) {
		chi_salvage_close(s);
		return chi_fault_plain(fault, rc);
	}
	return CHI_OK;
}

void chi_salvage_close(struct chi_salvage *s)
{
	chi_page_file_close(&s->file_image);
	free(s->pages);
	free(s->value);
	s->pages = NULL;
	s->value = NULL;
}
