/* SPDX-License-Identifier: MIT */
/*
 * Empty buffers of a worker, lent to connections while they hold something: so that requests
 * allocate no buffer, and a thousand idle clients hold none. Two kinds: what fifty clients send in
 * one turn must not touch fifty times the memory that a large request needs. Large ones come back
 * as large as they have grown, so that after a few batches of a size there are some of that size.
 */
#pragma once

#include "base/buffer.h"

#define CHI_BUFFER_POOL_SMALL 64
#define CHI_BUFFER_POOL_LARGE 16
#define CHI_SMALL_BUFFER      ((size_t)8 << 10)	  /* bytes of a small one */
#define CHI_LARGE_BUFFER      ((size_t)256 << 10) /* of the largest that is kept */
#define CHI_BUFFER_POOL_BYTES ((size_t)1 << 20)	  /* of all large ones */

struct chi_buffer_pool {
	struct chi_buffer
		small[CHI_BUFFER_POOL_SMALL]; /* the one used last, which is cached, is last */
	struct chi_buffer large[CHI_BUFFER_POOL_LARGE];
	size_t n_small;
	size_t n_large;
	size_t large_bytes;
};

void chi_buffer_pool_deinit(struct chi_buffer_pool *buffer_pool);

/* Gives a buffer without memory one for that many bytes, a small one or a large one, if there is
 * any; its limit stays. A large one may still have to grow. */
void chi_buffer_pool_get(struct chi_buffer_pool *buffer_pool, struct chi_buffer *buffer,
			 size_t bytes);

/* Takes the memory of a buffer that is empty, to keep it or to free it. */
void chi_buffer_pool_put(struct chi_buffer_pool *buffer_pool, struct chi_buffer *buffer);
