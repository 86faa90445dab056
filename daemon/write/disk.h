/* SPDX-License-Identifier: MIT */
/*
 * The disk under a served store. A thread reads the head of its data file past the page cache
 * whenever the main thread's timer or a client asks; the main thread sees when a read hangs. A
 * disk that fails, be it here or at a commit, ends the process or makes the store read-only, as
 * --on-disk-failure says: a server that goes on reads what it has in memory, while another machine
 * may write.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_job;
struct chi_served;

struct chi_disk_watch {
	struct chi_served *served;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* never held while the disk is read */
	pthread_cond_t changed;
	bool stopping;
	bool ended;	       /* the thread has nothing more to do */
	bool due;	       /* the timer has asked for a read */
	bool reads;	       /* a read runs, */
	unsigned ticks;	       /* which the timer has seen so often: not when it began, since a
				  process that is stopped for a while has not waited */
	struct chi_job *first; /* to be answered after the next read */
	struct chi_job **last;
	size_t n_jobs; /* these */
};

void chi_disk_watch_init(struct chi_disk_watch *watch, struct chi_served *served);
void chi_disk_watch_deinit(struct chi_disk_watch *watch);

/* Reads the disk and starts the thread; the log tells once if the file system has no reads past the
 * page cache. -CHI_EIO, -CHI_ENOMEM. Main thread. */
CHI_MUSTUSE int chi_disk_watch_start(struct chi_disk_watch *watch, struct chi_fault *fault);

/* Answers what waits and ends the thread. If that hangs in a read for as long as --disk-timeout,
 * and five seconds at least, the process ends here, with CHI_EXIT_DISK. Harmless if it never
 * started. Main thread. */
void chi_disk_watch_stop(struct chi_disk_watch *watch);

/* How often chi_disk_watch_tick is to be called. */
#define CHI_DISK_TICK_MS 2000

/* Asks for a read, and looks for one that hangs and for commits
 * that the disk has failed. Main thread. */
void chi_disk_watch_tick(struct chi_disk_watch *watch);

/* Answers a CHECK_DISK after the next read, and owns the job from then on. -CHI_EBUSY: too many
 * wait or the watch is stopping, and the job is still the caller's. Any thread. */
CHI_MUSTUSE int chi_disk_watch_push(struct chi_disk_watch *watch, struct chi_job *job);

/* To be called after a write has failed, before it is answered: if the disk was why, does what
 * --on-disk-failure says. Any thread. */
void chi_disk_look(struct chi_served *served, const struct chi_fault *cause);
