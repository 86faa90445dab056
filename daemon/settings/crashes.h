/* SPDX-License-Identifier: MIT */
/*
 * Crashes are remembered from one start to the next: a damaged page ends the process that reads it,
 * a service manager starts it again, and so on; writes should not go on meanwhile. Each store has
 * a file beside its data, `chistore.crashes`, to which a signal handler appends a byte for each
 * crash. The file's length is their number and its time of change that of the last one. Being
 * killed is no crash: not SIGKILL, not lack of memory, not a power cut.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct chi_crashes {
	int fd; /* -1: none are remembered */
	const char *dir;
	bool ours;	   /* no other process remembers them as well */
	atomic_uint count; /* since the last clean stop or sound verification */
};

/*
 * Counts the crashes of earlier servers of the store in `dir`, which must outlive this, unless the
 * last one is older than `window_ms`, and remembers those of this process from now on. Without
 * such a store, or where nothing can be remembered, which the log tells, there are none. Main
 * thread, before any other starts; at most CHI_STORES_MAX times.
 */
void chi_crashes_open(struct chi_crashes *crashes, const char *dir, uint64_t window_ms);

/* Forgets them: the store was verified and is sound. Any thread. */
void chi_crashes_forget(struct chi_crashes *crashes);

/* The end of the process's work on the store; `clean`: and of its crashes. Harmless on a zeroed
 * one. */
void chi_crashes_close(struct chi_crashes *crashes, bool clean);
