/* SPDX-License-Identifier: MIT */
/*
 * A compaction first waits, aside, until a thread has verified the store: a damaged page would make
 * LMDB write beyond its memory. The writer goes on with batches meanwhile; what they write is
 * sound. Others that come in that time have the same verdict.
 */
#include "daemon/write/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/write/job.h"
#include "daemon/net/server.h"
#include "daemon/net/net.h"
#include "store/store.h"

/* Rewrites the store's file. The workers pause while the old file is exchanged for the
 * new one, because no snapshot may be open then. */
static int compact(struct chi_job *job, struct chi_served *served, struct chi_fault *fault)
{
	struct chi_server *server = served->server;
	struct chi_compaction *compaction = NULL;
	struct chi_compacted *done = (struct chi_compacted *)(void *)job->result;
	int status = chi_compact_prepare(served->copy->store, &compaction, fault);
	if (status < 0) {
		return status;
	}
	pthread_mutex_lock(&server->compact_lock);
	struct chi_worker_barrier barrier;
	chi_worker_barrier_close(&barrier, server, chi_worker_release_reads, true);
	status = chi_compact_swap(compaction, &done->before, &done->after, fault);
	chi_worker_barrier_open(&barrier);
	pthread_mutex_unlock(&server->compact_lock);
	return status;
}

/* ---- Verified first ---------------------------------------------------------------------------
 */

static void *verify_copy(void *context)
{
	struct chi_store_writer *writer = context;
	struct chi_compact_check *check = &writer->check;
	struct chi_verify_result result;
	char why[64];
	check->status = chi_dir_verify_until(writer->served->copy->store, 1, &check->stop, NULL,
					     NULL, &result);
	if (check->status == -CHI_ECORRUPT) {
		(void)snprintf(why, sizeof(why), "the store is damaged in %" PRIu64 " places",
			       result.errors);
		check->status = chi_compact_refuse(why, &check->fault);
	} else if (check->status < 0) {
		chi_fault_plain(&check->fault, check->status);
	}
	pthread_mutex_lock(&writer->lock);
	writer->checked = true;
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

/* Takes one of the server's places for verifications. */
static int begin_check(struct chi_store_writer *writer, struct chi_fault *fault)
{
	struct chi_compact_check *check = &writer->check;
	struct chi_server *server = writer->served->server;
	int status = chi_compact_alone(writer->served->copy->store, fault);
	if (status < 0) {
		return status;
	}
	status = chi_server_task_begin(server, CHI_TASKS_MAX, fault);
	if (status < 0) {
		return status;
	}
	atomic_store(&check->stop, false);
	check->fault = (struct chi_fault){0};
	int error = pthread_create(&check->thread, NULL, verify_copy, writer);
	check->running = error == 0;
	if (error != 0) {
		chi_server_task_end(server);
		return chi_fail(fault, -CHI_EBUSY, "cannot start a thread (%s)", strerror(error));
	}
	return CHI_OK;
}

/* Waits for the verdict and returns it. */
static int end_check(struct chi_store_writer *writer, struct chi_fault *fault)
{
	struct chi_compact_check *check = &writer->check;
	pthread_join(check->thread, NULL);
	chi_server_task_end(writer->served->server);
	check->running = false;
	*fault = check->fault;
	return check->status;
}

void chi_compact_park(struct chi_store_writer *writer, struct chi_job *job)
{
	struct chi_fault fault = {0};
	int status = writer->check.running ? CHI_OK : begin_check(writer, &fault);
	if (status < 0) {
		chi_store_writer_end_work(writer, job, status, &fault);
		return;
	}
	job->next = writer->parked;
	writer->parked = job;
}

static bool stops(struct chi_store_writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	bool stopping = writer->stopping;
	pthread_mutex_unlock(&writer->lock);
	return stopping;
}

/* All have the same end, or are done one by one: there may be hundreds, for which a stop does not
 * wait. */
static void end_parked(struct chi_store_writer *writer, int verdict, const struct chi_fault *why)
{
	struct chi_job *jobs = writer->parked;
	writer->parked = NULL;
	while (jobs != NULL) {
		struct chi_job *job = jobs;
		struct chi_fault fault = *why;
		jobs = job->next;
		job->next = NULL;
		int status = verdict;
		if (status == CHI_OK && stops(writer)) {
			status = chi_fail(&fault, -CHI_ECANCELED, "the server stops");
		}
		if (status == CHI_OK) {
			status = compact(job, writer->served, &fault);
		}
		chi_store_writer_end_work(writer, job, status, &fault);
	}
}

void chi_compact_unpark(struct chi_store_writer *writer)
{
	struct chi_fault fault = {0};
	pthread_mutex_lock(&writer->lock);
	writer->checked = false;
	pthread_mutex_unlock(&writer->lock);
	int verdict = end_check(writer, &fault);
	end_parked(writer, verdict, &fault);
}

void chi_compact_give_up(struct chi_store_writer *writer)
{
	struct chi_fault fault = {0};
	if (writer->check.running) {
		atomic_store(&writer->check.stop, true);
		(void)!end_check(writer, &fault);
	}
	end_parked(writer, chi_fail(&fault, -CHI_ECANCELED, "the server stops"), &fault);
}
