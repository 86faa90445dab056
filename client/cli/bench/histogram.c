/* SPDX-License-Identifier: MIT */
/* Buckets whose width grows with their values. Relaxed loads and stores are plain moves: a
 * histogram that is read while it grows costs the thread that adds nothing. */
#include "client/cli/bench/histogram.h"

#include <stddef.h>

#define PARTS (UINT64_C(1) << HISTOGRAM_BITS)

static uint64_t get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void set(_Atomic uint64_t *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

/* Values under 2 * PARTS have a bucket each; of the others the highest 7 bits say which. */
static size_t bucket_of(uint64_t value)
{
	if (value < PARTS) {
		return (size_t)value;
	}
	unsigned shift = 63u - (unsigned)__builtin_clzll(value) - HISTOGRAM_BITS;
	return (size_t)(((uint64_t)(shift + 1) << HISTOGRAM_BITS) +
			((value >> shift) & (PARTS - 1)));
}

/* The middle of a bucket, which is at most half its width away from any of its values. */
static uint64_t value_of(size_t bucket)
{
	if (bucket < PARTS) {
		return bucket;
	}
	unsigned shift = (unsigned)(bucket >> HISTOGRAM_BITS) - 1;
	uint64_t low = (PARTS + (bucket & (PARTS - 1))) << shift;
	return low + (((UINT64_C(1) << shift) - 1) >> 1);
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	_Atomic uint64_t *count = &histogram->counts[bucket_of(value)];
	set(count, get(count) + 1);
	set(&histogram->sum, get(&histogram->sum) + value);
	if (value > get(&histogram->max)) {
		set(&histogram->max, value);
	}
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		set(&into->counts[i], get(&into->counts[i]) + get(&from->counts[i]));
	}
	set(&into->sum, get(&into->sum) + get(&from->sum));
	if (get(&from->max) > get(&into->max)) {
		set(&into->max, get(&from->max));
	}
}

uint64_t histogram_count(const struct histogram *histogram)
{
	uint64_t count = 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		count += get(&histogram->counts[i]);
	}
	return count;
}

double histogram_mean(const struct histogram *histogram)
{
	uint64_t count = histogram_count(histogram);
	return count > 0 ? (double)get(&histogram->sum) / (double)count : 0;
}

uint64_t histogram_max(const struct histogram *histogram)
{
	return get(&histogram->max);
}

uint64_t histogram_percentile(const struct histogram *histogram, unsigned permille)
{
	uint64_t count = histogram_count(histogram);
	/* count * permille / 1000, rounded up, without its product overflowing. */
	uint64_t rank = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
	uint64_t max = histogram_max(histogram);
	uint64_t seen = 0;
	rank = rank > 0 ? rank : 1;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += get(&histogram->counts[i]);
		if (seen >= rank) {
			/* The middle of the last bucket may lie above all its values. */
			return value_of(i) < max ? value_of(i) : max;
		}
	}
	return 0;
}
