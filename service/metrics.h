/* SPDX-License-Identifier: MIT */
/*
 * Counters, and their page in the text format of Prometheus (version 0.0.4). A counter is written
 * by one thread only and may be read by any: an addition is a plain load and a plain store, no lock
 * and no locked instruction, so that counting costs a request nothing. A total is the sum over the
 * threads.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buffer.h"

typedef _Atomic uint64_t chi_counter;

/* By the counter's own thread. */
static inline void chi_counter_add(chi_counter *counter, uint64_t n)
{
	uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
	atomic_store_explicit(counter, before + n, memory_order_relaxed);
}

/* Any thread. */
static inline uint64_t chi_counter_value(const chi_counter *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Adds those of a thread to totals: structs of counters and nothing else, `size` bytes each. */
void chi_counters_add(void *totals, const void *counters, size_t size);

/* Buckets of a histogram, and one more for what is above the last bound. */
#define CHI_HISTOGRAM_BOUNDS 17

/* How often something took how long. */
struct chi_histogram {
	chi_counter buckets[CHI_HISTOGRAM_BOUNDS + 1]; /* each without those below it */
	chi_counter sum_us;
};

/* By the histogram's own thread. A negative time counts as none. */
void chi_histogram_add(struct chi_histogram *histogram, int64_t us);

/* ---- The page ---------------------------------------------------------------------------- */

struct chi_metrics {
	struct chi_buffer *out;
	bool failed; /* it is not whole */
};

/* At most 512 bytes at once. */
CHI_PRINTF(2, 3) void chi_metrics_print(struct chi_metrics *page, const char *format, ...);

/* The lines before those of a family's values. */
void chi_metrics_head(struct chi_metrics *page, const char *name, const char *type,
		      const char *help);

/* A family of one value. */
void chi_metrics_value(struct chi_metrics *page, const char *name, const char *type,
		       const char *help, uint64_t value);

/* The same in seconds. */
void chi_metrics_time(struct chi_metrics *page, const char *name, const char *type,
		      const char *help, uint64_t us);

/* The lines of one histogram; its count is the sum of its buckets, not a number of its own. The
 * label's value needs no escape. */
void chi_metrics_histogram(struct chi_metrics *page, const char *name, const char *label,
			   const char *value, const struct chi_histogram *times);
