/* SPDX-License-Identifier: MIT */
/*
 * Jobs copy deeply: the request's own memory belongs to the worker's arena, which the next request
 * reuses while the batch still waits for its commit.
 */
#include "daemon/write/job.h"

#include <stdlib.h>
#include <string.h>

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
	job->op = op;
	job->answer = answer;
	job->bytes = sizeof(*job) + sizeof(*answer);
	answer->mail.deliver = delivery->answer;
	job->delivery = delivery;
	answer->to = *to;
	answer->id = id;
	answer->op = op;
	job->at = SIZE_MAX;
	return job;
}

void chi_job_free(struct chi_job *job)
{
	if (job == NULL) {
		return;
	}
	chi_arena_deinit(&job->arena);
	free(job->answer);
	free(job->loss);
	free(job);
}

/* What it holds, and not what of that is used: the first block of the arena is larger than most
 * jobs. */
static void weigh(struct chi_job *job)
{
	job->bytes = sizeof(*job) + sizeof(*job->answer) + chi_arena_held(&job->arena);
}

/* A copy of `n` elements; *bad is set when there is no memory. */
static void *copy_array(struct chi_arena *arena, const void *from, size_t n, size_t size, bool *bad)
{
	if (n == 0) {
		return NULL;
	}
	void *to = chi_arena_array(arena, n, size);
	if (to == NULL) {
		*bad = true;
		return NULL;
	}
	return memcpy(to, from, n * size);
}

/* Engines' names and principal variations. */
static bool copy_evals(struct chi_arena *arena, struct chi_record *record)
{
	bool bad = false;
	struct chi_eval *evals =
		copy_array(arena, record->evals, record->n_evals, sizeof(*evals), &bad);
	for (size_t i = 0; !bad && i < record->n_evals; i++) {
		struct chi_eval *eval = &evals[i];
		eval->engine = chi_arena_text(arena, eval->engine, eval->engine_len);
		eval->pv = copy_array(arena, eval->pv, eval->n_pv, sizeof(*eval->pv), &bad);
		bad = bad || eval->engine == NULL;
	}
	record->evals = evals;
	return !bad;
}

/* Turns the pointers of a record that was copied bytewise to copies of what they point to. */
static bool copy_record(struct chi_arena *arena, struct chi_record *record)
{
	bool bad = false;
	record->moves =
		copy_array(arena, record->moves, record->n_moves, sizeof(*record->moves), &bad);
	record->plies =
		copy_array(arena, record->plies, record->n_plies, sizeof(*record->plies), &bad);
	record->line = copy_array(arena, record->line, record->n_line, sizeof(*record->line), &bad);
	if (record->n_note > 0) {
		record->note = chi_arena_text(arena, record->note, record->n_note);
		bad = bad || record->note == NULL;
	} else {
		record->note = NULL;
	}
	return !bad && copy_evals(arena, record);
}

int chi_job_copy_puts(struct chi_job *job, const struct chi_put *puts, size_t n)
{
	bool bad = false;
	job->puts = copy_array(&job->arena, puts, n, sizeof(*puts), &bad);
	for (size_t i = 0; !bad && i < n; i++) {
		bad = !copy_record(&job->arena, &job->puts[i].record);
	}
	job->n = n;
	job->records += n;
	weigh(job);
	return bad ? -CHI_ENOMEM : CHI_OK;
}

int chi_job_copy_keys(struct chi_job *job, const struct chi_key *keys, size_t n)
{
	bool bad = false;
	job->keys = copy_array(&job->arena, keys, n, sizeof(*keys), &bad);
	job->n = n;
	job->records += n;
	weigh(job);
	return bad ? -CHI_ENOMEM : CHI_OK;
}

/* Games count as positions do: a batch of them takes the writer as long. */
int chi_job_copy_game_ids(struct chi_job *job, const struct chi_game_id *games, size_t n)
{
	bool bad = false;
	job->games = copy_array(&job->arena, games, n, sizeof(*games), &bad);
	job->n_games = n;
	job->records += n;
	weigh(job);
	return bad ? -CHI_ENOMEM : CHI_OK;
}

void chi_job_set_base(struct chi_job *job, const struct chi_counts *base)
{
	if (base != NULL) {
		job->has_base = true;
		job->base = *base;
	}
}

void chi_job_post(struct chi_job *job)
{
	struct chi_job_answer *answer = job->answer;
	job->answer = NULL;
	answer->at = job->at;
	answer->outcome = job->outcome;
	chi_mailbox_post(&answer->to.worker->mailbox, &answer->mail);
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
	chi_mailbox_post(&loss->to.worker->mailbox, &loss->mail);
}
