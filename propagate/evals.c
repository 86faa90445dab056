/* SPDX-License-Identifier: MIT */
#include "propagate/evals.h"

#include <string.h>

#include "base/record.h"
#include "propagate/graph.h"

const struct chi_eval *chi_eval_backed(const struct chi_record *record, const char *name)
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

const struct chi_eval *chi_eval_direct(const struct chi_record *record, const char *name)
{
	const struct chi_eval *backed = chi_eval_backed(record, name);
	if (backed == NULL) {
		return chi_evals_deepest(record->evals, record->n_evals);
	}
	/* Two lists with the one left out; of equal ones the first stays. */
	size_t i = (size_t)(backed - record->evals);
	const struct chi_eval *before = chi_evals_deepest(record->evals, i);
	const struct chi_eval *after = chi_evals_deepest(backed + 1, record->n_evals - i - 1);
	if (before == NULL || after == NULL) {
		return before != NULL ? before : after;
	}
	return after->depth > before->depth ||
			       (after->depth == before->depth && after->date > before->date)
		       ? after
		       : before;
}

bool chi_eval_void(const struct chi_record *record, const struct chi_eval *backed)
{
	return backed->n_pv == 0 && record->n_evals == 1;
}

bool chi_eval_fits(const struct chi_record *record, const char *name)
{
	return record->n_evals < CHI_EVALS_MAX || chi_eval_backed(record, name) != NULL;
}

int chi_worth_stored(const struct chi_key *key, const struct chi_record *record, const char *name,
		     chi_worth *out)
{
	const struct chi_eval *eval = chi_eval_backed(record, name);
	int rc = eval == NULL ? chi_worth_ended(key, out) : CHI_NONE;
	if (rc != CHI_NONE) {
		return rc;
	}
	if (eval == NULL) {
		eval = chi_eval_direct(record, name);
	} else if (chi_eval_void(record, eval)) {
		eval = NULL;
	}
	*out = eval != NULL ? chi_worth_of(eval->is_mate, eval->score) : CHI_WORTH_NONE;
	return CHI_OK;
}
