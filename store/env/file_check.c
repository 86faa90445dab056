/* SPDX-License-Identifier: MIT */
/*
 * Looks at a data file with plain reads before LMDB maps it. In a map, a page that the file is too
 * short for is a SIGBUS, and a damaged page that LMDB follows may be a crash; here both are error
 * messages.
 *
 * LMDB may end a file early on its own: pages that a transaction took and gave back before
 * its commit are never written. Such a page is in the list of free pages. So a short file is
 * sound exactly if every page after its end is free.
 */
#include "store/env/env.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/page_walk.h"
#include "store/pages/pages.h"

/* A writer that goes on meanwhile may reuse the pages that are looked at: then look again. */
#define LOOKS 5

/* The same of the heads, a millisecond between two looks. */
#define LOOKS_AT_HEADS 50
#define LOOK_US	       1000

/* True if every page after the file's end is free. */
static int check_end(const struct chi_page_file *file_image, struct chi_fault *fault)
{
	struct chi_page_walk walk = {.file_image = *file_image};
	uint64_t pages = chi_page_file_pages(file_image);
	if (pages > file_image->last) {
		return CHI_OK;
	}
	int rc = chi_page_walk_init(&walk);
	if (rc == CHI_OK) {
		rc = chi_page_walk_free(&walk);
	}
	bool sound = rc == CHI_OK && walk.errors == 0 && walk.n_pages > file_image->last;
	for (uint64_t i = pages; sound && i < walk.n_pages; i++) {
		sound = walk.pages[i] == CHI_PAGE_FREE;
	}
	chi_page_walk_deinit(&walk);
	if (rc == CHI_OK && walk.file_image.error != 0) {
		return chi_lmdb_fault(fault, walk.file_image.error, "read", DATA_NAME);
	}
	return rc < 0  ? chi_fault_plain(fault, rc)
	       : sound ? CHI_OK
		       : chi_fail(fault, -CHI_ECORRUPT, "%s is cut short: pages in use are missing",
				  DATA_NAME);
}

/* One entry that opening reads by LMDB: if it is there, it lies in a leaf, on a sound way. */
static bool entry_ok(struct chi_page_file *file_image, const struct chi_page_tree *tree,
		     const char *name, uint8_t *page, struct chi_page_file_node *out)
{
	const MDB_val key = chi_val(name, strlen(name));
	int rc = chi_page_find(file_image, tree, &key, page, out);
	if (rc == CHI_NONE) {
		out->value = NULL;
	}
	return rc == CHI_NONE || (rc == CHI_OK && out->value != NULL && out->flags == tree->flags);
}

/* The names of the trees, and the stamp and the state. What is missing is reported later. */
static int check_entries(struct chi_page_file *file_image, struct chi_fault *fault)
{
	static const char *const names[] = {META_TREE,	   POSITION_TREE, STRENGTH_TREE,
					    GAME_IDS_TREE, CLIENTS_TREE,  GAMES_TREE,
					    COLUMNS_TREE,  NAMES_TREE,	  POSTINGS_TREE,
					    TRAITS_TREE,   GAMESETS_TREE, QUEUE_TREE};
	const struct chi_page_tree main = chi_page_names(file_image);
	struct chi_page_tree meta = {
		.name = META_TREE, .root = NO_PAGE, .compare = chi_page_bytewise};
	struct chi_page_file_node node;
	_cleanup_(chi_freep) uint8_t *page = malloc(file_image->page_size);
	if (page == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	file_image->error = 0;
	bool sound = true;
	for (size_t i = CHI_COUNT(names); sound && i-- > 0;) {
		sound = entry_ok(file_image, &main, names[i], page, &node);
		/* The last one is the meta tree's. */
		struct chi_page_tree tree = {.name = names[i], .root = NO_PAGE};
		if (sound && node.value != NULL) {
			const MDB_val record = chi_val(node.value, node.len);
			sound = chi_page_record(&record, &tree);
		}
		meta.root = tree.root;
	}
	sound = sound && entry_ok(file_image, &meta, "stamp", page, &node) &&
		entry_ok(file_image, &meta, "state", page, &node);
	if (!sound && file_image->error != 0) {
		return chi_lmdb_fault(fault, file_image->error, "read", DATA_NAME);
	}
	return sound ? CHI_OK
		     : chi_fail(fault, -CHI_ECORRUPT,
				"%s: a page that leads to the trees is damaged", DATA_NAME);
}

/* Heads that are of one commit and the one after it: else the newer state that one led to is lost,
 * and what the other leads to is no answer. */
static int look_at_heads(struct chi_page_file *file_image, struct chi_fault *fault)
{
	int rc = CHI_OK;
	for (int look = 0; rc == CHI_OK && look < LOOKS_AT_HEADS; look++) {
		if (chi_page_file_adjoins(file_image)) {
			return CHI_OK;
		}
		(void)usleep(LOOK_US);
		rc = chi_page_file_look(file_image, CHI_PAGE_FILE_BOTH, fault);
	}
	return rc < 0 ? rc
		      : chi_fail(fault, -CHI_ECORRUPT,
				 "the meta pages are of transactions %" PRIu64 " and %" PRIu64
				 ": one is damaged, and the last commit may be lost",
				 file_image->older_txn, file_image->txn);
}

int chi_file_check(const char *dir, struct chi_fault *fault)
{
	_cleanup_(chi_page_file_close) struct chi_page_file file_image;
	struct chi_fault why = {.text = ""};
	int rc = chi_page_file_open(&file_image, dir, CHI_PAGE_FILE_BOTH, fault);
	if (rc < 0) {
		return rc;
	}
	for (int look = 0; look < LOOKS; look++) {
		rc = look_at_heads(&file_image, &why);
		uint64_t seen = file_image.txn;
		if (rc == CHI_OK) {
			rc = check_end(&file_image, &why);
		}
		if (rc == CHI_OK) {
			rc = check_entries(&file_image, &why);
		}
		if (rc != -CHI_ECORRUPT) {
			break;
		}
		int looked = chi_page_file_look(&file_image, CHI_PAGE_FILE_BOTH, fault);
		if (looked < 0) {
			return looked;
		}
		if (file_image.txn == seen) {
			break;
		}
	}
	char named[PATH_MAX];
	return rc < 0 ? chi_fail(fault, rc, "the store in '%s': %s", chi_path_said(dir, named),
				 why.text)
		      : rc;
}
