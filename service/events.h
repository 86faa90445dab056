/* SPDX-License-Identifier: MIT */
/* Adding an event that was added before, or a timer, fails only without memory, and then what waits
 * for it would wait for ever: the process ends instead, with a line in the log. */
#pragma once

#include <event2/event.h>
#include <stdint.h>
#include <unistd.h>

#include "service/log.h"

/* The status of a start that fails, as chistored(8) has it. */
#define CHI_EXIT_FAILED 3

/* The same when the disk of a store failed while it was served. */
#define CHI_EXIT_DISK 4

/* At once: what exit runs would free what other threads are using. Acknowledged writes are safe. */
static inline void chi_event_give_up(int error)
{
	(void)error;
	log_error("fail", "out of memory or descriptors in libevent");
	_exit(CHI_EXIT_FAILED);
}

static inline void chi_event_add(struct event *event, const struct timeval *after)
{
	if (event_add(event, after) < 0) {
		chi_event_give_up(0);
	}
}

/* Frees it and forgets it. NULL is fine. */
static inline void chi_event_drop(struct event **event)
{
	if (*event != NULL) {
		event_free(*event);
		*event = NULL;
	}
}

static inline struct timeval chi_event_ms(uint64_t ms)
{
	return (struct timeval){(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
}
