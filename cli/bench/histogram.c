/* SPDX-License-Identifier: MIT */
/* Buckets whose width grows with their values. */
#include "cli/bench/histogram.h"

#include <stddef.h>

#define PARTS (UINT64_C(1) << HISTOGRAM_BITS)

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
static uint64_t bucket_value(size_t bucket)
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
	counter_add(count, 1);
	counter_add(&histogram->sum, value);
	if (value > counter_get(&histogram->max)) {
		counter_set(&histogram->max, value);
	}
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		counter_add(&into->counts[i], counter_get(&from->counts[i]));
	}
	counter_add(&into->sum, counter_get(&from->sum));
	if (counter_get(&from->max) > counter_get(&into->max)) {
		counter_set(&into->max, counter_get(&from->max));
	}
}

uint64_t histogram_count(const struct histogram *histogram)
{
	uint64_t count = 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		count += counter_get(&histogram->counts[i]);
	}
	return count;
}

double histogram_mean(const struct histogram *histogram)
{
	uint64_t count = histogram_count(histogram);
	return count > 0 ? (double)counter_get(&histogram->sum) / (double)count : 0;
}

uint64_t histogram_max(const struct histogram *histogram)
{
	return counter_get(&histogram->max);
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
		seen += counter_get(&histogram->counts[i]);
		if (seen >= rank) {
			/* The middle of the last bucket may lie above all its values. */
			return bucket_value(i) < max ? bucket_value(i) : max;
		}
	}
	return 0;
}
