/* SPDX-License-Identifier: MIT */
/* A job's own work within the transaction that it may share with others. */
#include "daemon/write/apply.h"

#include <stdint.h>

#include "base/fault.h"
#include "daemon/write/job.h"
#include "store/store.h"

/* Statistics of an outcome store are computed with the base rates, so these come first. */
static int apply_puts(struct chi_write *write, struct chi_job *job)
{
	uint64_t *counts = job->outcome.counts;
	int status = job->has_base ? chi_write_base(write, &job->base) : CHI_OK;
	for (size_t i = 0; status >= 0 && i < job->n; i++) {
		struct chi_put_result one = {0};
		status = chi_write_put(write, &job->puts[i], &one);
		counts[0] += one.added;
		counts[1] += one.updated;
		counts[2] += one.unchanged;
		counts[3] += one.removed;
		job->at = status < 0 ? i : SIZE_MAX;
	}
	/* A game that is counted already counts once. */
	for (size_t i = 0; status >= 0 && i < job->n_games; i++) {
		status = chi_write_game_id(write, &job->games[i]);
	}
	return status < 0 ? status : CHI_OK;
}

/* Positions that were not stored are no failure; they are not counted. */
static int apply_deletes(struct chi_write *write, struct chi_job *job)
{
	int status = CHI_OK;
	for (size_t i = 0; status >= 0 && i < job->n; i++) {
		status = chi_write_delete(write, &job->keys[i]);
		job->outcome.counts[0] += status == CHI_OK ? 1 : 0;
		job->at = status < 0 ? i : SIZE_MAX;
	}
	return status < 0 ? status : CHI_OK;
}

static int apply(struct chi_write *write, struct chi_job *job, struct chi_fault *fault)
{
	switch (job->op) {
	case CHI_OP_PUT:
		return apply_puts(write, job);
	case CHI_OP_DELETE:
		return apply_deletes(write, job);
	default:
		return chi_write_rescore(write, job->has_base ? &job->base : NULL,
					 job->outcome.counts, fault);
	}
}

/* Whether a marked job was done before; of a question, what became of what it asks for. CHI_NONE:
 * it is to be done. One that is refused leaves the transaction to the others. */
static int recall(struct chi_write *write, struct chi_job *job, struct chi_fault *fault)
{
	int status = CHI_NONE;
	if (job->op == CHI_OP_OUTCOME) {
		status = chi_write_outcome(write, &job->idempotency_key, &job->outcome, fault);
		status = status == CHI_NONE ? CHI_OK : status;
	} else if (job->idempotency_key.sequence != 0) {
		status = chi_write_known(write, &job->idempotency_key, job->outcome.kind,
					 &job->outcome, fault);
	}
	if (status == -CHI_EFORGOTTEN || status == -CHI_EINVAL) {
		job->refused = status;
		status = CHI_OK;
		if (job->answer != NULL) {
			job->answer->is_mark = true;
			job->answer->fault = *fault;
		}
	}
	return status;
}

/* Why a job failed, in the most telling words there are. */
static void explain(const struct chi_write *write, int status, struct chi_fault *fault)
{
	const char *why = chi_write_why(write);
	if (why[0] != '\0') {
		(void)chi_fault(fault, status, "%s", why);
	} else if (fault->text[0] == '\0') {
		(void)chi_fault_plain(fault, status);
	}
}

/* Results are set again each time, because a batch may be tried twice. */
static void reset(struct chi_job *job)
{
	job->refused = CHI_OK;
	job->at = SIZE_MAX;
	job->outcome = (struct chi_outcome){.kind = job->op == CHI_OP_PUT ? CHI_IDEMPOTENCY_PUT
									  : CHI_IDEMPOTENCY_DELETE};
}

int chi_job_perform(struct chi_job *job, struct chi_write *write, struct chi_fault *fault)
{
	reset(job);
	int status = recall(write, job, fault);
	if (status == CHI_NONE) {
		status = apply(write, job, fault);
		if (status == CHI_OK && job->idempotency_key.sequence != 0) {
			status = chi_write_note(write, &job->idempotency_key, &job->outcome);
		}
	}
	if (status < 0) {
		explain(write, status, fault);
	}
	return status;
}
