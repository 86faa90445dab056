/* SPDX-License-Identifier: MIT */
/*
 * Random requests and responses, every field of every operation, and whether two say the same.
 * What is made lives in the arena. Sizes are small, so that many thousand can be made; the limits
 * have tests of their own.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "proto/msg.h"
#include "tests/base/seed.h"

struct sample {
	struct seed *seed;
	struct chi_arena *arena;
};

void sample_request(struct sample *sample, enum chi_op op, struct chi_request *out);
bool same_request(const struct chi_request *a, const struct chi_request *b);

/* `op` may be any; those without a result of their own give an error response. */
void sample_response(struct sample *sample, enum chi_op op, struct chi_response *out);
bool same_response(const struct chi_response *a, const struct chi_response *b);

/* Shared with tests that need single parts. */
struct chi_key sample_key(struct sample *sample);
struct chi_record sample_record(struct sample *sample);
struct chi_row *sample_rows(struct sample *sample, size_t n, bool counts, bool all_found);
