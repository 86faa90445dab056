/* SPDX-License-Identifier: MIT */
#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

/* More wait for memory rather than for processors. */
#define USEFUL_MAX 16

unsigned chi_threads_start(pthread_t *out, unsigned n, void *(*run)(void *context), void *context)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
	sigset_t blocked;
	sigset_t before;
	unsigned begun = 0;
	(void)sigfillset(&blocked);
	for (size_t i = 0; i < CHI_COUNT(own); i++) {
		(void)sigdelset(&blocked, own[i]);
	}
	(void)pthread_sigmask(SIG_BLOCK, &blocked, &before);
	while (begun < n && pthread_create(&out[begun], NULL, run, context) == 0) {
		begun++;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return begun;
}

unsigned chi_threads_useful(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
	return n < 1 ? 1 : n > USEFUL_MAX ? USEFUL_MAX : (unsigned)n;
}

void chi_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t steady;
	(void)pthread_condattr_init(&steady);
	(void)pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	(void)pthread_cond_init(cond, &steady);
	(void)pthread_condattr_destroy(&steady);
}

bool chi_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t us)
{
	const struct timespec until = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
	return pthread_cond_timedwait(cond, mutex, &until) == 0;
}
