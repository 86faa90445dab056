/* SPDX-License-Identifier: MIT */
/* A job takes the memory of its request from the worker, whose next request comes while the batch
 * still waits for its commit. */
#include "daemon/write/job.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "ops/change.h"
#include "ops/op.h"
#include "proto/operations.h"
#include "store/store.h"

/* The wire's limits bound a batch to less; this is the backstop. */
#define JOB_BUDGET ((size_t)64 << 20)

struct chi_job *chi_job_new(const struct chi_conn_ref *to, uint64_t id, enum chi_op op,
			    const struct chi_job_delivery *delivery)
{
	struct chi_job *job = calloc(1, sizeof(*job));
	struct chi_job_answer *answer = calloc(1, sizeof(*answer));
	if (job == NULL || answer == NULL) {
		free(job);
		free(answer);
		return NULL;
	}
	chi_arena_init(&job->arena, JOB_BUDGET);
	chi_arena_init(&answer->arena, JOB_BUDGET);
	assert(chi_operation_of(op)->result_size <= sizeof(job->result));
	job->op = op;
	job->change = chi_op_row_of(op)->change;
	job->answer = answer;
	job->bytes = sizeof(*job) + sizeof(*answer);
	answer->mail.deliver = delivery->answer;
	job->delivery = delivery;
	answer->to = *to;
	answer->call.id = id;
	answer->call.op = op;
	return job;
}

void chi_job_answer_free(struct chi_job_answer *answer)
{
	if (answer != NULL) {
		chi_arena_deinit(&answer->arena);
		free(answer);
	}
}

void chi_job_free(struct chi_job *job)
{
	if (job == NULL) {
		return;
	}
	chi_arena_deinit(&job->arena);
	if (job->made != NULL) {
		job->change->making->close(job->made);
	}
	chi_job_answer_free(job->answer);
	free(job->loss);
	free(job);
}

/* Counts what it holds, and not what of that is used, as the first block of the arena is larger
 * than most jobs. */
void chi_job_take_request(struct chi_job *job, void *request, struct chi_arena *arena)
{
	const struct chi_change_ops *change = job->change;
	job->request = request;
	job->arena = *arena;
	chi_arena_init(arena, job->arena.budget);
	job->is_trial = chi_change_is_trial(change, request);
	job->durability = change->durability != NULL ? change->durability(request) : CHI_SYNC;
	job->records = change->records != NULL ? change->records(request) : 0;
	job->bytes = sizeof(*job) + sizeof(*job->answer) + chi_arena_held(&job->arena);
}

void chi_job_post(struct chi_job *job)
{
	struct chi_job_answer *answer = job->answer;
	job->answer = NULL;
	memcpy(answer->field, job->field, sizeof(answer->field));
	memcpy(answer->result, job->result, sizeof(answer->result));
	chi_loop_post(&answer->to.worker->loop, &answer->mail);
}

void chi_job_post_early(struct chi_job *job)
{
	job->loss = malloc(sizeof(*job->loss));
	if (job->loss != NULL) {
		*job->loss =
			(struct chi_job_loss){{.deliver = job->delivery->loss}, job->answer->to};
		chi_job_post(job);
	}
}

void chi_job_post_loss(struct chi_job *job)
{
	struct chi_job_loss *loss = job->loss;
	job->loss = NULL;
	chi_loop_post(&loss->to.worker->loop, &loss->mail);
}

/* ---- In the store ----------------------------------------------------------------------- */

/* Of an ASYNC batch that is tried again the answer has gone. */
static struct chi_ask ask_of(struct chi_job *job, struct chi_fault *fault)
{
	return (struct chi_ask){.arena = job->answer != NULL ? &job->answer->arena : NULL,
				.made = job->made,
				.fault = fault};
}

static int apply_job(struct chi_write *write, struct chi_job *job, struct chi_fault *fault)
{
	const struct chi_change_ops *change = job->change;
	struct chi_ask ask = ask_of(job, fault);
	if (job->unmade < 0) {
		*fault = job->why_unmade;
		return job->unmade;
	}
	int status = change->write(&ask, write, job->request, job->result);
	(void)snprintf(job->field, sizeof(job->field), "%s", ask.field != NULL ? ask.field : "");
	memcpy(job->outcome.counts, job->result, change->n_counts * sizeof(uint64_t));
	return status;
}

/* Of one that was done before the counts are known; of a question what it asks for. */
static int tell_known(struct chi_write *write, struct chi_job *job, struct chi_fault *fault)
{
	const struct chi_change_ops *change = job->change;
	struct chi_ask ask = ask_of(job, fault);
	if (change == NULL) {
		memcpy(job->result, &job->outcome, sizeof(job->outcome));
		return CHI_OK;
	}
	memcpy(job->result, job->outcome.counts, change->n_counts * sizeof(uint64_t));
	return change->recall != NULL ? change->recall(&ask, write, job->result) : CHI_OK;
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

/* Results are set again each time, because a batch may be tried twice. */
static void reset(struct chi_job *job)
{
	job->refused = CHI_OK;
	job->field[0] = '\0';
	job->outcome = (struct chi_outcome){.kind = job->change != NULL ? job->change->kind : 0};
	memset(job->result, 0, sizeof(job->result));
	if (job->answer != NULL) {
		chi_arena_reset(&job->answer->arena);
	}
}

int chi_job_perform(struct chi_job *job, struct chi_write *write, struct chi_fault *fault)
{
	reset(job);
	int status = recall(write, job, fault);
	if (status == CHI_NONE) {
		status = apply_job(write, job, fault);
		if (status == CHI_OK && job->idempotency_key.sequence != 0) {
			status = chi_write_note(write, &job->idempotency_key, &job->outcome);
		}
	} else if (status == CHI_OK && job->refused == CHI_OK) {
		status = tell_known(write, job, fault);
	}
	return status < 0 ? chi_change_explain(write, status, fault) : status;
}
