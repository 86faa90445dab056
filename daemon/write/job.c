/* SPDX-License-Identifier: MIT */
/*
 * Jobs copy deeply: the request's own memory belongs to the worker's arena, which the next request
 * reuses while the batch still waits for its commit.
 */
#include "daemon/write/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "search/gamesets.h"
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
	if (job->bitmap != NULL) {
		chi_gameset_close(job->bitmap);
	}
	chi_job_answer_free(job->answer);
	free(job->loss);
	free(job);
}

/* Counts what it has been given: what it holds, and not what of that is used, as the first block of
 * the arena is larger than most jobs. */
static int taken_in(struct chi_job *job, size_t n, bool bad)
{
	job->records += n;
	job->bytes = sizeof(*job) + sizeof(*job->answer) + chi_arena_held(&job->arena);
	return bad ? -CHI_ENOMEM : CHI_OK;
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
	return taken_in(job, n, bad);
}

int chi_job_copy_keys(struct chi_job *job, const struct chi_key *keys, size_t n)
{
	bool bad = false;
	job->keys = copy_array(&job->arena, keys, n, sizeof(*keys), &bad);
	job->n = n;
	return taken_in(job, n, bad);
}

/* Games count as positions do: a batch of them takes the writer as long. */
int chi_job_copy_game_ids(struct chi_job *job, const struct chi_game_id *games, size_t n)
{
	bool bad = false;
	job->games = copy_array(&job->arena, games, n, sizeof(*games), &bad);
	job->n_games = n;
	return taken_in(job, n, bad);
}

/* A list of changes is a batch as positions are. */
int chi_job_copy_changes(struct chi_job *job, const struct chi_name_change *changes, size_t n)
{
	bool bad = false;
	job->changes = copy_array(&job->arena, changes, n, sizeof(*changes), &bad);
	for (size_t i = 0; !bad && i < n; i++) {
		struct chi_name_change *change = &job->changes[i];
		change->name = chi_arena_text(&job->arena, change->name, strlen(change->name));
		if (change->to != NULL) {
			change->to = chi_arena_text(&job->arena, change->to, strlen(change->to));
			bad = change->to == NULL;
		}
		bad = bad || change->name == NULL;
	}
	job->n = n;
	return taken_in(job, n, bad);
}

void chi_job_set_gameset(struct chi_job *job, const char *name)
{
	(void)snprintf(job->gameset, sizeof(job->gameset), "%s", name);
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

/* ---- In the store ----------------------------------------------------------------------- */

/* Statistics of an outcome store are computed with the base rates, so these come first. */
static int apply_puts(struct chi_write *write, struct chi_job *job)
{
	int status = job->has_base ? chi_write_base(write, &job->base) : CHI_OK;
	for (size_t i = 0; status >= 0 && i < job->n; i++) {
		status = chi_write_put(write, &job->puts[i], &job->outcome.put);
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
		job->outcome.deleted += status == CHI_OK ? 1 : 0;
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
	case CHI_OP_CHANGE_NAMES:
		return chi_job_apply_names(job, write);
	case CHI_OP_MAKE_GAMESET:
	case CHI_OP_DROP_GAMESET:
		return chi_job_apply_gameset(job, write, fault);
	case CHI_OP_QUEUE_ADD:
	case CHI_OP_QUEUE_TAKE:
	case CHI_OP_QUEUE_SETTLE:
		return chi_job_apply_queue(job, write);
	default:
		return chi_write_rescore(write, job->has_base ? &job->base : NULL,
					 &job->outcome.changed, fault);
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

static enum chi_idempotency_kind kind_of(enum chi_op op)
{
	switch (op) {
	case CHI_OP_PUT:
		return CHI_IDEMPOTENCY_PUT;
	case CHI_OP_CHANGE_NAMES:
		return CHI_IDEMPOTENCY_NAMES;
	case CHI_OP_MAKE_GAMESET:
		return CHI_IDEMPOTENCY_MAKE_GAMESET;
	case CHI_OP_DROP_GAMESET:
		return CHI_IDEMPOTENCY_DROP_GAMESET;
	case CHI_OP_QUEUE_ADD:
		return CHI_IDEMPOTENCY_QUEUE_ADD;
	case CHI_OP_QUEUE_TAKE:
		return CHI_IDEMPOTENCY_QUEUE_TAKE;
	case CHI_OP_QUEUE_SETTLE:
		return CHI_IDEMPOTENCY_QUEUE_SETTLE;
	default:
		return CHI_IDEMPOTENCY_DELETE;
	}
}

/* Results are set again each time, because a batch may be tried twice. */
static void reset(struct chi_job *job)
{
	job->refused = CHI_OK;
	job->at = SIZE_MAX;
	job->outcome = (struct chi_outcome){.kind = kind_of(job->op)};
	if (job->answer != NULL) {
		job->answer->n_refused = 0;
		job->answer->n_taken = 0;
		chi_arena_reset(&job->answer->arena);
	}
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
	} else if (status == CHI_OK && job->op == CHI_OP_QUEUE_TAKE && job->refused == CHI_OK) {
		status = chi_job_recall_queue(job, write);
	}
	if (status < 0) {
		explain(write, status, fault);
	}
	return status;
}
