/* SPDX-License-Identifier: MIT */
/* Where backed-up scores are kept: with the evaluations, under an engine's name of their own. */
#pragma once

#include <string.h>

#include "base/record.h"
#include "chistore/types.h"

/* That name, unless the caller has one. */
#define CHI_BACKUP_ENGINE "backed-up"

/* The evaluation of that name, and the deepest of all other names, or NULL. */
static inline const struct chi_eval *chi_eval_backed(const struct chi_record *record,
						     const char *name)
{
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (eval->engine_len == strlen(name) && eval->rank == 0 &&
		    memcmp(eval->engine, name, eval->engine_len) == 0) {
			return eval;
		}
	}
	return NULL;
}

static inline const struct chi_eval *chi_eval_direct(const struct chi_record *record,
						     const char *name)
{
	const struct chi_eval *backed = chi_eval_backed(record, name);
	const struct chi_eval *before;
	const struct chi_eval *after;
	if (backed == NULL) {
		return chi_evals_deepest(record->evals, record->n_evals);
	}
	/* Two lists with the one left out; of equal ones the first stays. */
	size_t i = (size_t)(backed - record->evals);
	before = chi_evals_deepest(record->evals, i);
	after = chi_evals_deepest(backed + 1, record->n_evals - i - 1);
	if (before == NULL || after == NULL) {
		return before != NULL ? before : after;
	}
	return after->depth > before->depth ||
			       (after->depth == before->depth && after->date > before->date)
		       ? after
		       : before;
}
