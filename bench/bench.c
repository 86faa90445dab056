/* SPDX-License-Identifier: MIT */
/* Loading the positions, the clock, and the conversation with the driver. */
#include "bench/bench.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t bench_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;
	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void bench_die(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(2);
}

void bench_serve(bench_operation *operation, void *context)
{
	char line[64];
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		struct bench_result result = {0};
		line[strcspn(line, "\n")] = '\0';
		if (!operation(context, line, &result)) {
			bench_die("no such operation: '%s'", line);
		}
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", result.done, result.ns, result.sum);
		fflush(stdout);
	}
}
