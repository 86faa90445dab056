/* SPDX-License-Identifier: MIT */
/*
 * Random numbers for tests: a failure must be repeatable, so every user prints the seed it runs
 * with and takes it from the environment variable CHISTORE_SEED when that is set.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

struct seed {
	uint64_t state;
};

/* The seed fixed here makes an ordinary run the same run every time. As TAP allows, the seed is
 * printed on a line of its own that starts with '#'. */
static inline struct seed seed_start(const char *test)
{
	uint64_t value = 20040301;
	const char *text = getenv("CHISTORE_SEED");
	if (text != NULL && chi_num_u64(text, strlen(text), UINT64_MAX, &value) != CHI_OK) {
		fprintf(stderr, "# CHISTORE_SEED is not a number: '%s'\n", text);
		abort();
	}
	fprintf(stderr, "# %s: CHISTORE_SEED=%llu\n", test, (unsigned long long)value);
	return (struct seed){.state = value};
}

/* splitmix64: every seed is a good one, 0 included. */
static inline uint64_t seed_next(struct seed *seed)
{
	uint64_t z = (seed->state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0..bound-1; the bias of the remainder does not matter for bounds this small. */
static inline size_t seed_below(struct seed *seed, size_t bound)
{
	return (size_t)(seed_next(seed) % bound);
}

/*
 * How many rounds a test takes whose worth grows with their number: `normal` of them, an eighth
 * with CHISTORE_EFFORT=low (in the gate), 20 times as many with
 * CHISTORE_EFFORT=high and N times with CHISTORE_EFFORT=N (a long run on demand).
 */
static inline size_t seed_rounds(size_t normal)
{
	const char *effort = getenv("CHISTORE_EFFORT");
	uint64_t times = 1;
	if (effort == NULL || strcmp(effort, "high") == 0) {
		return effort == NULL ? normal : normal * 20;
	}
	if (strcmp(effort, "low") == 0) {
		return normal / 8 + 1;
	}
	if (chi_num_u64(effort, strlen(effort), 1000000, &times) != CHI_OK || times == 0) {
		fprintf(stderr, "# CHISTORE_EFFORT is not low, high or a number: '%s'\n", effort);
		abort();
	}
	return normal * times;
}
