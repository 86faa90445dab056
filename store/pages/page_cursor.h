/* SPDX-License-Identifier: MIT */
/*
 * Steps through a tree of a data file by plain reads, beside a walk (page_walk.h) through another
 * one. The tree was walked before, and no damage was found.
 */
#pragma once

#include <lmdb.h>
#include <stdint.h>

#include "store/pages/page_walk.h"

struct chi_page_cursor {
	struct chi_page_file *file_image;
	uint64_t left; /* entries at most */
	unsigned depth;
	struct {
		uint8_t *page;
		unsigned next; /* node */
	} stack[CHI_PAGE_FILE_DEPTH];
	uint8_t *memory; /* of a long value */
};

/* Before the first entry. Takes no memory yet; both are the caller's. */
void chi_page_cursor_init(struct chi_page_cursor *cursor, struct chi_page_file *file_image,
			  const struct chi_page_tree *tree);
/* At the first entry whose key is not less than `key` in LMDB's own order. -CHI_ECORRUPT,
 * -CHI_ENOMEM. */
CHI_MUSTUSE int chi_page_cursor_seek(struct chi_page_cursor *cursor,
				     const struct chi_page_tree *tree, const MDB_val *key);
/* Harmless on a zeroed one. */
void chi_page_cursor_deinit(struct chi_page_cursor *cursor);

/* The next entry, valid until the next call. CHI_NONE at the end; -CHI_ECORRUPT, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_page_cursor_next(struct chi_page_cursor *cursor, MDB_val *key, MDB_val *value);
