/* SPDX-License-Identifier: MIT */
/* Random numbers that a seed repeats; fast, and of no use as secrets. */
#pragma once

#include <stdint.h>

struct rng {
	uint64_t state; /* any number is a good start */
};

/* Spreads the bits of a number over all 64 (the finalizer of splitmix64). */
static inline uint64_t rng_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline uint64_t rng_next(struct rng *rng)
{
	rng->state += UINT64_C(0x9e3779b97f4a7c15);
	return rng_mix(rng->state);
}

/* 0..bound-1. */
static inline uint32_t rng_below(struct rng *rng, uint32_t bound)
{
	return (uint32_t)((rng_next(rng) >> 32) * bound >> 32);
}
