/* SPDX-License-Identifier: MIT */
/*
 * What a snapshot knows of a position and of a move from it, as conditions of motifs ask for it:
 * each is looked up when it is asked first. Private to the room; one thread.
 */
#pragma once

#include "chess/moment/moment.h"
#include "search/filter/terms.h"
#include "store/store.h"

struct chi_facts;

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_facts_new(struct chi_read *read, struct chi_facts **out);
/* NULL is fine. */
void chi_facts_free(struct chi_facts *facts);

/* Another moment is asked about. */
void chi_facts_forget(struct chi_facts *facts);

/* How many centipawns worse for the mover the position after a move is, by the evaluations of the
 * two rows; a mate counts as a million. False: one of them has none. */
bool chi_facts_loss(const struct chi_row *before, const struct chi_row *after, int32_t *loss);

/* Whether the value of a test of a kind that asks the store is known and within its range; `swap`:
 * of the other colour. -CHI_ECORRUPT, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_facts_fits(struct chi_facts *facts, struct chi_moment *moment, bool swap,
			       enum chi_test_kind kind, int32_t min, int32_t max, bool *fits);
