/* SPDX-License-Identifier: MIT */
/*
 * What can still be read of a damaged data file. Trees are walked as far as they lead; the rest is
 * looked for in the pages that no tree led to and that are not free: the damage cut them off. Free
 * pages still hold what was replaced or deleted, and must not come back.
 *
 * Entries are handed over as they are found, their bytes unchecked; damaged pages are reported.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/pages/page_walk.h"

enum chi_salvage_tree {
	CHI_SALVAGE_META,
	CHI_SALVAGE_POSITION,
	CHI_SALVAGE_STRENGTH,
	CHI_SALVAGE_GAME_IDS,
	CHI_SALVAGE_NAMES,
	CHI_SALVAGE_COLUMNS,
	CHI_SALVAGE_GAMES,
	CHI_SALVAGE_GAMESETS,
	CHI_SALVAGE_LOST, /* no tree: of a page that nothing leads to */
};
#define CHI_SALVAGE_TREES CHI_SALVAGE_LOST

/* The bytes live until it returns. A negative status ends the salvage. */
typedef int chi_salvage_take(void *context, enum chi_salvage_tree tree, const MDB_val *key,
			     const MDB_val *value);

struct chi_salvage {
	struct chi_page_walk walk; /* its errors: pages and nodes that could not be read */
	chi_salvage_take *take;
	void *context;
	bool free_known; /* which pages are free: the list was read to its end */
	struct chi_page_tree trees[CHI_SALVAGE_TREES + 1];
	bool found[CHI_SALVAGE_TREES];
};

/*
 * Opens the data file in directory `dir`, which no one may write meanwhile, and finds its trees.
 * Fails only if nothing can be read: -CHI_ENOSTORE, -CHI_EVERSION, -CHI_EACCES, -CHI_ENOMEM, ...
 * On failure nothing is open.
 */
CHI_MUSTUSE int chi_salvage_open(struct chi_salvage *salvage, const char *dir,
				 chi_salvage_take *take, chi_verify_report *report, void *context,
				 struct chi_fault *fault);
void chi_salvage_close(struct chi_salvage *salvage);

/* From here on any page that no walk has reached may hold something, free or not. */
void chi_salvage_doubt(struct chi_salvage *salvage);

/* Hands over what one tree leads to; each tree once. The status of `take`. */
CHI_MUSTUSE int chi_salvage_walk(struct chi_salvage *salvage, enum chi_salvage_tree tree);

/* Hands over what lies in pages that no walk has reached, free ones left out unless `all`. May be
 * called again: the pages stay lost. */
CHI_MUSTUSE int chi_salvage_lost(struct chi_salvage *salvage, bool all);
