/* SPDX-License-Identifier: MIT */
/* Loading the positions, the clock, and the conversation with run.py. */
#include "bench/bench.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chess/key.h"

#define SHUFFLE_SEED 20040301

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

static void append(struct bench_keys *keys, size_t *capacity, const struct chi_key *key)
{
	if (keys->n == *capacity) {
		*capacity = *capacity == 0 ? 65536 : *capacity * 2;
		keys->games = realloc(keys->games, *capacity * sizeof(*keys->games));
		if (keys->games == NULL) {
			bench_die("out of memory at %zu positions", keys->n);
		}
	}
	keys->games[keys->n++] = *key;
}

/* Fisher and Yates; `random` has the same keys as `games`. */
static void shuffle(struct bench_keys *keys)
{
	uint64_t state = SHUFFLE_SEED;
	keys->random = malloc(keys->n * sizeof(*keys->random));
	if (keys->random == NULL) {
		bench_die("out of memory for %zu positions", keys->n);
	}
	memcpy(keys->random, keys->games, keys->n * sizeof(*keys->random));
	for (size_t i = keys->n - 1; i > 0; i--) {
		size_t j = (size_t)(bench_random(&state) % (i + 1));
		struct chi_key key = keys->random[i];
		keys->random[i] = keys->random[j];
		keys->random[j] = key;
	}
}

void bench_keys_load(const char *path, struct bench_keys *out)
{
	char line[512];
	size_t capacity = 0;
	struct chi_fault fault = {""};
	FILE *file = fopen(path, "r");
	if (file == NULL) {
		bench_die("cannot open '%s'", path);
	}
	memset(out, 0, sizeof(*out));
	if (fgets(line, sizeof(line), file) == NULL || strncmp(line, "fen,", 4) != 0) {
		bench_die("'%s' does not begin with the column fen", path);
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		struct chi_key key;
		if (chi_key_from_fen(line, strcspn(line, ","), &key, &fault) != CHI_OK) {
			bench_die("'%s', position %zu: %s", path, out->n + 1, fault.text);
		}
		append(out, &capacity, &key);
	}
	fclose(file);
	if (out->n == 0) {
		bench_die("'%s' holds no position", path);
	}
	shuffle(out);
}

void bench_keys_free(struct bench_keys *keys)
{
	free(keys->games);
	free(keys->random);
	memset(keys, 0, sizeof(*keys));
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
