/* SPDX-License-Identifier: MIT */
/*
 * Evaluations on their way to the store: a thread of its own writes them, so that no search waits
 * for a disk. Each is durable some milliseconds after it was handed over. While a store does not
 * answer they wait; of more than CHI_LEARN_MAX the oldest are given up, and counted.
 */
#pragma once

#include <stdint.h>

#include "chistore.h"
#include "uci/search/engine.h"

#define CHI_LEARN_MAX 4096

struct chi_learner;

/* Told by the learner's thread of each evaluation, once it is durable. */
typedef void chi_learned_fn(void *context, const struct chi_key *key, unsigned depth);

/* Opens `address` for writing. `learned` is called until the learner is closed. CHI_NONE: the
 * server is away, which *fault says; it is waited for. */
CHI_MUSTUSE int chi_learner_open(const char *address, chi_learned_fn *learned, void *context,
				 struct chi_learner **out, struct chi_fault *fault);

/* A score of a position, side to move's view, from a search of `depth` plies by `engine`, with its
 * line. */
void chi_learn(struct chi_learner *learner, const char *engine, const struct chi_position *position,
	       int score, unsigned depth, uint64_t nodes, const chi_move *pv, size_t n_pv);

/* Writes what waits, and ends. How many were given up since it was opened. NULL is fine. */
uint64_t chi_learner_close(struct chi_learner *learner);
