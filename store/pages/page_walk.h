/* SPDX-License-Identifier: MIT */
/*
 * Walks through the trees of a data file, page by page, by plain reads: for verification and for
 * repair. LMDB believes pages: one that is damaged leads its cursors out of the map. Here each page
 * is checked against the file and against its neighbours first, so no damage can stop the process.
 *
 * A walk is used by one thread at a time. Walks of several threads may share one map of pages, so
 * that each page is still reached once.
 */
#pragma once

#include <lmdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "store/block/block.h"
#include "store/pages/page_file.h"

/* LMDB's longest key. */
#define CHI_PAGE_KEY_MAX 511

struct chi_page_walk;
struct chi_page_tree;

/* Takes an entry, whose bytes live until it returns. A negative status ends the walk. */
typedef int chi_page_take(struct chi_page_walk *walk, struct chi_page_tree *tree,
			  const MDB_val *key, const MDB_val *value);

/* A part of a tree that one thread walks: what a branch page of the lowest level leads to, or a
 * leaf of a tree of two levels. */
struct chi_page_part {
	uint64_t page;
	size_t bound_len; /* of the key above it, which no key of the part is less than; 0: the
			     first */
	uint8_t bound[CHI_TREE_KEY_MAX];
};

/* The parts of a tree, in order. Zeroed at first; `part` is the caller's to free. */
struct chi_page_parts {
	struct chi_page_part *part;
	size_t n;
	size_t size;
};

struct chi_page_tree {
	const char *name;
	uint64_t root;	  /* UINT64_MAX: the tree is empty */
	uint64_t entries; /* as the tree's record says */
	unsigned depth;	  /* levels of pages; 0: as the first leaf tells */
	unsigned least;	  /* children of a branch page */
	uint16_t flags;	  /* that each node has beside NODE_BIG */
	bool lenient;	  /* for repair: all that can be read of a damaged page is taken */
	int (*compare)(const MDB_val *a, const MDB_val *b); /* NULL: the order is not known */
	chi_page_take *take;				    /* NULL: any entry will do */

	/* The walk's own. */
	uint64_t n; /* entries so far */
	size_t last_len;
	bool last_is_bound; /* `last` came from a branch page: the next key may equal it */
	uint8_t last[CHI_PAGE_KEY_MAX];
	struct chi_page_parts *parts; /* are noted and not walked; or NULL */
};

enum chi_page_state {
	CHI_PAGE_UNKNOWN = 0,
	CHI_PAGE_FREE,
	CHI_PAGE_REACHED, /* a second way to it is damage */
};

/* The caller sets image, report and context. */
struct chi_page_walk {
	struct chi_page_file file_image;
	chi_verify_report *report; /* or NULL */
	void *report_context;
	void *context;		 /* of `take` */
	const atomic_bool *stop; /* or NULL; set by another thread: -CHI_ECANCELED */
	atomic_bool *damaged; /* or NULL; set with the first damage, which ends all walks that share
				 it: -CHI_ECANCELED */
	atomic_uchar *pages;  /* chi_page_state of each page, also of those after the file's end */
	uint64_t n_pages;
	uint64_t errors; /* damages reported */
	bool quiet;	 /* the walk itself reports none: it did so before */
};

/* Takes a byte of memory for each page of the file. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_page_walk_init(struct chi_page_walk *walk);
void chi_page_walk_deinit(struct chi_page_walk *walk);

/* All pages are unknown again, for another walk. */
void chi_page_walk_restart(struct chi_page_walk *walk);

/* Reports and counts a damage. */
CHI_PRINTF(2, 3)
void chi_page_complain(struct chi_page_walk *walk, const char *format, ...);

/* Reads the tree of free pages and marks them; they are no tree's own then. What comes after damage
 * in the list is not marked. -CHI_ENOMEM, -CHI_ECANCELED. */
CHI_MUSTUSE int chi_page_walk_free(struct chi_page_walk *walk);

/* Hands over each entry that the tree leads to. CHI_OK, also if damage was found; -CHI_ENOMEM,
 * -CHI_ECANCELED, or what `take` returned. */
CHI_MUSTUSE int chi_page_walk_tree(struct chi_page_walk *walk, struct chi_page_tree *tree);

/*
 * Walks what is above the parts of a tree of two levels or more, whose number is known, and notes
 * the parts. All of them, each walked once with a walk of the same map, are the tree: the caller
 * compares the sum of tree->n with tree->entries. As chi_page_walk_tree; -CHI_ECORRUPT: a key is
 * too long for a part.
 */
CHI_MUSTUSE int chi_page_walk_parts(struct chi_page_walk *walk, struct chi_page_tree *tree,
				    struct chi_page_parts *parts);

/* One of these parts, with a tree that is the thread's own. As chi_page_walk_tree. */
CHI_MUSTUSE int chi_page_walk_part(struct chi_page_walk *walk, struct chi_page_tree *tree,
				   const struct chi_page_parts *parts, size_t i);

/* Hands over each entry of leaf pages that are not reached, without complaints; of free ones too if
 * `all`. The pages stay what they are. `tree` is lenient. */
CHI_MUSTUSE int chi_page_walk_lost(struct chi_page_walk *walk, struct chi_page_tree *tree,
				   bool all);

/* The tree of file's named trees: entries are names and records of trees. */
struct chi_page_tree chi_page_names(const struct chi_page_file *file_image);

/* Takes root, depth and number of entries from such a record; false if it is none. */
bool chi_page_record(const MDB_val *value, struct chi_page_tree *tree);

bool chi_page_key_is(const MDB_val *key, const char *name);

/* LMDB's own order of keys. */
int chi_page_bytewise(const MDB_val *a, const MDB_val *b);

/*
 * Looks up one key in a tree with a known order. `page`: room for a page, which `out` points into.
 * CHI_NONE: there is none, `out` is the entry before it, or has a key of length 0;
 * -CHI_ECORRUPT: a page on the way, or a node in it, is damaged.
 */
CHI_MUSTUSE int chi_page_find(struct chi_page_file *file_image, const struct chi_page_tree *tree,
			      const MDB_val *key, uint8_t *page, struct chi_page_file_node *out);

/* The value of a leaf's node: in its page, or read into *memory, which the caller frees.
 * -CHI_ECORRUPT, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_page_value(struct chi_page_file *file_image,
			       const struct chi_page_file_node *node, MDB_val *value,
			       uint8_t **memory);
