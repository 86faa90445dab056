/* SPDX-License-Identifier: MIT */
/*
 * The frame that the kinds of input share: each has the same five calls, which importer.h's lead
 * to. Options and target are checked and copied there. After its first failure a kind sees nothing
 * but the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/importer.h"
#include "base/sorter.h"
#include "chistore/types.h"
#include "store/load/load.h"

struct chi_importer_kind {
	/* Makes `importer->state`; `end` is called even if this fails. */
	int (*begin)(struct chi_importer *importer, struct chi_fault *fault);
	int (*file)(struct chi_importer *importer, const char *name, struct chi_fault *fault);
	int (*feed)(struct chi_importer *importer, const void *bytes, size_t len,
		    struct chi_fault *fault);
	/* In place of bytes: the store in that directory. NULL: only bytes are fed. */
	int (*store)(struct chi_importer *importer, const char *dir, struct chi_fault *fault);
	/* `result` is zeroed; counted in it is what was done. */
	int (*commit)(struct chi_importer *importer, struct chi_import_result *result,
		      struct chi_fault *fault);
	/* Ends threads, gives up what is not committed, frees the state, which may be NULL. */
	void (*end)(struct chi_importer *importer);
};

extern const struct chi_importer_kind chi_importer_pgn;	  /* import/session.c: ADD and SUBTRACT */
extern const struct chi_importer_kind chi_importer_merge; /* import/dump/merge.c: MERGE */
extern const struct chi_importer_kind chi_importer_load;  /* import/dump/load.c: LOAD */
extern const struct chi_importer_kind chi_importer_lines; /* import/lines/lines.c: PUT */

struct chi_importer {
	const struct chi_importer_kind *kind;
	struct chi_import_options options; /* memory and threads are never 0 here */
	struct chi_terms *filter;	   /* owned; NULL: all games fit */
	struct chi_dir *store;		   /* not owned; NULL: a new one is made at `path` */
	char *path;			   /* owned; NULL with a store */
	enum chi_statistic statistic;
	enum chi_keep keep;
	struct chi_idempotency_key idempotency_key; /* sequence 0: not marked */
	struct chi_load **unnamed; /* gets the new store, which has no name, filled; NULL: it has */
	bool as_dump;		   /* it is of the kind that the dump says */
	chi_importer_counted *counted; /* NULL: no one is asked */
	void *counted_context;
	char *spill; /* owned: a directory in which files may be made that memory does not hold */
	void *state; /* the kind's */
};

/* Tells how far it is. */
static inline void chi_importer_progress(const struct chi_importer *importer, const char *phase,
					 uint64_t done, uint64_t total)
{
	if (importer->options.progress != NULL) {
		importer->options.progress(importer->options.context, phase, done, total);
	}
}

/* Someone asked to give up. */
static inline bool chi_importer_canceled(const struct chi_importer *importer)
{
	return importer->options.cancel != NULL &&
	       __atomic_load_n(importer->options.cancel, __ATOMIC_RELAXED) != 0;
}

/* Both, where it is time for them: -CHI_ECANCELED. `phase` NULL: nothing is told. */
CHI_MUSTUSE int chi_importer_check(const struct chi_importer *importer, const char *phase,
				   uint64_t done, uint64_t total, struct chi_fault *fault);

/* ---- import/apply.c: the commit, when the threads have ended */

/* What is done with an item; not CHI_OK ends the walk. */
typedef int chi_importer_take(void *context, const struct chi_sort_item *item,
			      struct chi_fault *fault);

/* All items of a sorter in order; whether to go on is asked, and progress told, now and then. */
CHI_MUSTUSE int chi_importer_walk(const struct chi_importer *importer, struct chi_sorter *sorter,
				  const char *phase, chi_importer_take *take, void *context,
				  struct chi_fault *fault);

/* chi_load_start as the options say. `share`: sixteenths of the memory, which sort the strength
 * tree's entries. */
CHI_MUSTUSE int chi_importer_start(const struct chi_importer *importer, struct chi_load *load,
				   uint64_t expected, unsigned share, struct chi_load_spec *spec,
				   struct chi_fault *fault);

/*
 * Calls `fill` with a load into the store, or into a new one, and finishes that: all or nothing.
 * An import that is marked and was done before is not filled again: its totals are told. Nothing is
 * changed unless it returns CHI_OK; of a fill that changed nothing what was seen is durable then.
 */
typedef int chi_importer_fill(void *context, struct chi_load *load, struct chi_fault *fault);
CHI_MUSTUSE int chi_importer_apply(const struct chi_importer *importer, chi_importer_fill *fill,
				   void *context, struct chi_import_result *result,
				   struct chi_fault *fault);
