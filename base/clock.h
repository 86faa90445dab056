/* SPDX-License-Identifier: MIT */
/* Monotonic time for deadlines; never the time of day, which people set. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t chi_now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline int64_t chi_now_ms(void)
{
	return chi_now_us() / 1000;
}

/* The same clock at the last tick, up to 10 ms ago; a few nanoseconds, and no system call. */
static inline int64_t chi_tick_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
