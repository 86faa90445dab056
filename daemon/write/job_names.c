/* SPDX-License-Identifier: MIT */
/* What a job does to names and gamesets. Refusals of single changes go into the answer, which
 * outlives the job. */
#include "daemon/write/job.h"

#include <string.h>

#include "base/num.h"
#include "search/gamesets.h"
#include "store/archive.h"

struct refusals {
	struct chi_job *job;
	int status;
};

static int add_refusal(struct chi_job *job, size_t i, const char *reason)
{
	struct chi_job_answer *answer = job->answer;
	if (answer->n_refused == 0) {
		answer->refused =
			chi_arena_array(&answer->arena, job->n, sizeof(answer->refused[0]));
		if (answer->refused == NULL) {
			return -CHI_ENOMEM;
		}
	}
	size_t len = strnlen(reason, CHI_REFUSAL_TEXT_MAX);
	while (len > 0 && !chi_utf8_valid(reason, len)) {
		len--;
	}
	const char *text = chi_arena_text(&answer->arena, reason, len);
	if (text == NULL) {
		return -CHI_ENOMEM;
	}
	answer->refused[answer->n_refused++] =
		(struct chi_name_refusal){.entry = (uint32_t)i, .reason = text};
	return CHI_OK;
}

static void take_refusal(void *context, size_t i, const char *reason)
{
	struct refusals *refusals = context;
	if (refusals->status == CHI_OK) {
		refusals->status = add_refusal(refusals->job, i, reason);
	}
}

int chi_job_apply_names(struct chi_job *job, struct chi_write *write)
{
	struct refusals refusals = {.job = job};
	int status = chi_write_names(write, job->changes, job->n, take_refusal, &refusals,
				     &job->outcome.names);
	return status == CHI_OK ? refusals.status : status;
}

int chi_job_apply_gameset(struct chi_job *job, struct chi_write *write, struct chi_fault *fault)
{
	if (job->op == CHI_OP_DROP_GAMESET) {
		int status = chi_gameset_drop(write, job->gameset, fault);
		job->outcome.dropped = status == CHI_OK;
		return status == CHI_NONE ? CHI_OK : status;
	}
	if (job->bitmap == NULL) {
		*fault = job->why_unmade;
		return job->unmade;
	}
	job->outcome.games = chi_gameset_games(job->bitmap);
	return chi_gameset_save(job->bitmap, write, fault);
}
