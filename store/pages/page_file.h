/* SPDX-License-Identifier: MIT */
/*
 * A data file read with plain reads, page by page, and believed in nothing: for what must be known
 * before LMDB may map it, and for what LMDB can no longer read. Every number that comes out of a
 * page is checked against the page and the file before it is used.
 *
 * Used by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"

/* No tree is deeper: LMDB's own bound of its cursors. */
#define CHI_PAGE_FILE_DEPTH 32

struct chi_page_file {
	int fd; /* -1: closed */
	uint64_t page_size;
	uint64_t bytes;	    /* of the file */
	uint64_t last;	    /* last page in use */
	uint64_t free_root; /* of the tree of free pages; UINT64_MAX: it is empty */
	uint64_t free_entries;
	uint64_t main_root; /* of the tree of named trees; the same */
	uint64_t main_entries;
	uint64_t txn;	     /* the transaction that this is the state of */
	uint64_t older_txn;  /* of the other head, if both had to be sound, */
	uint64_t older_root; /* and its tree of named trees */
	bool head_lost;	     /* one is not sound: there may have been a newer state */
	int error; /* errno of the last read that failed, or ENOMEM: says nothing about the file */
};

/* How many of the two meta pages must be sound. Without any, nothing is known but the file: no page
 * is free, and no tree can be found. */
enum chi_page_file_metas {
	CHI_PAGE_FILE_BOTH,
	CHI_PAGE_FILE_ANY,
};

/*
 * Opens the data file in directory `dir` and reads its head; the newer state counts.
 * -CHI_ENOSTORE, -CHI_EVERSION, -CHI_ECORRUPT, -CHI_EIO, ... On failure nothing is open.
 */
CHI_MUSTUSE int chi_page_file_open(struct chi_page_file *file_image, const char *dir,
				   enum chi_page_file_metas heads, struct chi_fault *fault);

/* Reads the heads again: a writer may have gone on. */
CHI_MUSTUSE int chi_page_file_look(struct chi_page_file *file_image, enum chi_page_file_metas heads,
				   struct chi_fault *fault);
void chi_page_file_close(struct chi_page_file *file_image);

/* Whether both heads are of one commit and the one after it, else one is damaged; or they were read
 * while writers went on. */
static inline bool chi_page_file_adjoins(const struct chi_page_file *file_image)
{
	return file_image->txn - file_image->older_txn == 1;
}

/* How many whole pages the file has. */
static inline uint64_t chi_page_file_pages(const struct chi_page_file *file_image)
{
	return file_image->bytes / file_image->page_size;
}

/* All `len` bytes at `offset` of the file, or false. */
bool chi_page_file_read(struct chi_page_file *file_image, void *out, uint64_t len, uint64_t offset);

/* A page of a tree into `out`, page_size bytes. False if it cannot be read, or is not a branch or
 * leaf page with that number and an index within it. */
bool chi_page_file_page(struct chi_page_file *file_image, uint64_t number, uint8_t *out);

/* How many nodes a page that chi_page_file_page read has; true if they are branches. */
unsigned chi_page_file_nodes(const uint8_t *page);
bool chi_page_file_is_branch(const uint8_t *page);

struct chi_page_file_node {
	uint64_t child;	    /* branch: the page below */
	const uint8_t *key; /* inside the page */
	uint16_t key_len;
	uint16_t flags;
	uint32_t len;	      /* leaf: of the value */
	const uint8_t *value; /* leaf: inside the page; NULL: in pages of its own, */
	uint64_t big;	      /* from this one on */
};

/* Node `i` of such a page; false if it does not lie within the page. */
bool chi_page_file_read_node(const struct chi_page_file *file_image, const uint8_t *page,
			     unsigned i, struct chi_page_file_node *out);

/* A value in pages of its own into `out`, node->len bytes. False if it is not there. */
bool chi_page_file_big(struct chi_page_file *file_image, const struct chi_page_file_node *node,
		       uint8_t *out);
