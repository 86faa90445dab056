/* SPDX-License-Identifier: MIT */
/* What a put makes of a stored record. */
#pragma once

#include <stdbool.h>

#include "chistore/types.h"

struct chi_arena;
struct chi_put;
struct chi_record_rest;

/* Applies `put` to what was stored (zeroed if nothing was); memory from `arena`. -CHI_ETOOBIG,
 * -CHI_EINVAL (the fault says what cannot be subtracted), -CHI_ENOMEM, -CHI_EKEY. Behind
 * CHI_PUT_SUBTRACT the caller removes a position of which nothing is left, chi_record_bare. */
CHI_MUSTUSE int chi_merge(const struct chi_record *stored, bool was_stored,
			  const struct chi_put *put, enum chi_statistic statistic,
			  const struct chi_counts *base, struct chi_arena *arena,
			  struct chi_record *out, struct chi_fault *fault);

/* Takes the counts, moves and plies of `less` out of `out`, whose lists are replaced by others in
 * memory of `arena`. -CHI_EINVAL if they are not all there: `out` is then of no use. */
CHI_MUSTUSE int chi_subtract(const struct chi_record *less, struct chi_arena *arena,
			     struct chi_record *out, struct chi_fault *fault);

/* True if nothing is known of a position but what is computed from it alone. */
bool chi_record_bare(const struct chi_record *record, const struct chi_record_rest *rest,
		     enum chi_statistic statistic);
