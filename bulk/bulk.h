/* SPDX-License-Identifier: MIT */
/*
 * Games by the gigabyte: text of PGN goes in, and at the end every position of every game stands
 * in the store, counted. Reading happens beside the feeding, on all cores; the positions are sorted
 * in bounded memory; nothing is changed in the store before the commit, and the commit is all or
 * nothing. Feeding the same games again changes nothing.
 *
 * One thread uses a chi_bulk at a time. It needs no lock on the store before the commit, whose
 * thread is the store's writer then.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "store/store.h"

struct chi_bulk;

/* Where it goes: an open store, or a path at which there is none yet. */
struct chi_bulk_target {
	struct chi_store *store;      /* must outlive the chi_bulk; NULL: a new one is made */
	const char *path;	      /* then, its place; copied */
	enum chi_statistic statistic; /* and its kind */
};

/*
 * Starts the threads. `options` is copied. A kind of CHI_GAMES_SUBTRACT or CHI_GAMES_MERGE needs
 * an open store. -CHI_EINVAL names the option, -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_bulk_begin(const struct chi_bulk_target *target,
			       const struct chi_games_options *options, struct chi_bulk **out,
			       struct chi_fault *fault);

/* A new input begins; a game does not go on across it. `name` is for notes; copied, cut at 255
 * bytes. */
CHI_MUSTUSE int chi_bulk_file(struct chi_bulk *bulk, const char *name, struct chi_fault *fault);

/* The next bytes of the input, cut anywhere. Waits while the readers are behind. A failure is
 * final: -CHI_ENOMEM, -CHI_EFULL, -CHI_EIO, -CHI_ECANCELED. */
CHI_MUSTUSE int chi_bulk_feed(struct chi_bulk *bulk, const void *bytes, size_t len,
			      struct chi_fault *fault);

/* Marks what is fed into an open store, before its commit. What was done under the mark is not done
 * again: the commit tells its totals; -CHI_EFORGOTTEN: it may have been. `once` is copied; sequence
 * 0: no mark. */
void chi_bulk_mark(struct chi_bulk *bulk, const struct chi_once *once);

/* Stores everything, durably, or nothing. Once. The chi_bulk is still to be freed. */
CHI_MUSTUSE int chi_bulk_commit(struct chi_bulk *bulk, struct chi_games_result *result,
				struct chi_fault *fault);

/* Ends the threads; without a commit nothing happened. NULL is fine. */
void chi_bulk_free(struct chi_bulk *bulk);
