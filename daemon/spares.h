/* SPDX-License-Identifier: MIT */
/*
 * Empty buffers of a worker, lent to connections while they hold something: so that most requests
 * allocate no buffer, and a thousand idle clients hold none. Two sizes: what fifty clients send in
 * one turn must not touch fifty times the memory that a large request needs.
 */
#pragma once

#include "base/buffer.h"

#define CHI_SPARES_SMALL 64
#define CHI_SPARES_LARGE 4
#define CHI_SMALL_BUFFER ((size_t)8 << 10) /* bytes of a small one */

struct chi_spares {
	struct chi_buffer small[CHI_SPARES_SMALL]; /* the one used last, which is cached, is last */
	struct chi_buffer large[CHI_SPARES_LARGE];
	size_t n_small;
	size_t n_large;
};

void chi_spares_deinit(struct chi_spares *spares);

/* Gives a buffer without memory a small one or a large one, if there is any; its limit stays. */
void chi_spares_lend_small(struct chi_spares *spares, struct chi_buffer *buffer);
void chi_spares_lend_large(struct chi_spares *spares, struct chi_buffer *buffer);

/* Takes the memory of a buffer that is empty, to keep it or to free it. */
void chi_spares_give_back(struct chi_spares *spares, struct chi_buffer *buffer);
