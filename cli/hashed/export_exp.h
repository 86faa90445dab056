/* SPDX-License-Identifier: MIT */
/* Evaluations as a file of experience (.exp) that BrainLearn reads. */
#pragma once

#include "cli/out/target.h"

struct export_exp;

/* NULL: no memory. */
struct export_exp *export_exp_new(void);

/* NULL is fine. */
void export_exp_free(struct export_exp *exp);

/* Writes an entry for each first move of the position's evaluations: the deepest, whatever engine's
 * it is. Returns an exit code. */
int export_exp_add(struct export_exp *exp, struct target *target, const struct chi_key *key,
		   const struct chi_record *record);

/* Says how many evaluations had no move, and so could not be written. */
void export_exp_tell(const struct export_exp *exp);
