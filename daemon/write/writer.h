/* SPDX-License-Identifier: MIT */
/*
 * The one thread that writes a store. Batches that arrive while a commit is being synced wait
 * together and share the next commit: the more clients write, the more answers a sync gives. ASYNC
 * batches, which no one waits for, gather in an open transaction beyond that. Each batch stays all
 * or nothing by itself: one that fails is taken back, and the others go on.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "chistore/types.h"
#include "daemon/net/tally.h"

struct chi_job;
struct chi_served;
struct chi_write;

/* The verification, by a thread of its own. */
struct chi_compact_check {
	bool running; /* the thread is still to be joined */
	atomic_bool stop;
	pthread_t thread;
	int status; /* its verdict */
	struct chi_fault fault;
};

struct chi_store_writer {
	struct chi_served *served;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct chi_job *first; /* the queue */
	struct chi_job **last;
	uint64_t bytes;	  /* of all jobs that are not done, which an answered one is */
	uint64_t records; /* the same */
	uint64_t bytes_max;
	uint64_t records_max;
	bool stopping;
	size_t queued; /* jobs in the queue */
	size_t crowd;  /* how many there will be when all whom the last commit answered are back */
	int64_t crowd_until; /* us: when the next group waits for them no longer */

	/* The thread's own: the open transaction, or NULL, and the batches applied in it. */
	struct chi_write *write;
	struct chi_job *applied;
	struct chi_job **applied_last;
	size_t n_applied;
	size_t applied_bytes;
	uint64_t applied_records;
	size_t n_awaited;   /* those that are answered after the commit */
	int64_t opened_at;  /* ms */
	int64_t applied_at; /* ms: the last one */

	/* Compactions that wait until the store has been verified. */
	struct chi_job *parked;
	struct chi_compact_check check;
	bool checked; /* the verdict is there; under the lock */

	size_t n_lost;		   /* batches answered before that have failed, not yet logged */
	struct chi_fault why_lost; /* the last of them */

	struct chi_histogram commits; /* those that succeeded, synced to disk */
	chi_counter batches;	      /* in these */
	chi_counter failures;	      /* commits that did not */
};

/* Limits: of the queue, in bytes and positions. */
void chi_store_writer_init(struct chi_store_writer *writer, struct chi_served *served,
			   uint64_t bytes_max, uint64_t records_max);
CHI_MUSTUSE int chi_store_writer_start(struct chi_store_writer *writer, struct chi_fault *fault);

/* Commits what is queued, answers it, and ends the thread. Harmless if it never started. */
void chi_store_writer_stop(struct chi_store_writer *writer);
void chi_store_writer_deinit(struct chi_store_writer *writer);

/* Queues a job and owns it from then on. -CHI_EBUSY: the queue is full and the job still the
 * caller's. A job is always taken if the queue is empty. Any thread. */
CHI_MUSTUSE int chi_store_writer_push(struct chi_store_writer *writer, struct chi_job *job);

/* Takes the next group off the queue, linked by `next`: batches up to a bound, or one job of
 * another kind. NULL if it is empty. Used by the thread; apart for tests. */
struct chi_job *chi_store_writer_take(struct chi_store_writer *writer);

/* The last of a job that stood alone; a failure is logged. The writer's thread. */
void chi_store_writer_end_work(struct chi_store_writer *writer, struct chi_job *job, int status,
			       const struct chi_fault *fault);

/* Counts a job that was taken as done, once. */
void chi_store_writer_done(struct chi_store_writer *writer, struct chi_job *job);

/* ---- Compaction (compact.c): verified first, then copied beside the workers, then exchanged while
 * they wait. All by the writer, without an open transaction. */

/* Puts a compaction aside, which is the writer's, until the store has been verified;
 * writer->checked, under the lock, tells when. Ended at once if that cannot be begun. */
void chi_compact_park(struct chi_store_writer *writer, struct chi_job *job);

/* There is a verdict: those that were put aside are done and answered, or refused. */
void chi_compact_unpark(struct chi_store_writer *writer);

/* The server stops, which is not to wait for a verification. Harmless if nothing was put aside. */
void chi_compact_give_up(struct chi_store_writer *writer);
