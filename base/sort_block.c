/* SPDX-License-Identifier: MIT */
/*
 * Sorting one block of items in memory. Moving 32 bytes is dear, so what is sorted is one word for
 * each item: 44 bits of it, and its index in the 20 bits below. Since words are distinct, any sort
 * of them is stable. The items follow once, in the order found; those that agree in the 44 bits
 * are sorted among themselves by the next 44, down to the last.
 */
#include "base/sorter_priv.h"

#define INDEX_BITS  20
#define WINDOW_BITS 44
#define DIGIT_BITS  11
#define DIGITS	    (WINDOW_BITS / DIGIT_BITS)
#define BUCKETS	    ((size_t)1 << DIGIT_BITS)
#define ITEM_BITS   (8 * CHI_SORT_ITEM)
#define INDEX_MASK  ((UINT64_C(1) << INDEX_BITS) - 1)

/* Below so many items, counting buckets costs more than comparing. */
#define RADIX_MIN     1024
#define INSERTION_MAX 24
/* How far ahead items scattered in memory are prefetched. */
#define PREFETCH 16

/* The 44 bits from `bit` on, in the upper bits of a word; after the item's end come zeros. */
static inline uint64_t window(const struct chi_sort_item *item, unsigned bit)
{
	size_t i = bit / 64;
	unsigned shift = bit % 64;
	uint64_t word = chi_sort_word(item, i) << shift;
	if (shift > 64 - WINDOW_BITS && i + 1 < CHI_SORT_WORDS) {
		word |= chi_sort_word(item, i + 1) >> (64 - shift);
	}
	return word & ~INDEX_MASK;
}

static inline size_t digit(uint64_t pair, unsigned d)
{
	return pair >> (INDEX_BITS + d * DIGIT_BITS) & (BUCKETS - 1);
}

/* One pass by digit `d`; false if all have the same, and nothing was moved. */
static bool scatter(const uint64_t *from, uint64_t *to, size_t n, unsigned d, uint32_t *counts)
{
	if (counts[digit(from[0], d)] == n) {
		return false;
	}
	uint32_t sum = 0;
	for (size_t i = 0; i < BUCKETS; i++) {
		uint32_t count = counts[i];
		counts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++) {
		to[counts[digit(from[i], d)]++] = from[i];
	}
	return true;
}

/* Returns which of the two arrays holds the result. */
static uint64_t *radix_sort(uint64_t *pairs, uint64_t *other, size_t n)
{
	uint32_t counts[DIGITS][BUCKETS] = {0};
	for (size_t i = 0; i < n; i++) {
		for (unsigned d = 0; d < DIGITS; d++) {
			counts[d][digit(pairs[i], d)]++;
		}
	}
	for (unsigned d = 0; d < DIGITS; d++) {
		if (scatter(pairs, other, n, d, counts[d])) {
			uint64_t *swap = pairs;
			pairs = other;
			other = swap;
		}
	}
	return pairs;
}

static void merge_words(const uint64_t *from, uint64_t *to, size_t start, size_t middle, size_t end)
{
	size_t a = start;
	size_t b = middle;
	for (size_t i = start; i < end; i++) {
		bool left = b >= end || (a < middle && from[a] < from[b]);
		to[i] = left ? from[a++] : from[b++];
	}
}

/* As radix_sort, for few. */
static uint64_t *merge_sort(uint64_t *pairs, uint64_t *other, size_t n)
{
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t start = 0; start < n; start += 2 * width) {
			size_t middle = start + width < n ? start + width : n;
			size_t end = middle + width < n ? middle + width : n;
			merge_words(pairs, other, start, middle, end);
		}
		uint64_t *swap = pairs;
		pairs = other;
		other = swap;
	}
	return pairs;
}

static void insertion_sort(struct chi_sort_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (!chi_sort_less(&items[i], &items[i - 1], 0)) {
			continue;
		}
		struct chi_sort_item item = items[i];
		size_t j = i;
		while (j > 0 && chi_sort_less(&item, &items[j - 1], 0)) {
			items[j] = items[j - 1];
			j--;
		}
		items[j] = item;
	}
}

/* Sorts by the 44 bits from `bit` on, and by nothing after them. */
static void sort_window(const struct chi_sort_item *from, struct chi_sort_item *to, size_t n,
			uint64_t *pairs, unsigned bit)
{
	for (size_t i = 0; i < n; i++) {
		pairs[i] = window(&from[i], bit) | i;
	}
	uint64_t *sorted =
		n < RADIX_MIN ? merge_sort(pairs, pairs + n, n) : radix_sort(pairs, pairs + n, n);
	for (size_t i = 0; i < n; i++) {
		if (i + PREFETCH < n) {
			__builtin_prefetch(&from[sorted[i + PREFETCH] & INDEX_MASK]);
		}
		to[i] = from[sorted[i] & INDEX_MASK];
	}
}

static bool same_window(const struct chi_sort_item *items, size_t n, unsigned bit)
{
	uint64_t first = window(&items[0], bit);
	for (size_t i = 1; i < n; i++) {
		if (window(&items[i], bit) != first) {
			return false;
		}
	}
	return true;
}

static void sort_ties(struct chi_sort_item *items, struct chi_sort_item *scratch, size_t n,
		      uint64_t *pairs, unsigned bit);

/* Items that agree in all bits before `bit`, in place. */
static void sort_tie(struct chi_sort_item *items, struct chi_sort_item *scratch, size_t n,
		     uint64_t *pairs, unsigned bit)
{
	if (n <= INSERTION_MAX) {
		insertion_sort(items, n);
		return;
	}
	/* Most items of a long tie differ in their last bits alone. */
	while (bit < ITEM_BITS && same_window(items, n, bit)) {
		bit += WINDOW_BITS;
	}
	if (bit >= ITEM_BITS) {
		return;
	}
	memcpy(scratch, items, n * sizeof(*items));
	sort_window(scratch, items, n, pairs, bit);
	sort_ties(items, scratch, n, pairs, bit);
}

/* Items sorted by the bits up to the window at `bit`: sorts those that agree in it. Goes no deeper
 * than an item has windows. */
static void sort_ties(struct chi_sort_item *items, struct chi_sort_item *scratch, size_t n,
		      uint64_t *pairs, unsigned bit)
{
	if (bit + WINDOW_BITS >= ITEM_BITS) {
		return;
	}
	size_t start = 0;
	uint64_t value = window(&items[0], bit);
	for (size_t i = 1; i <= n; i++) {
		uint64_t next = i < n ? window(&items[i], bit) : ~value;
		if (next == value) {
			continue;
		}
		if (i - start > 1) {
			sort_tie(items + start, scratch + start, i - start, pairs,
				 bit + WINDOW_BITS);
		}
		start = i;
		value = next;
	}
}

void chi_sort_block(struct chi_sort_item *from, struct chi_sort_item *to, size_t n, uint64_t *pairs)
{
	if (n == 0) {
		return;
	}
	sort_window(from, to, n, pairs, 0);
	sort_ties(to, from, n, pairs, 0);
}
