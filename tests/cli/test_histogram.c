/* SPDX-License-Identifier: MIT */
/* Percentiles out of buckets against those of the sorted values themselves. */
#include <stdlib.h>

#include "base/attr.h"
#include "cli/bench/histogram.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define VALUES_MAX 5000

static const unsigned permilles[] = {0, 1, 10, 250, 500, 900, 990, 999, 1000};

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;
	return (*x > *y) - (*x < *y);
}

/* The least value that so many thousandths do not exceed. */
static uint64_t exact(const uint64_t *sorted, size_t n, unsigned permille)
{
	size_t rank = (n * permille + 999) / 1000;
	return sorted[rank > 0 ? rank - 1 : 0];
}

static void assert_near(uint64_t value, uint64_t expected)
{
	uint64_t apart = value > expected ? value - expected : expected - value;
	if (apart > expected / 128) {
		fail_msg("%llu is not within 1/128 of %llu", (unsigned long long)value,
			 (unsigned long long)expected);
	}
}

static void check(const struct histogram *histogram, uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	assert_int_equal(histogram_count(histogram), n);
	assert_int_equal(histogram_max(histogram), values[n - 1]);
	for (size_t i = 0; i < CHI_COUNT(permilles); i++) {
		assert_near(histogram_percentile(histogram, permilles[i]),
			    exact(values, n, permilles[i]));
	}
}

/* As latencies are: most of them near each other, some a thousand times as long. */
static uint64_t draw(struct seed *seed)
{
	uint64_t value = seed_next(seed) >> seed_below(seed, 64);
	return seed_below(seed, 4) == 0 ? value : value % 100000;
}

CASE(percentiles_are_near)
{
	static struct histogram histogram;
	static uint64_t values[VALUES_MAX];
	struct seed seed = seed_start("histogram percentiles");
	for (size_t round = 0; round < seed_rounds(200); round++) {
		size_t n = 1 + seed_below(&seed, VALUES_MAX);
		memset(&histogram, 0, sizeof(histogram));
		for (size_t i = 0; i < n; i++) {
			values[i] = draw(&seed);
			histogram_add(&histogram, values[i]);
		}
		check(&histogram, values, n);
	}
}

/* Every bucket's first and last value; under 128 a value is its own. */
CASE(bounds_are_near)
{
	static struct histogram histogram;
	for (unsigned bit = 0; bit < 64; bit++) {
		for (unsigned part = 0; part < 64; part++) {
			uint64_t first = (UINT64_C(1) << bit) + ((UINT64_C(1) << bit) / 64 * part);
			for (unsigned before = 0; before < 2; before++) {
				memset(&histogram, 0, sizeof(histogram));
				histogram_add(&histogram, first - before);
				/* A greater one, so that the maximum does not hide the middle. */
				histogram_add(&histogram, UINT64_MAX);
				assert_near(histogram_percentile(&histogram, 500), first - before);
				if (first < 128) {
					assert_int_equal(histogram_percentile(&histogram, 500),
							 first - before);
				}
			}
		}
	}
}

/* What many threads have counted apart is what one would have counted. */
CASE(merging_adds)
{
	static struct histogram whole;
	static struct histogram parts[3];
	static struct histogram merged;
	struct seed seed = seed_start("histogram merge");
	for (size_t i = 0; i < 10000; i++) {
		uint64_t value = seed_below(&seed, 1000000);
		histogram_add(&whole, value);
		histogram_add(&parts[seed_below(&seed, 2)], value);
	}
	/* One of the parts is empty. */
	for (size_t i = 0; i < CHI_COUNT(parts); i++) {
		histogram_merge(&merged, &parts[i]);
	}
	assert_memory_equal(&merged, &whole, sizeof(whole));
}

CASE(the_greatest_values_have_a_place)
{
	static struct histogram histogram;
	histogram_add(&histogram, UINT64_MAX);
	assert_int_equal(histogram_count(&histogram), 1);
	assert_int_equal(histogram_max(&histogram), UINT64_MAX);
	assert_near(histogram_percentile(&histogram, 500), UINT64_MAX);
	assert_int_equal(atomic_load(&histogram.counts[HISTOGRAM_BUCKETS - 1]), 1);
}

CASE(mean_is_exact)
{
	static struct histogram histogram;
	assert_true(histogram_mean(&histogram) == 0);
	assert_int_equal(histogram_percentile(&histogram, 500), 0);
	assert_int_equal(histogram_max(&histogram), 0);
	for (uint64_t i = 0; i <= 1000; i++) {
		histogram_add(&histogram, 1000000 + i);
	}
	assert_true(histogram_mean(&histogram) == 1000500);
	/* No percentile is above the greatest value, though the middle of its bucket is. */
	assert_in_range(histogram_percentile(&histogram, 1000), 1000000, 1001000);
}
