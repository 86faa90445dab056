/* SPDX-License-Identifier: MIT */
/*
 * The tree of free pages comes first: after it every page is known to be free, or must be reached
 * exactly once. Then the tree of names, whose values are the records of the others, and these.
 */
#include "store/pages/page_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/pages/page_file.h"
#include "store/pages/pages.h"
#include "store/env/env_priv.h"

/* The two head pages. */
#define HEADS 2

#define REPORT_SIZE 256

/* A list of free pages is found by the number of the transaction that gave them up. */
#define FREE_KEY 8

/* A head that is read while it is written may be half of each: then look again. */
#define LOOKS 100

enum page_state {
	PAGE_UNKNOWN = 0,
	PAGE_FREE,
	PAGE_REACHED,
};

struct structure {
	struct chi_page_file file_image;
	uint8_t *pages; /* what is known of each page of the file */
	chi_verify_report *report;
	void *context;
	uint64_t errors;
	bool no_memory;
	bool unread; /* the system has failed a read */
};

struct tree;

/* What an entry of a tree must be; complains if it is not. */
typedef void take_entry(struct structure *s, struct tree *tree, uint64_t number,
			const struct chi_page_file_node *node);

struct tree {
	const char *name;
	unsigned depth; /* levels of pages; 0: not known before the first leaf */
	unsigned least; /* children of a branch page */
	uint16_t flags; /* that a node may have besides NODE_BIG */
	uint64_t entries;
	take_entry *take; /* NULL: any entry will do */
};

CHI_PRINTF(2, 3) static void complain(struct structure *s, const char *format, ...)
{
	s->errors++;
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

/* One page more is reached, which must not have been, nor be free. */
static bool reach(struct structure *s, const struct tree *tree, uint64_t number)
{
	if (number < HEADS || number >= chi_page_file_pages(&s->file_image) ||
	    number > s->file_image.last || s->pages[number] != PAGE_UNKNOWN) {
		complain(s, "the %s tree leads to page %" PRIu64 ", which is not its own",
			 tree->name, number);
		return false;
	}
	s->pages[number] = PAGE_REACHED;
	return true;
}

/* True if it is the system that failed the last read. */
static bool take_error(struct structure *s)
{
	bool failed = s->file_image.error != 0;
	s->file_image.error = 0;
	s->unread = s->unread || failed;
	return failed;
}

/* A value in pages of its own: as many as the first one says, which is at least as many as it
 * takes. A record that has become shorter keeps those it had. */
static bool reach_big(struct structure *s, const struct tree *tree,
		      const struct chi_page_file_node *node)
{
	uint8_t head[PAGE_HEADER];
	uint64_t size = s->file_image.page_size;
	uint64_t needed = (PAGE_HEADER + (uint64_t)node->len - 1) / size + 1;
	if (!reach(s, tree, node->big)) {
		return false;
	}
	uint64_t pages = 0;
	if (chi_page_file_read(&s->file_image, head, PAGE_HEADER, node->big * size) &&
	    (chi_u16_at(head + PAGE_FLAGS) & FLAG_KINDS) == FLAG_OVERFLOW &&
	    chi_u64_at(head + PAGE_NUMBER) == node->big) {
		pages = chi_u32_at(head + PAGE_COUNT);
	}
	(void)take_error(s);
	if (pages < needed || pages > chi_page_file_pages(&s->file_image) - node->big) {
		complain(s, "page %" PRIu64 " of the %s tree is damaged: a long value", node->big,
			 tree->name);
		return false;
	}
	for (uint64_t i = 1; i < pages; i++) {
		if (!reach(s, tree, node->big + i)) {
			return false;
		}
	}
	return true;
}

/* A node and what belongs to it; how many bytes of its page it takes, 0: it is damaged. */
static uint64_t check_node(struct structure *s, struct tree *tree, uint64_t number,
			   const uint8_t *page, unsigned i, struct chi_page_file_node *out)
{
	uint64_t at = chi_u16_at(page + PAGE_HEADER + 2 * (size_t)i);
	bool good = at >= chi_u16_at(page + PAGE_UPPER) &&
		    chi_page_file_node(&s->file_image, page, i, out);
	if (good && !chi_page_file_is_branch(page)) {
		good = (out->flags & ~NODE_BIG) == tree->flags;
	}
	if (!good) {
		complain(s, "page %" PRIu64 " of the %s tree: node %u is damaged", number,
			 tree->name, i);
		return 0;
	}
	uint64_t bytes = NODE_HEADER + (uint64_t)out->key_len;
	if (!chi_page_file_is_branch(page)) {
		bytes += out->value != NULL ? out->len : sizeof(uint64_t);
	}
	return (bytes + 1) & ~UINT64_C(1);
}

static void check_page(struct structure *s, struct tree *tree, uint64_t number, unsigned level);

static void check_nodes(struct structure *s, struct tree *tree, uint64_t number,
			const uint8_t *page, unsigned level)
{
	uint64_t room = s->file_image.page_size - chi_u16_at(page + PAGE_UPPER);
	uint64_t taken = 0;
	for (unsigned i = 0; !s->no_memory && i < chi_page_file_nodes(page); i++) {
		struct chi_page_file_node node;
		uint64_t bytes = check_node(s, tree, number, page, i, &node);
		taken += bytes;
		if (bytes == 0) {
			continue;
		}
		if (chi_page_file_is_branch(page)) {
			check_page(s, tree, node.child, level + 1);
		} else if ((node.value != NULL || reach_big(s, tree, &node)) &&
			   tree->take != NULL) {
			tree->take(s, tree, number, &node);
		}
		tree->entries += chi_page_file_is_branch(page) ? 0 : 1;
	}
	if (taken > room) {
		complain(s, "page %" PRIu64 " of the %s tree: its nodes overlap", number,
			 tree->name);
	}
}

/* What is wrong with a page that was read; NULL: nothing. */
static const char *page_problem(const struct structure *s, struct tree *tree, const uint8_t *page,
				unsigned level)
{
	uint32_t lower = chi_u16_at(page + PAGE_LOWER);
	uint32_t upper = chi_u16_at(page + PAGE_UPPER);
	bool branch = chi_page_file_is_branch(page);
	if (upper < lower || upper > s->file_image.page_size || lower % 2 != 0) {
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

static void check_page(struct structure *s, struct tree *tree, uint64_t number, unsigned level)
{
	if (level == CHI_PAGE_FILE_DEPTH) {
		complain(s, "the %s tree is too deep", tree->name);
		return;
	}
	if (!reach(s, tree, number)) {
		return;
	}
	_cleanup_(chi_freep) uint8_t *page = malloc(s->file_image.page_size);
	if (page == NULL) {
		s->no_memory = true;
		return;
	}
	const char *problem = "its head is";
	if (chi_page_file_page(&s->file_image, number, page)) {
		problem = page_problem(s, tree, page, level);
	} else if (take_error(s)) {
		problem = "it cannot be read";
	}
	if (problem != NULL) {
		complain(s, "page %" PRIu64 " of the %s tree is damaged: %s", number, tree->name,
			 problem);
		return;
	}
	check_nodes(s, tree, number, page, level);
}

static void check_tree(struct structure *s, struct tree *tree, uint64_t root)
{
	if (root != NO_PAGE) {
		check_page(s, tree, root, 0);
	}
}

/* ---- Entries ------------------------------------------------------------------------------ */

/* A count, then the pages: each is free once, and nothing else. False: it is damaged. */
static bool take_numbers(struct structure *s, const uint8_t *list, uint64_t len)
{
	if (len < 8 || chi_u64_at(list) > len / 8 - 1) {
		return false;
	}
	uint64_t n = chi_u64_at(list);
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t page = chi_u64_at(list + 8 * i);
		if (page < HEADS || page > s->file_image.last) {
			return false;
		}
		/* The file may end before the last pages, which then are free. */
		if (page < chi_page_file_pages(&s->file_image)) {
			if (s->pages[page] != PAGE_UNKNOWN) {
				return false;
			}
			s->pages[page] = PAGE_FREE;
		}
	}
	return true;
}

static void take_free(struct structure *s, struct tree *tree, uint64_t number,
		      const struct chi_page_file_node *node)
{
	_cleanup_(chi_freep) uint8_t *list = NULL;
	const uint8_t *value = node->value;
	if (value == NULL) {
		/* No longer than its pages, which are in the file. */
		value = list = malloc(node->len);
		s->no_memory = list == NULL;
		if (list == NULL || !chi_page_file_big(&s->file_image, node, list)) {
			value = NULL;
			(void)take_error(s);
		}
	}
	if (!s->no_memory &&
	    (value == NULL || node->key_len != FREE_KEY || !take_numbers(s, value, node->len))) {
		complain(s, "page %" PRIu64 " of the %s tree: the list of free pages is damaged",
			 number, tree->name);
	}
}

/* The name of a tree that we know; of others a file of a later version may have some. */
static const char *known_name(const struct chi_page_file_node *node)
{
	static const char *const names[] = {POSITION_TREE, STRENGTH_TREE, META_TREE, GAME_IDS_TREE,
					    CLIENTS_TREE};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		if (node->key_len == strlen(names[i]) &&
		    memcmp(node->key, names[i], node->key_len) == 0) {
			return names[i];
		}
	}
	return "unknown";
}

/* The record of a named tree, and the tree. */
static void take_name(struct structure *s, struct tree *tree, uint64_t number,
		      const struct chi_page_file_node *node)
{
	struct tree named = {.name = known_name(node), .least = 2};
	if (node->value == NULL || node->len != TREE_BYTES) {
		complain(s, "page %" PRIu64 " of the %s tree: the record of the %s tree is damaged",
			 number, tree->name, named.name);
		return;
	}
	uint64_t root = chi_u64_at(node->value + TREE_ROOT);
	uint64_t entries = chi_u64_at(node->value + TREE_ENTRIES);
	named.depth = chi_u16_at(node->value + TREE_DEPTH);
	if ((root == NO_PAGE) != (named.depth == 0)) {
		complain(s, "the %s tree has no root, or no depth", named.name);
		return;
	}
	uint64_t before = s->errors;
	check_tree(s, &named, root);
	if (s->errors == before && !s->no_memory && named.entries != entries) {
		complain(s, "the %s tree has %" PRIu64 " entries, not %" PRIu64, named.name,
			 named.entries, entries);
	}
}

/* ---- The whole ---------------------------------------------------------------------------- */

static void check_all(struct structure *s)
{
	/* LMDB itself leaves a branch of this one with a single child for a while. */
	struct tree free_pages = {.name = "free", .least = 1, .take = take_free};
	struct tree names = {.name = "main", .least = 2, .flags = NODE_TREE, .take = take_name};
	check_tree(s, &free_pages, s->file_image.free_root);
	check_tree(s, &names, s->file_image.main_root);
}

/* Twice the same, since the file may be written meanwhile. Its descriptor is that of LMDB: the very
 * file that is mapped, whatever has its name by now. */
static int look(struct chi_read *read, struct chi_page_file *file_image, struct chi_fault *fault)
{
	struct chi_page_file before = {.txn = UINT64_MAX};
	int rc = mdb_env_get_fd(read->env->mdb, &file_image->fd) == 0 ? CHI_OK : -CHI_EINTERNAL;
	for (int i = 0; rc == CHI_OK && i < LOOKS; i++) {
		rc = chi_page_file_look(file_image, CHI_PAGE_FILE_BOTH, fault);
		if (file_image->txn == before.txn && file_image->main_root == before.main_root &&
		    file_image->free_root == before.free_root && file_image->last == before.last) {
			return rc;
		}
		before = *file_image;
	}
	return rc < 0 ? rc : -CHI_EBUSY;
}

int chi_page_check(struct chi_read *read, chi_verify_report *report, void *context,
		   uint64_t *errors)
{
	struct structure s = {.report = report, .context = context};
	struct chi_fault fault = {.text = ""};
	int rc = look(read, &s.file_image, &fault);
	if (rc == -CHI_EBUSY || rc == -CHI_EINTERNAL || rc == -CHI_ENOMEM) {
		return rc;
	}
	if (rc < 0) {
		s.unread = take_error(&s);
		complain(&s, "%s", fault.text[0] != '\0' ? fault.text : chi_strerror(rc));
		*errors += s.errors;
		return s.unread ? -CHI_EIO : CHI_OK;
	}
	s.pages = calloc(chi_page_file_pages(&s.file_image) + 1, 1);
	s.no_memory = s.pages == NULL;
	if (!s.no_memory) {
		check_all(&s);
	}
	free(s.pages);
	*errors += s.errors;
	return s.no_memory ? -CHI_ENOMEM : s.unread ? -CHI_EIO : CHI_OK;
}
