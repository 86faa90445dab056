/* SPDX-License-Identifier: MIT */
/*
 * Latencies by the million in 30 KB: each power of two is divided into 64 buckets of one width, so
 * that a value is known to within 1/128 of itself however large it is, and exactly below 128.
 *
 *    0 1 2 ... 127 | 128-129 130-131 ... 254-255 | 256-259 ... 508-511 | ...
 *
 * One thread adds; any thread may read at the same time, and then sees some recent state.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define HISTOGRAM_BITS	  6
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

/* A number that one thread changes and any may read: relaxed loads and stores are plain moves,
 * which cost the thread that counts nothing. */
static inline uint64_t counter_get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void counter_set(_Atomic uint64_t *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

static inline void counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	counter_set(counter, counter_get(counter) + n);
}

/* All zeros is an empty histogram. */
struct histogram {
	_Atomic uint64_t counts[HISTOGRAM_BUCKETS];
	_Atomic uint64_t sum; /* of all values; wraps beyond 2^64 */
	_Atomic uint64_t max;
};

void histogram_add(struct histogram *histogram, uint64_t value);

/* Adds all that `from` holds. */
void histogram_merge(struct histogram *into, const struct histogram *from);

uint64_t histogram_count(const struct histogram *histogram);

/* 0 if it is empty. */
double histogram_mean(const struct histogram *histogram);

/* The greatest value, exactly; 0 if it is empty. */
uint64_t histogram_max(const struct histogram *histogram);

/* The least value that `permille` (0..1000) thousandths of all values do not exceed, to within
 * 1/128 of itself; 0 if the histogram is empty. */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned permille);
