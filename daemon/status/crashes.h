/* SPDX-License-Identifier: MIT */
/*
 * Crashes are remembered from one start to the next: a damaged page ends the process that reads it,
 * a service manager starts it again, and so on; writes should not go on meanwhile. Each store has
 * a file of its own beside its data, `chistore.crashes`, to which a handler of the signals by which
 * programs crash appends a line. Being killed is no crash: not SIGKILL, not for want of memory, not
 * a power cut. What stands in the file is not believed: lines that are none do not count.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct chi_crashes {
	int fd; /* -1: none are remembered */
	const char *dir;
	bool ours;	      /* no other process remembers them as well */
	atomic_uint count;    /* since the last clean stop, or sound verification; not too old */
	unsigned last_signal; /* of the last of them */
};

/*
 * Counts the crashes of who served the store in `dir`, which must live as long, in the last
 * `window_ms` milliseconds, and from now on remembers those of this process. Without such a store,
 * or where nothing can be remembered, which the log tells, there are none. Main thread, before any
 * other is started; at most CHI_STORES_MAX times.
 */
void chi_crashes_open(struct chi_crashes *crashes, const char *dir, uint64_t window_ms);

/* A thread's stack may be what is used up: its crash is noted on another one. */
struct chi_crash_stack {
	unsigned char bytes[32 << 10];
};

/*
 * For the calling thread; `stack` lives as long as the thread, best in its first function. Threads
 * without one crash unnoted if their stack is used up; main has one.
 */
void chi_crashes_stack(struct chi_crash_stack *stack);

/* Forgets them: the store was verified and is sound. Any thread. */
void chi_crashes_forget(struct chi_crashes *crashes);

/* The end of the process' work on the store; `clean`: and of its crashes, if they are ours.
 * Harmless on one that was not opened, if zeroed. */
void chi_crashes_close(struct chi_crashes *crashes, bool clean);
