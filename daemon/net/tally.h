/* SPDX-License-Identifier: MIT */
/*
 * Counters of what the daemon does. Each is written by one thread only and may be read by any: an
 * addition is a plain load and a plain store, no lock and no locked instruction, so that counting
 * costs a probe nothing. A total is the sum over the threads (metrics.c).
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "ops/op.h"
#include "proto/msg.h"

typedef _Atomic uint64_t chi_counter;

/* Buckets of a histogram, and one more for what is above the last bound. */
#define CHI_HISTOGRAM_BOUNDS 17

/* Upper bounds of the buckets, included, in microseconds; ascending. */
extern const uint64_t chi_histogram_bounds[CHI_HISTOGRAM_BOUNDS];

/* How often something took how long. */
struct chi_histogram {
	chi_counter buckets[CHI_HISTOGRAM_BOUNDS + 1]; /* each without those below it */
	chi_counter sum_us;
};

/* Results: 0 is CHI_OK, others are the status without its sign. */
#define CHI_RESULTS CHI_ERROR_COUNT

/* States of a connection that is not closed: enum chi_conn_state up to CHI_CONN_DEAD. */
#define CHI_CONN_STATES 4

/* What one worker has done, or for connections: what it has. */
struct chi_tally {
	chi_counter answers[CHI_OP_COUNT_OF_OPS][CHI_RESULTS]; /* last answers of requests */
	struct chi_histogram latency[CHI_CLASSES];	       /* of the same, but UNKNOWN's */
	chi_counter abandoned; /* requests whose client was gone before the last answer */
	chi_counter no_tls;    /* handshakes that failed */
	chi_counter cut_off;   /* connections closed because the client did not read */
	chi_counter received;  /* bytes */
	chi_counter sent;      /* bytes */
	chi_counter connections[CHI_CONN_STATES];
};

/* By the counter's own thread. */
static inline void chi_scan_count(chi_counter *counter, uint64_t n)
{
	uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
	atomic_store_explicit(counter, before + n, memory_order_relaxed);
}

/* Any thread. */
static inline uint64_t chi_counter_value(const chi_counter *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* By the histogram's own thread. A negative time counts as none. */
void chi_histogram_add(struct chi_histogram *histogram, int64_t us);

/* By the worker's own thread: the last answer to a request that took so long; -1: unknown. */
void chi_tally_answer(struct chi_tally *tally, enum chi_op op, int status, int64_t us);
