/* SPDX-License-Identifier: MIT */
/*
 * Games by the gigabyte: text of PGN goes in, and at the end every position of every game is in
 * the store, counted. Reading happens beside the feeding, on all cores; the positions are sorted
 * in bounded memory; nothing is changed in the store before the commit, and the commit is all or
 * nothing. Feeding the same games again changes nothing.
 *
 * One thread uses a chi_importer at a time. It needs no lock on the store before the commit, whose
 * thread is the store's writer then. The caller calls nothing but chi_importer_free after a failure
 * or the commit. Every `fault` must be given.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "store/store.h"

struct chi_importer;
struct chi_load;

/* Where it goes: an open store, or a path at which there is none yet, or a new store in a file
 * without a name. */
struct chi_importer_target {
	struct chi_dir *store;	   /* must outlive the chi_importer; NULL: a new one is made */
	const char *path;	   /* then, its place, or the directory of the file; copied */
	struct chi_load **unnamed; /* gets the new store without a name when it is committed, to be
				      opened (chi_load_open) or abandoned; NULL: it has a name */
	enum chi_statistic statistic; /* its kind, */
	enum chi_keep keep;	      /* and what it keeps of the games */
};

/*
 * Starts the threads. `options` is copied. A kind of CHI_IMPORT_SUBTRACT or CHI_IMPORT_MERGE needs
 * an open store. -CHI_EINVAL names the option, -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_importer_begin(const struct chi_importer_target *target,
				   const struct chi_import_options *options,
				   struct chi_importer **out, struct chi_fault *fault);

/* A new input begins; a game does not go on across it. `name` is for notes; copied, cut at 255
 * bytes. */
CHI_MUSTUSE int chi_importer_file(struct chi_importer *importer, const char *name,
				  struct chi_fault *fault);

/* The next bytes of the input, cut anywhere. Waits while the readers are behind.
 * -CHI_ENOMEM, -CHI_EFULL, -CHI_EIO, -CHI_ECANCELED. */
CHI_MUSTUSE int chi_importer_feed(struct chi_importer *importer, const void *bytes, size_t len,
				  struct chi_fault *fault);

/* In place of bytes, for CHI_IMPORT_MERGE: the other store is the one in directory `dir`, as it is
 * at the commit, and is read directly. -CHI_EINVAL: not of this kind, after bytes, twice, or it is
 * the store itself or a copy; whatever chi_dir_open returns. */
CHI_MUSTUSE int chi_importer_store(struct chi_importer *importer, const char *dir,
				   struct chi_fault *fault);

/* Marks what is fed into an open store, before its commit. What was done under the mark is not done
 * again: the commit tells its totals; -CHI_EFORGOTTEN: it may have been. The key is copied;
 * sequence 0: no mark. */
void chi_importer_once(struct chi_importer *importer,
		       const struct chi_idempotency_key *idempotency_key);

/* Of an ADD into a new store, before its commit: games of which `counted` says so are left out as
 * if the store counted them. It is called with ids that ascend, fills said[0..n), and returns
 * CHI_OK or what ends the commit. */
typedef int chi_importer_counted(void *context, const uint8_t (*ids)[CHI_GAME_ID_SIZE], size_t n,
				 bool *said);
void chi_importer_ask_counted(struct chi_importer *importer, chi_importer_counted *counted,
			      void *context);

/* Stores everything, durably, or nothing. Once. The chi_importer is still to be freed. */
CHI_MUSTUSE int chi_importer_commit(struct chi_importer *importer, struct chi_import_result *result,
				    struct chi_fault *fault);

/* Ends the threads; without a commit nothing happened. NULL is fine. */
void chi_importer_free(struct chi_importer *importer);

/* Positions with their lists of games, into a store in directory `dir` that no one else has open,
 * which has no positions. Those that do not come, or count less than the games say, are made from
 * these. For chi_dir_repair. */
CHI_MUSTUSE int chi_import_relist(const char *dir, const struct chi_repair_positions *positions,
				  struct chi_fault *fault);
