/* SPDX-License-Identifier: MIT */
/*
 * The session's store: a thread of its own opens it and looks moves up, so that who has a clock
 * waits as long as the clock allows, and goes on without the answer then. What is late is dropped
 * when it comes.
 *
 * Used by one thread at a time, but for chi_lookup_stop.
 */
#pragma once

#include "uci/book.h"
#include "uci/learn.h"
#include "uci/options.h"

struct chi_lookup;

/* `learned` as in learn.h. */
CHI_MUSTUSE int chi_lookup_new(chi_learned_fn *learned, void *context, struct chi_lookup **out);

/* Waits for what is under way, stores what was learned, and closes. NULL is fine. */
void chi_lookup_free(struct chi_lookup *lookup);

/* Begins to open, close or change what the options name, if they have changed; no search may use
 * the prober any more. While something is under way that is left to chi_lookup_wait, and nothing is
 * open. `again`: opens also what could not be opened before. Failures are said. */
void chi_lookup_settle(struct chi_lookup *lookup, const struct chi_uci_options *options,
		       bool again);

/* Waits for what was begun, and what the options name is opened, until that time by chi_now_ms at
 * most, INT64_MAX: without end, or until it is stopped. False: it is still under way. */
bool chi_lookup_wait(struct chi_lookup *lookup, const struct chi_uci_options *options,
		     int64_t until);

/* With `stops`, from any thread: what waits, now or later, waits CHI_LOOKUP_STOP_MS more at most,
 * in which a store that is well answers. Without, that is taken back. */
#define CHI_LOOKUP_STOP_MS 100
void chi_lookup_stop(struct chi_lookup *lookup, bool stops);

/* What is open; NULL: nothing, or it is being opened. */
struct chi_prober *chi_lookup_prober(struct chi_lookup *lookup);
struct chi_learner *chi_lookup_learner(struct chi_lookup *lookup);

struct chi_lookup_found {
	chi_move best;
	chi_move ponder;      /* 0: not known */
	bool has_eval;	      /* it is an evaluation's, which is: */
	struct chi_eval eval; /* without the engine; its pv is here: */
	chi_move pv[CHI_PV_MAX];
	char says[CHI_BOOK_SAYS + CHI_ENGINE_MAX]; /* where it is from, or what failed */
};

/* Asks the book if `book`, then for an evaluation of `depth` plies if that is not 0; with neither
 * whether the store answers at all. CHI_NONE: there is no move. -CHI_ETIMEOUT: not until then, or
 * until it was stopped.
 * -CHI_EBUSY: what was asked before is still under way, or no store is open. */
CHI_MUSTUSE int chi_lookup_ask(struct chi_lookup *lookup, const struct chi_position *position,
			       const struct chi_uci_options *options, bool book, uint32_t depth,
			       int64_t until, struct chi_lookup_found *out);
