/* SPDX-License-Identifier: MIT */
/* What a put makes of a stored record. */
#pragma once

#include <stdbool.h>

#include "chistore/types.h"

struct chi_arena;
struct chi_position;
struct chi_record_rest;

/* Applies the parts that the put names, but for its statistic, to `out`; memory from `arena`.
 * -CHI_ETOOBIG, -CHI_EINVAL (the fault says what cannot be subtracted), -CHI_ENOMEM. */
CHI_MUSTUSE int chi_merge_parts(const struct chi_put *put, struct chi_arena *arena,
				struct chi_record *out, struct chi_fault *fault);

/* Drops what a record of games brings beyond the room for evaluations: those stored stay, of other
 * engines the deepest come in. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_merge_room(const struct chi_record *stored, struct chi_arena *arena,
			       struct chi_record *given);

/* The statistic of a record by the store's kind: an external one is what the record says. -CHI_EKEY
 * if the key is no position. */
CHI_MUSTUSE int chi_record_statistic(enum chi_statistic kind, const struct chi_counts *base,
				     const struct chi_key *key, const struct chi_record *record,
				     uint16_t *chi2);

/* False if the statistic is not what the position and the record give, in a store where these alone
 * decide it. */
bool chi_record_statistic_ok(enum chi_statistic kind, const struct chi_position *position,
			     const struct chi_record *record);

/* What a change of a record asks of the strength tree. */
struct chi_strength_change {
	bool remove; /* the old entry */
	bool put;    /* the new one */
};

struct chi_strength_change chi_strength_change(const struct chi_record *old,
					       const struct chi_record *new);

/* Takes the counts, moves and plies of `less` out of `out`, whose lists are replaced by others in
 * memory of `arena`. -CHI_EINVAL if they are not all there: `out` is then of no use. */
CHI_MUSTUSE int chi_subtract(const struct chi_record *less, struct chi_arena *arena,
			     struct chi_record *out, struct chi_fault *fault);

/* True if nothing is known of a position but what is computed from it alone. */
bool chi_record_bare(const struct chi_record *record, const struct chi_record_rest *rest,
		     enum chi_statistic statistic);
