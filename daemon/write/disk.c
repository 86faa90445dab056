/* SPDX-License-Identifier: MIT */
#include "daemon/write/disk.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/thread.h"
#include "daemon/net/server.h"
#include "daemon/settings/limits.h"
#include "daemon/write/follow.h"
#include "daemon/write/job.h"
#include "service/events.h"
#include "service/log.h"
#include "store/store.h"

/* How long a stop waits at least for a read that runs. */
#define STOP_MS 5000

/* How long the last line of the log may take. */
#define LAST_LINE_S 5

/* How often the timer must have seen a read to call it hung. */
#define TICKS_LEAST 2

static void on_alarm(int number)
{
	(void)number;
	_exit(CHI_EXIT_DISK);
}

/* Ends the process soon, also if this thread waits for ever: the log may be on the same disk. */
static void set_alarm(void)
{
	const struct sigaction action = {.sa_handler = on_alarm};
	sigset_t alarms;
	(void)sigemptyset(&alarms);
	(void)sigaddset(&alarms, SIGALRM);
	(void)sigaction(SIGALRM, &action, NULL);
	(void)pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	(void)alarm(LAST_LINE_S);
}

/* The process ends as if it were killed: no answer is sent, no commit finished, and nothing waits
 * for the disk. Clients repeat what was not answered, here or where the store is by then. */
static void disk_failed(struct chi_served *served, const struct chi_fault *cause)
{
	bool exits = served->server->config->on_disk_failure == CHI_DISK_EXIT;
	bool told = atomic_exchange(&served->disk_failed, true);
	/* What this thread would do next is to answer; another one ends the process. */
	while (told && exits) {
		(void)pause();
	}
	if (told) {
		return;
	}
	if (exits) {
		set_alarm();
		log_error("store.disk", "exiting: the disk of store '{store}' has failed ({cause})",
			  log_text("store", served->name), log_text("cause", cause->text));
		_exit(CHI_EXIT_DISK);
	}
	if (served->writable) {
		chi_dir_end_writing(served->copy->store);
	}
	log_error("store.disk",
		  "store '{store}' is served read-only from now on: its disk has failed ({cause}); "
		  "what is read may be out of date",
		  log_text("store", served->name), log_text("cause", cause->text));
}

void chi_disk_look(struct chi_served *served, const struct chi_fault *cause)
{
	/* The next tick looks, if a move waits for a worker now. */
	struct chi_served_copy *copy = chi_follow_keep(served, false);
	if (copy == NULL) {
		return;
	}
	int status = chi_dir_disk_failure(copy->store);
	chi_served_copy_leave(copy);
	if (status < 0) {
		disk_failed(served, cause);
	}
}

/* ---- The thread -------------------------------------------------------------------------- */

static void answer_all(struct chi_job *jobs, int status, bool direct, const struct chi_fault *fault)
{
	while (jobs != NULL) {
		struct chi_job *job = jobs;
		jobs = job->next;
		*(struct chi_disk_check *)(void *)job->result = (struct chi_disk_check){direct};
		job->answer->status = status;
		job->answer->fault = *fault;
		chi_job_post(job);
		chi_job_free(job);
	}
}

/* Under the lock; the jobs that the read is for. */
static struct chi_job *begin_read(struct chi_disk_watch *watch)
{
	struct chi_job *jobs = watch->first;
	watch->first = NULL;
	watch->last = &watch->first;
	watch->n_jobs = 0;
	watch->due = false;
	watch->reads = true;
	watch->ticks = 0;
	return jobs;
}

static void *watch_disk(void *context)
{
	struct chi_disk_watch *watch = context;
	(void)pthread_mutex_lock(&watch->lock);
	for (;;) {
		while (!watch->due && watch->first == NULL && !watch->stopping) {
			(void)pthread_cond_wait(&watch->changed, &watch->lock);
		}
		if (watch->stopping && watch->first == NULL) {
			break;
		}
		struct chi_job *jobs = begin_read(watch);
		(void)pthread_mutex_unlock(&watch->lock);
		struct chi_fault fault = {{0}};
		bool direct = false;
		struct chi_served_copy *copy = chi_follow_keep(watch->served, true);
		int status = chi_dir_check_disk(copy->store, &direct, &fault);
		/* Of a copy that is served no more it says nothing. */
		struct chi_served_copy *now = chi_follow_keep(watch->served, true);
		if (status == -CHI_EIO && now == copy) {
			disk_failed(watch->served, &fault);
		}
		chi_served_copy_leave(now);
		chi_served_copy_leave(copy);
		answer_all(jobs, status, direct, &fault);
		(void)pthread_mutex_lock(&watch->lock);
		watch->reads = false;
	}
	watch->ended = true;
	(void)pthread_cond_signal(&watch->changed);
	(void)pthread_mutex_unlock(&watch->lock);
	return NULL;
}

/* ---- Others ------------------------------------------------------------------------------ */

int chi_disk_watch_push(struct chi_disk_watch *watch, struct chi_job *job)
{
	int status = -CHI_EBUSY;
	job->next = NULL;
	(void)pthread_mutex_lock(&watch->lock);
	if (!watch->stopping && watch->n_jobs < CHI_DISK_CHECKS_MAX) {
		*watch->last = job;
		watch->last = &job->next;
		watch->n_jobs++;
		(void)pthread_cond_signal(&watch->changed);
		status = CHI_OK;
	}
	(void)pthread_mutex_unlock(&watch->lock);
	return status;
}

void chi_disk_watch_tick(struct chi_disk_watch *watch)
{
	struct chi_served *served = watch->served;
	uint64_t limit_ms = served->server->config->limits.disk_ms;
	uint64_t most = limit_ms / CHI_DISK_TICK_MS;
	struct chi_fault fault = {{0}};
	(void)pthread_mutex_lock(&watch->lock);
	unsigned ticks = watch->reads ? ++watch->ticks : 0;
	watch->due = true;
	(void)pthread_cond_signal(&watch->changed);
	(void)pthread_mutex_unlock(&watch->lock);
	if (limit_ms > 0 && ticks >= (most > TICKS_LEAST ? most : TICKS_LEAST)) {
		(void)chi_fail(&fault, -CHI_EIO, "a read has not been answered for %u ms",
			       ticks * CHI_DISK_TICK_MS);
		disk_failed(served, &fault);
	}
	/* Of an import's commit, or of a compaction's exchange, no writer has told. */
	(void)chi_fail(&fault, -CHI_EIO, "a commit or reopening failed");
	chi_disk_look(served, &fault);
}

/* ---- Start and stop ---------------------------------------------------------------------- */

void chi_disk_watch_init(struct chi_disk_watch *watch, struct chi_served *served)
{
	*watch = (struct chi_disk_watch){.served = served, .last = &watch->first};
	(void)pthread_mutex_init(&watch->lock, NULL);
	chi_cond_init(&watch->changed);
}

void chi_disk_watch_deinit(struct chi_disk_watch *watch)
{
	(void)pthread_cond_destroy(&watch->changed);
	(void)pthread_mutex_destroy(&watch->lock);
}

int chi_disk_watch_start(struct chi_disk_watch *watch, struct chi_fault *fault)
{
	const struct chi_served *served = watch->served;
	struct chi_fault why = {{0}};
	bool direct = false;
	int status = chi_dir_check_disk(served->copy->store, &direct, &why);
	if (status == -CHI_EIO) {
		return chi_fail(fault, status, "the disk of store '%s' has failed (%s)",
				served->name, why.text);
	}
	if (status == CHI_OK && !direct) {
		log_warning("store.cached",
			    "the file system of store '{store}' has no reads past the page cache: "
			    "a disk that is cut off is not noticed before the next write",
			    log_text("store", served->name));
	}
	int error = pthread_create(&watch->thread, NULL, watch_disk, watch);
	if (error != 0) {
		return chi_fail(fault, -CHI_ENOMEM, "cannot start a thread (%s)", strerror(error));
	}
	watch->started = true;
	return CHI_OK;
}

void chi_disk_watch_stop(struct chi_disk_watch *watch)
{
	uint64_t ms = watch->served->server->config->limits.disk_ms;
	int64_t until = chi_now_us() + (int64_t)(ms > STOP_MS ? ms : STOP_MS) * 1000;
	if (!watch->started) {
		return;
	}
	(void)pthread_mutex_lock(&watch->lock);
	watch->stopping = true;
	(void)pthread_cond_signal(&watch->changed);
	while (!watch->ended && chi_cond_wait_until(&watch->changed, &watch->lock, until)) {
	}
	bool ended = watch->ended;
	(void)pthread_mutex_unlock(&watch->lock);
	if (!ended) {
		set_alarm();
		log_error("store.disk",
			  "exiting: the disk of store '{store}' does not answer, and everything "
			  "else has stopped",
			  log_text("store", watch->served->name));
		_exit(CHI_EXIT_DISK);
	}
	(void)pthread_join(watch->thread, NULL);
	watch->started = false;
}
