/* SPDX-License-Identifier: MIT */
/*
 * What the measuring programs share. Each loads the same list of positions once, then obeys the
 * driver (runner.py) line by line: a line names an operation, the answer says how much was done and
 * how long it took. So that rounds of two programs can take turns with both of them warm.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* Positions of a store, in the two orders they are asked for. */
struct bench_keys {
	struct chi_key *games;	/* game after game, move after move */
	struct chi_key *random; /* shuffled with a fixed seed: the same for every program */
	size_t n;		/* of each */
};

/* splitmix64: the next number of the sequence whose state is *state. */
uint64_t bench_random(uint64_t *state);

/* Nanoseconds: of real time, for what waits for another process; and of this thread's time on a
 * processor, for what does not, so that other programs' turns on it are not counted. */
uint64_t bench_now(void);
uint64_t bench_cpu(void);

/* Prints the text to standard error and ends the program with status 2: a measurement that
 * cannot be made must never look like a figure. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reads what make_lists wrote into the folder; ends the program on failure. */
void bench_keys_load(const char *folder, struct bench_keys *out);
void bench_keys_free(struct bench_keys *keys);

/* A node of a search: `n` keys from `first` on, of which the first `visited` are asked for before
 * it is cut off. */
struct bench_node {
	size_t first;
	size_t n;
	size_t visited;
};

struct bench_search {
	struct chi_key *keys;
	struct bench_node *nodes; /* in the order they are visited */
	size_t n;
	size_t visited; /* keys asked for in all */
};

/* The same for every program that loads the same list. */
void bench_search_make(const struct bench_keys *keys, struct bench_search *out);
void bench_search_free(struct bench_search *search);

/* What one run of an operation did. */
struct bench_result {
	uint64_t done; /* positions or entries handled */
	uint64_t ns;
	uint64_t sum; /* made of what was read, so that the compiler leaves no reading out; of two
			 walks of one tree it must be the same */
};

/* Runs `name` once; false if there is no such operation. */
typedef bool bench_operation(void *context, const char *name, struct bench_result *out);

/* Prints "ready", then answers each line of standard input until its end. */
void bench_serve(bench_operation *operation, void *context);
