/* SPDX-License-Identifier: MIT */
#include "propagate/evals.h"

#include <string.h>

#include "base/record.h"

bool chi_backup_name_ok(const char *name)
{
	return strncmp(name, CHI_BACKUP_ENGINE, strlen(CHI_BACKUP_ENGINE)) == 0 &&
	       strlen(name) <= CHI_ENGINE_MAX;
}

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

static bool is_backed(const struct chi_eval *eval)
{
	return eval->engine_len >= strlen(CHI_BACKUP_ENGINE) &&
	       memcmp(eval->engine, CHI_BACKUP_ENGINE, strlen(CHI_BACKUP_ENGINE)) == 0;
}

const struct chi_eval *chi_eval_direct(const struct chi_record *record)
{
	size_t start = 0;
	while (start < record->n_evals && !is_backed(&record->evals[start])) {
		start++;
	}
	size_t end = start;
	while (end < record->n_evals && is_backed(&record->evals[end])) {
		end++;
	}
	/* Two lists with those left out; of equal ones the first stays. */
	const struct chi_eval *before = chi_evals_deepest(record->evals, start);
	const struct chi_eval *after =
		chi_evals_deepest(record->evals + end, record->n_evals - end);
	if (before == NULL || after == NULL) {
		return before != NULL ? before : after;
	}
	return after->depth > before->depth ||
			       (after->depth == before->depth && after->date > before->date)
		       ? after
		       : before;
}

chi_worth chi_worth_direct(const struct chi_eval *eval)
{
	return eval != NULL ? chi_worth_claimed(eval->is_mate, eval->score) : CHI_WORTH_NONE;
}

bool chi_eval_fits(const struct chi_record *record, const char *name)
{
	return record->n_evals < CHI_EVALS_MAX || chi_eval_backed(record, name) != NULL;
}

int chi_worth_stored(const struct chi_key *key, const struct chi_record *record, const char *name,
		     chi_worth *out)
{
	const struct chi_eval *eval = chi_eval_backed(record, name);
	if (eval != NULL) {
		*out = chi_worth_of(eval->is_mate, eval->score);
		return CHI_OK;
	}
	int rc = chi_worth_ended(key, out);
	if (rc != CHI_NONE) {
		return rc;
	}
	*out = chi_worth_direct(chi_eval_direct(record));
	return CHI_OK;
}

int chi_graph_add_record(struct chi_graph *graph, const struct chi_key *key,
			 const struct chi_record *record, const char *name)
{
	const struct chi_eval *eval = chi_eval_direct(record);
	chi_worth worth = chi_worth_direct(eval);
	if (chi_eval_fits(record, name)) {
		return chi_graph_add(graph, key, worth,
				     eval != NULL && eval->n_pv > 0 ? eval->pv[0] : 0);
	}
	int rc = chi_worth_stored(key, record, name, &worth);
	return rc == CHI_OK ? chi_graph_fix(graph, key, worth) : rc;
}
