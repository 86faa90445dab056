/* SPDX-License-Identifier: MIT */
/*
 * Every question that a client can ask of a store, with a fingerprint of its answer, so that the
 * answers of a damaged store can be held against those of the undamaged one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore.h"

/* What is asked about; some is in the store and some is not. */
struct topics {
	struct chi_key keys[32];
	size_t n_keys;
	uint32_t last_game; /* numbers up to a few more are asked for */
};

#define ANSWERS_MAX 400

struct store_answer {
	const char *call; /* NULL: not asked */
	int status;	  /* CHI_OK, CHI_NONE or an error */
	uint64_t sum;	  /* of all that was answered */
};

struct answers {
	unsigned n; /* questions asked so far; the next is `asking` if a signal ended it */
	struct store_answer answer[ANSWERS_MAX];
};

/* A record of the whole store, by its key. */
struct stored {
	struct chi_key key;
	uint64_t sum; /* of what was put, not of what is computed */
};

/* All records by ascending key, `max` at most; -1 if they cannot be read. */
long answers_stored(struct chi_client *client, struct stored *out, size_t max);

/* Asks all questions from number `from` on. */
void answers_take(struct chi_client *client, const struct topics *topics, unsigned from,
		  struct answers *out);

/* True if the answer of a damaged store is one, and another than that of the store as it was. */
bool answer_is_false(const struct store_answer *wanted, const struct store_answer *got);
