/* SPDX-License-Identifier: MIT */
/* What a job does to the queue of positions. What was taken goes into the answer, which outlives
 * the job. */
#include "daemon/write/job.h"

#include <stdio.h>

#include "daemon/settings/limits.h"
#include "store/queue.h"

void chi_job_set_queue(struct chi_job *job, const struct chi_queue_job *queue, const char *holder)
{
	job->queue = *queue;
	(void)snprintf(job->queue.holder, sizeof(job->queue.holder), "%s", holder);
}

void chi_job_count_queue(struct chi_job *job)
{
	if (job->n == 0) {
		job->records += job->op == CHI_OP_QUEUE_TAKE ? job->queue.limit : CHI_GROUP_RECORDS;
	}
}

static int tell_lease(struct chi_job *job, int status, const struct chi_queue_lease *lease)
{
	job->outcome.leased.lease = lease->lease;
	job->outcome.leased.expires = lease->expires;
	job->answer->taken = lease->rows;
	job->answer->n_taken = lease->n;
	return status;
}

static int take_lease(struct chi_job *job, struct chi_write *write, uint64_t now)
{
	struct chi_queue_lease lease = {0};
	const struct chi_queue_take wanted = {.holder = job->queue.holder,
					      .lease_ms = job->queue.lease_ms,
					      .limit = job->queue.limit,
					      .keys = job->n > 0 ? job->keys : NULL,
					      .n_keys = job->n};
	int status = chi_write_queue_take(write, &wanted, now, &job->answer->arena, &lease);
	return tell_lease(job, status, &lease);
}

static int settle_leases(struct chi_job *job, struct chi_write *write, uint64_t now)
{
	const struct chi_queue_job *queue = &job->queue;
	if (queue->action == CHI_QUEUE_DROP) {
		return chi_write_queue_drop(write, job->n > 0 ? job->keys : NULL, job->n,
					    &job->outcome.settled);
	}
	return chi_write_queue_settle(write, queue->lease, (enum chi_queue_action)queue->action,
				      job->keys, job->n, now + queue->lease_ms,
				      &job->outcome.settled);
}

int chi_job_apply_queue(struct chi_job *job, struct chi_write *write)
{
	uint64_t now = chi_queue_clock();
	switch (job->op) {
	case CHI_OP_QUEUE_ADD:
		return chi_write_queue_add(write, job->keys, job->n, job->queue.priority, now,
					   &job->outcome.queue_added);
	case CHI_OP_QUEUE_TAKE:
		return take_lease(job, write, now);
	default:
		return settle_leases(job, write, now);
	}
}

int chi_job_recall_queue(struct chi_job *job, struct chi_write *write)
{
	struct chi_queue_lease lease = {0};
	int status = chi_write_queue_held(write, job->outcome.leased.lease,
					  job->outcome.leased.expires, &job->answer->arena, &lease);
	return tell_lease(job, status, &lease);
}
