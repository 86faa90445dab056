/* SPDX-License-Identifier: MIT */
/*
 * Runs a check in a process of its own: a damaged page may kill its reader, and an open
 * store must not be carried over from one state to the next.
 */
#pragma once

#include <stdbool.h>

#include "chistore/types.h"

/* What the child writes and the parent reads. */
struct judge {
	struct chi_fault why;
	char call[32];	   /* the call that failed */
	unsigned reopened; /* counts up */
};

/* Puts the scratch directory of the tests' help into memory where there is a place for it and
 * TMPDIR names no other: disks are played here, and a real one would only cost time. To be called
 * first. */
void judge_in_memory(void);

/* Shared by all children. Aborts if there is none. */
struct judge *judge_new(void);

/*
 * Runs `check(context)` in a child and returns its result, 0 to 100; -1 if a signal ended it, and
 * `why` names it. Unless `loud`, what it prints is dropped.
 */
int judge_run(struct judge *judge, int (*check)(void *context), void *context, bool loud);
