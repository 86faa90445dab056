/* SPDX-License-Identifier: MIT */
/*
 * Servers look now and then where a store's path leads to, and move to a newer copy there. A thread
 * of its own looks, as what is there may hang, which then ends nothing but the following. Here are
 * that thread, the lines of the log and the numbers; how a server moves is its own.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/idempotency.h"
#include "service/metrics.h"

/* Looks, and moves if it is to: CHI_OK moved, CHI_NONE stays as nothing is new, negative with the
 * cause. Must do nothing more once chi_moves_ends is true. The thread's. */
typedef int chi_moves_look(void *context, struct chi_fault *cause);

/* Zeroed before the start. */
struct chi_moves {
	const char *path;
	chi_moves_look *look;
	void *context;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* never held while it looks */
	pthread_cond_t changed;
	bool due;	/* a look is asked for, */
	bool again;	/* and what cannot be moved to is told again */
	bool looking;	/* a look runs, */
	unsigned ticks; /* which the timer has seen so often */
	bool ended;	/* the thread has nothing more to do */
	atomic_bool ending;
	struct chi_fault
		refused;	/* why the last look did not move; "": nothing was new. The thread's
				 */
	chi_counter looks;	/* that have ended; these three are read by any thread */
	_Atomic uint64_t count; /* moves to another copy; written by the server */
	_Atomic uint64_t last_s; /* when the last one was, as time(); 0: there was none */
};

/* A copy, as the log names it. */
struct chi_moves_copy {
	uint8_t store[CHI_IDEMPOTENCY_STORE]; /* which store it is of */
	uint64_t sequence;
	const char *statistic; /* its name */
	bool games;	       /* it keeps them */
};

/* Starts the thread. The path must last. -CHI_ENOMEM. Main thread, as all but what is said below.
 */
CHI_MUSTUSE int chi_moves_start(struct chi_moves *moves, const char *path, chi_moves_look *look,
				void *context, struct chi_fault *fault);

/* Asks for a look; told of a look that hangs by the log, once. A timer's, every second or two. */
void chi_moves_tick(struct chi_moves *moves);

/* Asks for a look at once, and to be told again of what cannot be moved to. */
void chi_moves_ask(struct chi_moves *moves);

/* From here on the server does not move. Waits for nothing. */
void chi_moves_end(struct chi_moves *moves);

/* Any thread. */
static inline bool chi_moves_ends(const struct chi_moves *moves)
{
	return atomic_load(&moves->ending);
}

/* Waits a second for the thread. False: a look hangs, and all that it uses must stay as it is. True
 * if it never started. */
CHI_MUSTUSE bool chi_moves_join(struct chi_moves *moves);

/* Counts a move, with a line of the log: a warning if the new copy is older, of another store or of
 * another kind. The thread's. */
void chi_moves_done(struct chi_moves *moves, const struct chi_moves_copy *was,
		    const struct chi_moves_copy *is);
