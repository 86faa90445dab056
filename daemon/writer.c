/* SPDX-License-Identifier: MIT */
/*
 * The thread's loop: take what has gathered, commit it, answer it. Nothing has to be tuned: while
 * a commit waits for the disk, the next group gathers by itself, larger the slower the disk is.
 *
 * When an answer is posted: of an ASYNC batch when the whole group has been applied, before the
 * commit (after that only the disk can fail it, and then the client's connection is closed, so that
 * no later answer can vouch for it); of all others after the commit.
 */
#include "daemon/writer.h"

#include <string.h>

#include "base/fault.h"
#include "daemon/gate.h"
#include "daemon/intake.h"
#include "daemon/job.h"
#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/server.h"
#include "daemon/worker.h"
#include "store/store.h"

void chi_writer_init(struct chi_writer *writer, struct chi_served *served, uint64_t bytes_max,
		     uint64_t records_max)
{
	*writer = (struct chi_writer){
		.served = served, .bytes_max = bytes_max, .records_max = records_max};
	writer->last = &writer->first;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->changed, NULL);
}

void chi_writer_deinit(struct chi_writer *writer)
{
	/* Zeroed: never initialised. */
	if (writer->last == NULL) {
		return;
	}
	while (writer->first != NULL) {
		struct chi_job *job = writer->first;
		writer->first = job->next;
		chi_job_free(job);
	}
	pthread_cond_destroy(&writer->changed);
	pthread_mutex_destroy(&writer->lock);
	writer->last = NULL;
}

/* Written so that no sum can overflow. Under the lock. */
static bool has_room(const struct chi_writer *writer, const struct chi_job *job)
{
	/* Of imports there are few, and what they brought has been taken long ago. */
	if (writer->bytes == 0 || job->op == CHI_OP_IMPORT) {
		return true;
	}
	return job->bytes <= writer->bytes_max && writer->bytes <= writer->bytes_max - job->bytes &&
	       job->records <= writer->records_max &&
	       writer->records <= writer->records_max - job->records;
}

int chi_writer_push(struct chi_writer *writer, struct chi_job *job)
{
	int status = -CHI_EBUSY;
	job->next = NULL;
	pthread_mutex_lock(&writer->lock);
	if (has_room(writer, job)) {
		*writer->last = job;
		writer->last = &job->next;
		writer->bytes += job->bytes;
		writer->records += job->records;
		pthread_cond_signal(&writer->changed);
		status = CHI_OK;
	}
	pthread_mutex_unlock(&writer->lock);
	return status;
}

/* Batches may share a transaction; whole-store work has its own. */
static bool is_batch(const struct chi_job *job)
{
	return job->op == CHI_OP_PUT || job->op == CHI_OP_DELETE;
}

/* Under the lock. */
static struct chi_job *cut_group(struct chi_writer *writer)
{
	struct chi_job *group = writer->first;
	if (group == NULL) {
		return NULL;
	}
	struct chi_job *end = group;
	uint64_t records = group->records;
	while (is_batch(end) && end->next != NULL && is_batch(end->next) &&
	       records + end->next->records <= CHI_GROUP_RECORDS) {
		end = end->next;
		records += end->records;
	}
	writer->first = end->next;
	if (writer->first == NULL) {
		writer->last = &writer->first;
	}
	end->next = NULL;
	return group;
}

struct chi_job *chi_writer_take(struct chi_writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	struct chi_job *group = cut_group(writer);
	pthread_mutex_unlock(&writer->lock);
	return group;
}

void chi_writer_done(struct chi_writer *writer, const struct chi_job *job)
{
	pthread_mutex_lock(&writer->lock);
	writer->bytes -= job->bytes;
	writer->records -= job->records;
	pthread_mutex_unlock(&writer->lock);
}

/* What a job did so far is counted here first: its answer may have been posted already. */
struct attempt {
	struct chi_outcome outcome;
	size_t at; /* entry at fault, or SIZE_MAX */
};

/* Statistics of an outcome store are computed with the base rates, so these come first. */
static int apply_puts(struct chi_write *write, const struct chi_job *job, struct attempt *attempt)
{
	uint64_t *counts = attempt->outcome.counts;
	int status = job->has_base ? chi_write_base(write, &job->base) : CHI_OK;
	for (size_t i = 0; status >= 0 && i < job->n; i++) {
		struct chi_put_result one = {0};
		status = chi_write_put(write, &job->puts[i], &one);
		counts[0] += one.added;
		counts[1] += one.updated;
		counts[2] += one.unchanged;
		counts[3] += one.removed;
		attempt->at = status < 0 ? i : SIZE_MAX;
	}
	/* A game that is counted already counts once. */
	for (size_t i = 0; status >= 0 && i < job->n_games; i++) {
		status = chi_write_game(write, &job->games[i]);
	}
	return status < 0 ? status : CHI_OK;
}

/* Positions that were not stored are no failure; they are not counted. */
static int apply_deletes(struct chi_write *write, const struct chi_job *job,
			 struct attempt *attempt)
{
	int status = CHI_OK;
	for (size_t i = 0; status >= 0 && i < job->n; i++) {
		status = chi_write_delete(write, &job->keys[i]);
		attempt->outcome.counts[0] += status == CHI_OK ? 1 : 0;
		attempt->at = status < 0 ? i : SIZE_MAX;
	}
	return status < 0 ? status : CHI_OK;
}

static int apply(struct chi_write *write, const struct chi_job *job, struct attempt *attempt,
		 struct chi_fault *fault)
{
	switch (job->op) {
	case CHI_OP_PUT:
		return apply_puts(write, job, attempt);
	case CHI_OP_DELETE:
		return apply_deletes(write, job, attempt);
	default:
		return chi_write_rescore(write, job->has_base ? &job->base : NULL,
					 attempt->outcome.counts, fault);
	}
}

/* Results are set afresh each time, because a batch may be tried twice. */
static void fill_answer(struct chi_job_answer *answer, const struct attempt *attempt)
{
	const uint64_t *counts = attempt->outcome.counts;
	answer->at = attempt->at;
	switch (answer->op) {
	case CHI_OP_PUT:
		answer->u.put = (struct chi_put_result){.added = counts[0],
							.updated = counts[1],
							.unchanged = counts[2],
							.removed = counts[3]};
		break;
	case CHI_OP_DELETE:
		answer->u.deleted = counts[0];
		break;
	default:
		answer->u.changed = counts[0];
		break;
	}
}

static enum chi_once_kind kind_of(const struct chi_job *job)
{
	return job->op == CHI_OP_PUT	  ? CHI_ONCE_PUT
	       : job->op == CHI_OP_DELETE ? CHI_ONCE_DELETE
					  : CHI_ONCE_RESCORE;
}

/* Whether a marked job was done before. CHI_NONE: it is to be done. One that is refused leaves the
 * transaction to the others. */
static int recall(struct chi_write *write, struct chi_job *job, struct attempt *attempt,
		  struct chi_fault *fault)
{
	if (job->once.sequence == 0) {
		return CHI_NONE;
	}
	int status = chi_write_known(write, &job->once, kind_of(job), &attempt->outcome, fault);
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

/* One job within the transaction of its group. */
static int perform(struct chi_write *write, struct chi_job *job, struct chi_fault *fault)
{
	struct attempt attempt = {.outcome.kind = kind_of(job), .at = SIZE_MAX};
	job->refused = CHI_OK;
	int status = recall(write, job, &attempt, fault);
	if (status == CHI_NONE) {
		status = apply(write, job, &attempt, fault);
		if (status == CHI_OK && job->once.sequence != 0) {
			status = chi_write_note(write, &job->once, &attempt.outcome);
		}
	}
	if (job->answer != NULL) {
		fill_answer(job->answer, &attempt);
	}
	return status;
}

/* Once a job. A batch that was answered before is lost if it fails now: the log says so, and its
 * client's connection is closed. */
static void answer_with(struct chi_job *job, int status, const struct chi_fault *fault)
{
	if (job->answer == NULL) {
		if (status < 0 || job->refused < 0) {
			log_warning("failed to commit a batch that was answered before (%s)",
				    fault->text);
			chi_job_post_loss(job);
		}
		return;
	}
	job->answer->status = status;
	if (status == CHI_OK && job->refused < 0) {
		job->answer->status = job->refused;
	} else {
		job->answer->fault = *fault;
	}
	chi_job_post(job);
}

/* All of a list in one transaction. On failure nothing of it is stored. */
static int commit(struct chi_store *store, struct chi_job *jobs, struct chi_fault *fault)
{
	struct chi_write *write = NULL;
	int status = chi_write_begin(store, &write, fault);
	if (status < 0) {
		return status;
	}
	for (struct chi_job *job = jobs; job != NULL; job = job->next) {
		status = perform(write, job, fault);
		if (status < 0) {
			const char *why = chi_write_why(write);
			if (why[0] != '\0') {
				(void)chi_fault(fault, status, "%s", why);
			} else if (fault->text[0] == '\0') {
				(void)chi_fault_plain(fault, status);
			}
			chi_write_abort(write);
			return status;
		}
	}
	for (struct chi_job *job = jobs; job != NULL; job = job->next) {
		if (job->durability == CHI_ASYNC && job->answer != NULL && job->refused == CHI_OK) {
			job->answer->status = CHI_OK;
			chi_job_post_early(job);
		}
	}
	return chi_write_commit(write, fault);
}

/* The whole group, or each batch by itself. */
static void write_group(struct chi_writer *writer, struct chi_job *group)
{
	struct chi_fault fault = {0};
	int status = commit(writer->served->store, group, &fault);
	if (status < 0 && group->next != NULL) {
		/* One of them is at fault, or they are too many for the space left: alone each
		 * gets its own answer. */
		for (struct chi_job *job = group; job != NULL; job = job->next) {
			struct chi_job *next = job->next;
			job->next = NULL;
			fault = (struct chi_fault){0};
			status = commit(writer->served->store, job, &fault);
			answer_with(job, status, &fault);
			job->next = next;
		}
		return;
	}
	for (struct chi_job *job = group; job != NULL; job = job->next) {
		answer_with(job, status, &fault);
	}
}

/* Rewrites the store's file. The workers stand still while the old file is exchanged for the
 * new one, because no snapshot may be open then. */
static int compact(struct chi_writer *writer, struct chi_job *job, struct chi_fault *fault)
{
	struct chi_server *server = writer->served->server;
	struct chi_compaction *compaction = NULL;
	int status = chi_compact_prepare(writer->served->store, &compaction, fault);
	if (status < 0) {
		return status;
	}
	pthread_mutex_lock(&server->compact_lock);
	struct chi_gate gate;
	status = chi_gate_close(&gate, server, chi_worker_release_reads, true);
	if (status < 0) {
		pthread_mutex_unlock(&server->compact_lock);
		chi_compact_drop(compaction);
		return chi_fault_plain(fault, status);
	}
	status = chi_compact_swap(compaction, &job->answer->u.compact.before,
				  &job->answer->u.compact.after, fault);
	chi_gate_open(&gate);
	pthread_mutex_unlock(&server->compact_lock);
	return status;
}

/* Whatever the group is, every job of it has been answered when this returns. */
static void work(struct chi_writer *writer, struct chi_job *group)
{
	struct chi_fault fault = {0};
	int status = CHI_OK;
	switch (group->op) {
	case CHI_OP_COMPACT:
		status = compact(writer, group, &fault);
		break;
	case CHI_OP_RESCORE:
		status = commit(writer->served->store, group, &fault);
		break;
	case CHI_OP_IMPORT:
		/* Its own thread knows what became of it, and its worker tells. */
		chi_intake_store(group->import);
		break;
	default:
		write_group(writer, group);
		return;
	}
	if (status < 0) {
		log_warning("failed to %s store '%s' (%s)", chi_op_name(group->op),
			    writer->served->name, fault.text);
	}
	answer_with(group, status, &fault);
}

static void *run(void *context)
{
	struct chi_writer *writer = context;
	for (;;) {
		pthread_mutex_lock(&writer->lock);
		while (writer->first == NULL && !writer->stopping) {
			pthread_cond_wait(&writer->changed, &writer->lock);
		}
		struct chi_job *group = cut_group(writer);
		pthread_mutex_unlock(&writer->lock);
		if (group == NULL) {
			return NULL;
		}
		work(writer, group);
		while (group != NULL) {
			struct chi_job *next = group->next;
			chi_writer_done(writer, group);
			chi_job_free(group);
			group = next;
		}
	}
}

int chi_writer_start(struct chi_writer *writer, struct chi_fault *fault)
{
	int error = pthread_create(&writer->thread, NULL, run, writer);
	if (error != 0) {
		return chi_fault(fault, -CHI_ENOMEM, "cannot start a writer (%s)", strerror(error));
	}
	writer->started = true;
	return CHI_OK;
}

void chi_writer_stop(struct chi_writer *writer)
{
	if (!writer->started) {
		return;
	}
	pthread_mutex_lock(&writer->lock);
	writer->stopping = true;
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	writer->started = false;
}
