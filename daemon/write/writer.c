/* SPDX-License-Identifier: MIT */
/*
 * The thread's loop: take what has gathered, apply it, commit it, answer it. Nothing has to be
 * tuned: while a commit waits for the disk, the next group gathers by itself, larger the slower the
 * disk is. That alone makes two groups of the clients, which take turns and wait for each other's
 * commits; so the next group waits a little for those who were just answered (limits.h). A client
 * that writes alone never waits.
 *
 * When an answer is posted: of an ASYNC batch when it has been applied, before the commit (after
 * that only the disk can fail it, or a damaged block that it changes, and then the client's
 * connection is closed, so that no later answer can seem to confirm it); of all others after the
 * commit. A transaction of ASYNC batches
 * alone is kept open for a while (limits.h): a client that sends one batch after the other would
 * have each of them committed by itself, which takes most of the time there is. Their jobs are kept
 * until the commit, so that if it fails, or the transaction is lost to a damaged page, each can be
 * tried again.
 */
#include "daemon/write/writer.h"

#include <string.h>

#include "base/fault.h"
#include "base/clock.h"
#include "base/thread.h"
#include "daemon/write/disk.h"
#include "daemon/write/job.h"
#include "daemon/settings/limits.h"
#include "service/log.h"
#include "daemon/net/server.h"
#include "daemon/net/net.h"
#include "store/store.h"

void chi_store_writer_init(struct chi_store_writer *writer, struct chi_served *served,
			   uint64_t bytes_max, uint64_t records_max)
{
	*writer = (struct chi_store_writer){
		.served = served, .bytes_max = bytes_max, .records_max = records_max};
	writer->last = &writer->first;
	writer->applied_last = &writer->applied;
	pthread_mutex_init(&writer->lock, NULL);
	chi_cond_init(&writer->changed);
}

void chi_store_writer_deinit(struct chi_store_writer *writer)
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
static bool has_group_room(const struct chi_store_writer *writer, const struct chi_job *job)
{
	if (writer->bytes == 0) {
		return true;
	}
	return job->bytes <= writer->bytes_max && writer->bytes <= writer->bytes_max - job->bytes &&
	       job->records <= writer->records_max &&
	       writer->records <= writer->records_max - job->records;
}

int chi_store_writer_push(struct chi_store_writer *writer, struct chi_job *job)
{
	int status = -CHI_EBUSY;
	job->next = NULL;
	pthread_mutex_lock(&writer->lock);
	if (has_group_room(writer, job)) {
		*writer->last = job;
		writer->last = &job->next;
		writer->bytes += job->bytes;
		writer->records += job->records;
		job->counted = true;
		writer->queued++;
		if (writer->queued == 1 || writer->queued >= writer->crowd) {
			pthread_cond_signal(&writer->changed);
		}
		status = CHI_OK;
	}
	pthread_mutex_unlock(&writer->lock);
	return status;
}

/* Batches may share a transaction; whole-store work has its own, and what is not to be committed.
 */
static bool is_batch(const struct chi_job *job)
{
	switch (job->op) {
	case CHI_OP_COMPACT:
	case CHI_OP_RESCORE:
		return false;
	default:
		return !job->is_trial;
	}
}

/* Under the lock. */
static struct chi_job *cut_group(struct chi_store_writer *writer)
{
	struct chi_job *group = writer->first;
	if (group == NULL) {
		return NULL;
	}
	struct chi_job *end = group;
	uint64_t records = group->records;
	writer->queued--;
	while (is_batch(end) && end->next != NULL && is_batch(end->next) &&
	       records + end->next->records <= CHI_GROUP_RECORDS) {
		end = end->next;
		records += end->records;
		writer->queued--;
	}
	writer->first = end->next;
	if (writer->first == NULL) {
		writer->last = &writer->first;
	}
	end->next = NULL;
	return group;
}

struct chi_job *chi_store_writer_take(struct chi_store_writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	struct chi_job *group = cut_group(writer);
	pthread_mutex_unlock(&writer->lock);
	return group;
}

void chi_store_writer_done(struct chi_store_writer *writer, struct chi_job *job)
{
	if (!job->counted) {
		return;
	}
	job->counted = false;
	pthread_mutex_lock(&writer->lock);
	writer->bytes -= job->bytes;
	writer->records -= job->records;
	pthread_mutex_unlock(&writer->lock);
}

/* Once a job. A batch that was answered before is lost if it fails now: the log says so, and its
 * client's connection is closed. */
static void answer_with(struct chi_store_writer *writer, struct chi_job *job, int status,
			const struct chi_fault *fault)
{
	if (job->answer == NULL) {
		if (status < 0 || job->refused < 0) {
			writer->n_lost++;
			writer->why_lost = *fault;
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

/* One line, however many they are: there may be tens of thousands. */
static void tell_lost(struct chi_store_writer *writer)
{
	if (writer->n_lost > 0) {
		log_warning("commit.lost",
			    "failed to commit {batches} batches of store '{store}' that were "
			    "answered before ({cause})",
			    log_number("batches", writer->n_lost),
			    log_text("store", writer->served->name),
			    log_text("cause", writer->why_lost.text));
		writer->n_lost = 0;
	}
}

/* A transaction; a disk that refuses it is dealt with before anyone is answered. */
static int begin_write(struct chi_store_writer *writer, struct chi_write **write,
		       struct chi_fault *fault)
{
	int status = chi_write_begin(writer->served->copy->store, write, fault);
	if (status < 0) {
		chi_disk_look(writer->served, fault);
	}
	return status;
}

/* Applies a job; a disk that refuses pages that had to be written early is dealt with, too. */
static int perform(struct chi_store_writer *writer, struct chi_job *job, struct chi_write *write,
		   struct chi_fault *fault)
{
	int status = chi_job_perform(job, write, fault);
	if (status < 0) {
		chi_disk_look(writer->served, fault);
	}
	return status;
}

/* Commits a transaction in which `n` jobs were applied, and counts it. */
static int end_write(struct chi_store_writer *writer, struct chi_write *write, size_t n,
		     struct chi_fault *fault)
{
	int64_t start = chi_now_us();
	int status = chi_write_commit(write, fault);
	if (status < 0) {
		chi_counter_add(&writer->failures, 1);
		chi_disk_look(writer->served, fault);
	} else {
		chi_histogram_add(&writer->commits, chi_now_us() - start);
		chi_counter_add(&writer->batches, n);
	}
	return status;
}

/* All of a list in one transaction. On failure nothing of it is stored. */
static int commit_list(struct chi_store_writer *writer, struct chi_job *jobs,
		       struct chi_fault *fault)
{
	struct chi_write *write = NULL;
	size_t n = 0;
	int status = begin_write(writer, &write, fault);
	if (status < 0) {
		return status;
	}
	for (struct chi_job *job = jobs; job != NULL; job = job->next) {
		status = perform(writer, job, write, fault);
		if (status < 0) {
			chi_write_abort(write);
			return status;
		}
	}
	for (struct chi_job *job = jobs; job != NULL; job = job->next) {
		if (job->durability == CHI_ASYNC && job->answer != NULL && job->refused == CHI_OK) {
			job->answer->status = CHI_OK;
			chi_job_post_early(job);
		}
		n++;
	}
	return end_write(writer, write, n, fault);
}

/* The last of a job. */
static void finish_job(struct chi_store_writer *writer, struct chi_job *job, int status,
		       const struct chi_fault *fault)
{
	answer_with(writer, job, status, fault);
	chi_store_writer_done(writer, job);
	chi_job_free(job);
}

static void finish_all(struct chi_store_writer *writer, struct chi_job *jobs, int status,
		       const struct chi_fault *fault)
{
	while (jobs != NULL) {
		struct chi_job *next = jobs->next;
		finish_job(writer, jobs, status, fault);
		jobs = next;
	}
}

/* The batch itself cannot be to blame. */
static bool is_for_all(int status)
{
	return status == -CHI_EFULL || status == -CHI_EIO || status == -CHI_ENOMEM;
}

/* What has become of batches that are stored again. */
struct again {
	unsigned in_a_row; /* how many were refused alone, and none was stored since */
	int status;	   /* of the last of them */
	struct chi_fault fault;
};

/* `n` batches that could not be stored together, or not with others: all in one transaction, or
 * each half by itself. One of them is at fault, or they are too many for the space left, or it was
 * a fault that has passed: few transactions tell, and at last each gets its own answer. Unless the
 * disk refuses one after the other: then all others are given up with them, for to find out of each
 * of thousands would hold up everyone for as many syncs. */
static void write_halves(struct chi_store_writer *writer, struct chi_job *jobs, size_t n,
			 struct again *again)
{
	struct chi_fault fault = {0};
	if (again->in_a_row >= CHI_AGAIN_MAX) {
		finish_all(writer, jobs, again->status, &again->fault);
		return;
	}
	int status = commit_list(writer, jobs, &fault);
	if (status == CHI_OK || n == 1) {
		bool for_all = is_for_all(status);
		*again = (struct again){for_all ? again->in_a_row + 1 : 0, status, fault};
		finish_all(writer, jobs, status, &fault);
		return;
	}
	struct chi_job *end = jobs;
	for (size_t i = 1; i < n / 2; i++) {
		end = end->next;
	}
	struct chi_job *rest = end->next;
	end->next = NULL;
	write_halves(writer, jobs, n / 2, again);
	write_halves(writer, rest, n - n / 2, again);
}

/* The batches of the open transaction, whatever its outcome. */
static struct chi_job *take_applied(struct chi_store_writer *writer)
{
	struct chi_job *jobs = writer->applied;
	writer->write = NULL;
	writer->applied = NULL;
	writer->applied_last = &writer->applied;
	writer->n_applied = 0;
	writer->applied_bytes = 0;
	writer->applied_records = 0;
	writer->n_awaited = 0;
	return jobs;
}

/* After a commit that began at `start`, in microseconds. */
static void expect_crowd(struct chi_store_writer *writer, int64_t start)
{
	int64_t now = chi_now_us();
	int64_t wait = (now - start) / CHI_CROWD_PART;
	pthread_mutex_lock(&writer->lock);
	writer->crowd = writer->n_awaited > 0 ? writer->n_awaited + writer->queued : 0;
	writer->crowd_until = now + (wait < CHI_CROWD_US ? wait : CHI_CROWD_US);
	pthread_mutex_unlock(&writer->lock);
}

/* Commits what is open, if anything is, and answers it. */
static void commit_open(struct chi_store_writer *writer)
{
	struct chi_fault fault = {0};
	if (writer->write == NULL) {
		return;
	}
	int64_t start = chi_now_us();
	size_t n = writer->n_applied;
	int status = end_write(writer, writer->write, n, &fault);
	expect_crowd(writer, start);
	struct chi_job *jobs = take_applied(writer);
	if (status < 0 && n > 1) {
		write_halves(writer, jobs, n, &(struct again){0});
	} else {
		finish_all(writer, jobs, status, &fault);
	}
}

static void append_job(struct chi_store_writer *writer, struct chi_job *job)
{
	*writer->applied_last = job;
	writer->applied_last = &job->next;
	writer->n_applied++;
	writer->applied_bytes += job->bytes;
	writer->applied_records += job->records;
	writer->applied_at = chi_now_ms();
	if (writer->n_applied == 1) {
		writer->opened_at = writer->applied_at;
	}
}

/* Applies a batch in the open transaction, which is begun if there is none. One that fails is taken
 * back. Where nothing else is in the transaction, giving that up is the way, and no mark is needed;
 * it is given up also if taking back fails. */
static int add_job(struct chi_store_writer *writer, struct chi_job *job, struct chi_fault *fault)
{
	bool first = writer->write == NULL;
	int status = first ? begin_write(writer, &writer->write, fault)
			   : chi_write_savepoint(writer->write);
	bool marked = status == CHI_OK && !first;
	if (status == CHI_OK) {
		status = perform(writer, job, writer->write, fault);
	}
	if (status < 0 && writer->write != NULL &&
	    (!marked || chi_write_rollback(writer->write) < 0)) {
		chi_write_abort(writer->write);
		writer->write = NULL;
	}
	return status;
}

/* Every job of the group has been applied when this returns, and is answered now or later. */
static void write_group(struct chi_store_writer *writer, struct chi_job *group)
{
	while (group != NULL) {
		struct chi_job *job = group;
		struct chi_fault fault = {0};
		group = job->next;
		job->next = NULL;
		int status = add_job(writer, job, &fault);
		if (status < 0 && (writer->write != NULL || writer->n_applied == 0)) {
			finish_job(writer, job, status, &fault);
			continue;
		}
		append_job(writer, job);
		if (status < 0) {
			/* The transaction is lost. */
			size_t n = writer->n_applied;
			write_halves(writer, take_applied(writer), n, &(struct again){0});
			continue;
		}
		if (job->durability == CHI_ASYNC && job->refused == CHI_OK) {
			job->answer->status = CHI_OK;
			chi_job_post_early(job);
		}
		if (job->answer == NULL) {
			chi_store_writer_done(writer, job);
		} else {
			writer->n_awaited++;
		}
	}
	if (writer->n_awaited > 0 || writer->applied_records >= CHI_OPEN_RECORDS ||
	    writer->applied_bytes >= CHI_OPEN_BYTES) {
		commit_open(writer);
	}
}

void chi_store_writer_end_work(struct chi_store_writer *writer, struct chi_job *job, int status,
			       const struct chi_fault *fault)
{
	if (status < 0) {
		log_warning("store.fail", "failed to {operation} store '{store}' ({cause})",
			    log_text("operation", chi_op_name(job->op)),
			    log_text("store", writer->served->name),
			    log_text("cause", fault->text));
	}
	finish_job(writer, job, status, fault);
}

/* In a transaction that is given up. */
static int try_out(struct chi_store_writer *writer, struct chi_job *job, struct chi_fault *fault)
{
	struct chi_write *write = NULL;
	int status = begin_write(writer, &write, fault);
	if (status == CHI_OK) {
		status = perform(writer, job, write, fault);
		chi_write_abort(write);
	}
	return status;
}

/* A job that has its own transaction; what is open has been committed. */
static void work_on_job(struct chi_store_writer *writer, struct chi_job *job)
{
	struct chi_fault fault = {0};
	if (job->op == CHI_OP_COMPACT) {
		chi_compact_park(writer, job);
		return;
	}
	if (job->is_trial) {
		int status = try_out(writer, job, &fault);
		finish_job(writer, job, status, &fault);
		return;
	}
	int status = commit_list(writer, job, &fault);
	chi_store_writer_end_work(writer, job, status, &fault);
}

/* When what is open is to be committed although no one asks for it; microseconds. */
static int64_t due_at(const struct chi_store_writer *writer)
{
	int64_t idle = writer->applied_at + CHI_OPEN_IDLE_MS;
	int64_t age = writer->opened_at + CHI_OPEN_AGE_MS;
	return (idle < age ? idle : age) * 1000;
}

/* The next group; NULL if there is none and what is open is due, or the thread is to end, or a
 * verdict has come, which *checked tells in any case. */
static struct chi_job *await_group(struct chi_store_writer *writer, bool *stopping, bool *checked)
{
	pthread_mutex_lock(&writer->lock);
	bool in_time = true;
	while (writer->first == NULL && !writer->stopping && !writer->checked && in_time) {
		if (writer->write == NULL) {
			pthread_cond_wait(&writer->changed, &writer->lock);
		} else {
			in_time = chi_cond_wait_until(&writer->changed, &writer->lock,
						      due_at(writer));
		}
	}
	while (writer->first != NULL && writer->queued < writer->crowd && !writer->stopping &&
	       in_time) {
		in_time = chi_cond_wait_until(&writer->changed, &writer->lock, writer->crowd_until);
	}
	struct chi_job *group = cut_group(writer);
	*stopping = writer->stopping;
	*checked = writer->checked;
	pthread_mutex_unlock(&writer->lock);
	return group;
}

static void *run_writer(void *context)
{
	struct chi_store_writer *writer = context;
	bool stopping = false;
	bool checked = false;
	for (;;) {
		struct chi_job *group = await_group(writer, &stopping, &checked);
		bool batches = group != NULL && is_batch(group);
		if (batches) {
			write_group(writer, group);
		}
		if (!batches || checked || chi_now_us() >= due_at(writer)) {
			commit_open(writer);
		}
		tell_lost(writer);
		if (checked) {
			chi_compact_unpark(writer);
		}
		if (group == NULL && stopping) {
			chi_compact_give_up(writer);
			return NULL;
		}
		if (group != NULL && !batches) {
			work_on_job(writer, group);
		}
	}
}

int chi_store_writer_start(struct chi_store_writer *writer, struct chi_fault *fault)
{
	int error = pthread_create(&writer->thread, NULL, run_writer, writer);
	if (error != 0) {
		return chi_fail(fault, -CHI_ENOMEM, "cannot start a writer (%s)", strerror(error));
	}
	writer->started = true;
	return CHI_OK;
}

void chi_store_writer_stop(struct chi_store_writer *writer)
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
