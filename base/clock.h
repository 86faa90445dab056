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
