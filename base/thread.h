/* SPDX-License-Identifier: MIT */
/* Threads that help the one that starts them, and end before it goes on; and waits of threads for
 * each other. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

/* Starts up to `n` threads with all signals blocked but those of their own faults: signals meant
 * for the program go to threads that it knows. Returns how many began, the first of `out`, which
 * the caller joins; fewer, or none, where the system has no more. */
unsigned chi_threads_start(pthread_t *out, unsigned n, void *(*run)(void *context), void *context);

/* Threads that can help: one for each processor that this thread may run on, 16 at most; 1 or more.
 */
unsigned chi_threads_useful(void);

/* A condition whose waits go by chi_now_us (base/clock.h) and do not follow steps of the time of
 * day. To be ended by pthread_cond_destroy. */
void chi_cond_init(pthread_cond_t *cond);

/* With the mutex: true when it is signalled, or for no reason; false: that time has come, which may
 * lie in the past. */
bool chi_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t us);
