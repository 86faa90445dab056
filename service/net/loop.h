/* SPDX-License-Identifier: MIT */
/*
 * A thread with an event loop of its own, and its mailbox: how other threads hand things to it, a
 * queue under a mutex and an eventfd that wakes the loop. Mail is delivered in the order it was
 * posted. The owner's deadlines are looked at by a clock that stands while there are none.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "chistore/types.h"

struct chi_mail;
struct event;
struct event_base;

/* What the loop's owner does with a letter that has come. */
typedef void chi_deliver(struct chi_mail *mail, void *owner);

/* Embedded in what is handed over; belongs to the mailbox until it is delivered. */
struct chi_mail {
	struct chi_mail *next;
	/* Runs on the loop's thread and owns the mail from then on. */
	chi_deliver *deliver;
};

/* What a loop wants of its owner, on the loop's thread. */
struct chi_loop_ops {
	/* The loop is to end: nothing new is begun. */
	void (*leave)(void *owner);
	/* Looks at deadlines; `late`: the time to leave is over, and every client is closed. True
	 * if there are any to be looked at again. */
	bool (*tick)(void *owner, int64_t now_ms, bool late);
	/* Mail or a tick is dealt with. True: nothing is left to be done, so that a loop that
	 * leaves ends. */
	bool (*settle)(void *owner);
};

struct chi_loop {
	struct event_base *base;
	bool leaving;
	bool started;		 /* its thread */
	atomic_bool asked;	 /* for a sign that it turns */
	_Atomic int64_t turn_us; /* when what has come began to be dealt with; 0: it waits */

	/* What follows is loop.c's. */
	const struct chi_loop_ops *ops; /* NULL: never made */
	void *owner;
	pthread_t thread;
	struct event *tick;
	uint64_t tick_ms;
	uint64_t leave_ms;
	int64_t leave_by;
	int64_t turned_us;	  /* time spent in turns, since */
	_Atomic int64_t share_us; /* that was measured, */
	atomic_uint share;	  /* percent of the time before */
	struct chi_mail leave_mail;
	struct chi_mail sign_mail;
	struct chi_loop *next_watched;
	pthread_mutex_t lock; /* the innermost lock: nothing else is taken under it */
	struct chi_mail *first;
	struct chi_mail **last;
	struct event *mail_event;
	int fd; /* readable when there is mail */
};

/* Deadlines will be looked at every `tick_ms`. -CHI_ENOMEM: to be freed also then. */
CHI_MUSTUSE int chi_loop_init(struct chi_loop *loop, const struct chi_loop_ops *ops, void *owner,
			      uint64_t tick_ms, struct chi_fault *fault);
CHI_MUSTUSE int chi_loop_start(struct chi_loop *loop, struct chi_fault *fault);

/* Waits for its thread to end, if it was started. */
void chi_loop_join(struct chi_loop *loop);

/* The same, and frees everything; mail that is left is not delivered. Harmless if it was never
 * made. */
void chi_loop_deinit(struct chi_loop *loop);

/* Any thread; never fails. */
void chi_loop_post(struct chi_loop *loop, struct chi_mail *mail);

/* Any thread, once: has it end when it has nothing more to do, after so many ms in any case. */
void chi_loop_leave(struct chi_loop *loop, uint64_t ms);

/* Any thread: asks for a sign that it turns, which is given once `asked` is false again. */
void chi_loop_ask(struct chi_loop *loop);

/* Any thread: true if it has had little time to wait in the last tenth of a second, or has been
 * at one turn for half of that, be it that it works or that a disk lets it wait. `now`: us. Of a
 * loop whose owner calls chi_loop_enter. */
bool chi_loop_is_busy(const struct chi_loop *loop, int64_t now);

/* ---- On its own thread ------------------------------------------------------------------- */

/* A deadline was set: has them looked at until there is none. */
void chi_loop_watch(struct chi_loop *loop);

/* Something was dealt with that was no mail: it may have been the last. */
void chi_loop_settle(struct chi_loop *loop);

/* Notes that a turn has begun, if it has not. The owner's callbacks call it first of all, but those
 * that merely look for something to do. */
static inline void chi_loop_enter(struct chi_loop *loop)
{
	if (atomic_load_explicit(&loop->turn_us, memory_order_relaxed) == 0) {
		atomic_store_explicit(&loop->turn_us, chi_now_us(), memory_order_relaxed);
	}
}

/* Deals with what has come, once; `wait`: until something comes. False: the loop has ended. */
bool chi_loop_turn(struct chi_loop *loop, bool wait);

/* Delivers what is there; also when the thread has ended. */
void chi_loop_deliver(struct chi_loop *loop);
