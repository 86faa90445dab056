/* SPDX-License-Identifier: MIT */
/* The pages on the way down are kept; what they lead to is bounded by the tree's own numbers. */
#include "store/pages/page_cursor.h"

#include <stdlib.h>

#include "store/lmdb_err.h"
#include "store/pages/pages.h"

static int descend(struct chi_page_cursor *cursor, uint64_t number)
{
	if (cursor->depth == CHI_PAGE_FILE_DEPTH) {
		return -CHI_ECORRUPT;
	}
	uint8_t **page = &cursor->stack[cursor->depth].page;
	if (*page == NULL) {
		*page = malloc(cursor->file_image->page_size);
	}
	if (*page == NULL) {
		return -CHI_ENOMEM;
	}
	cursor->stack[cursor->depth++].next = 0;
	return chi_page_file_page(cursor->file_image, number, *page) ? CHI_OK : -CHI_ECORRUPT;
}

void chi_page_cursor_init(struct chi_page_cursor *cursor, struct chi_page_file *file_image,
			  const struct chi_page_tree *tree)
{
	*cursor = (struct chi_page_cursor){.file_image = file_image, .left = tree->entries};
	if (tree->root == NO_PAGE || descend(cursor, tree->root) != CHI_OK) {
		cursor->depth = 0;
	}
}

/* The first node of the page on top that the key may be at or below: of a leaf the first one that
 * is not less, of a branch the last one whose bound is not greater. */
static int seek_node(struct chi_page_cursor *cursor, const MDB_val *key, unsigned *at)
{
	const uint8_t *page = cursor->stack[cursor->depth - 1].page;
	bool branch = chi_page_file_is_branch(page);
	struct chi_page_file_node node;
	unsigned i = branch ? 1 : 0; /* a branch's first key is less than all */
	for (; i < chi_page_file_nodes(page); i++) {
		if (!chi_page_file_read_node(cursor->file_image, page, i, &node)) {
			return -CHI_ECORRUPT;
		}
		const MDB_val here = chi_val(node.key, node.key_len);
		int order = chi_page_bytewise(&here, key);
		if (branch ? order > 0 : order >= 0) {
			break;
		}
	}
	*at = branch ? i - 1 : i;
	return CHI_OK;
}

int chi_page_cursor_seek(struct chi_page_cursor *cursor, const struct chi_page_tree *tree,
			 const MDB_val *key)
{
	struct chi_page_file_node node;
	unsigned at = 0;
	cursor->left = tree->entries;
	cursor->depth = 0;
	int rc = tree->root == NO_PAGE ? CHI_OK : descend(cursor, tree->root);
	while (rc == CHI_OK && cursor->depth > 0) {
		const uint8_t *page = cursor->stack[cursor->depth - 1].page;
		rc = seek_node(cursor, key, &at);
		if (rc < 0 || !chi_page_file_is_branch(page)) {
			cursor->stack[cursor->depth - 1].next = at;
			break;
		}
		cursor->stack[cursor->depth - 1].next = at + 1;
		rc = chi_page_file_read_node(cursor->file_image, page, at, &node)
			     ? descend(cursor, node.child)
			     : -CHI_ECORRUPT;
	}
	return rc;
}

void chi_page_cursor_deinit(struct chi_page_cursor *cursor)
{
	for (unsigned i = 0; i < CHI_PAGE_FILE_DEPTH; i++) {
		free(cursor->stack[i].page);
		cursor->stack[i].page = NULL;
	}
	free(cursor->memory);
	cursor->memory = NULL;
}

int chi_page_cursor_next(struct chi_page_cursor *cursor, MDB_val *key, MDB_val *value)
{
	struct chi_page_file_node node;
	while (cursor->depth > 0) {
		const uint8_t *page = cursor->stack[cursor->depth - 1].page;
		unsigned i = cursor->stack[cursor->depth - 1].next++;
		if (i >= chi_page_file_nodes(page)) {
			cursor->depth--;
			continue;
		}
		if (!chi_page_file_read_node(cursor->file_image, page, i, &node)) {
			return -CHI_ECORRUPT;
		}
		if (!chi_page_file_is_branch(page)) {
			free(cursor->memory);
			cursor->memory = NULL;
			*key = chi_val(node.key, node.key_len);
			return cursor->left-- > 0 ? chi_page_value(cursor->file_image, &node, value,
								   &cursor->memory)
						  : -CHI_ECORRUPT;
		}
		int rc = descend(cursor, node.child);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return CHI_NONE;
}
