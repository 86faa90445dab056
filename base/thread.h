/* SPDX-License-Identifier: MIT */
/* Threads that help the one that starts them, and end before it goes on. */
#pragma once

#include <pthread.h>

#include "base/attr.h"

/* Starts up to `n` threads with all signals blocked but those of their own faults: signals meant
 * for the program go to threads that it knows. Returns how many began, the first of `out`, which
 * the caller joins; fewer, or none, where the system has no more. */
unsigned chi_threads_start(pthread_t *out, unsigned n, void *(*run)(void *context), void *context);

/* Threads that can help: one for each processor that this thread may run on, 16 at most; 1 or more.
 */
unsigned chi_threads_useful(void);
