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
#include "chistore/types.h"
#include "store/store.h"

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
	struct chi_store *store;	   /* not owned; NULL: a new one is made at `path` */
	char *path;			   /* owned; NULL with a store */
	enum chi_statistic statistic;
	enum chi_keep keep;
	struct chi_idempotency_key idempotency_key; /* sequence 0: not marked */
	chi_importer_counted *counted;		    /* NULL: no one is asked */
	void *counted_context;
	char *spill; /* owned: a directory in which files may be made that memory does not hold */
	void *state; /* the kind's */
};

/*
 * Before anything is done in the commit's transaction: CHI_NONE, go on; CHI_OK, the marked import
 * was done before, *result are its totals, and the transaction is to be committed as it is.
 */
CHI_MUSTUSE int chi_importer_known(const struct chi_importer *importer, struct chi_write *write,
				   struct chi_import_result *result, struct chi_fault *fault);

/* When everything is done in it: notes that, if the import is marked. */
CHI_MUSTUSE int chi_importer_note(const struct chi_importer *importer, struct chi_write *write,
				  const struct chi_import_result *result, struct chi_fault *fault);

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
