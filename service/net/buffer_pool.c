/* SPDX-License-Identifier: MIT */
/* Two stacks of memory: the buffers themselves live in the connections. */
#include "service/net/buffer_pool.h"

void chi_buffer_pool_get(struct chi_buffer_pool *buffer_pool, struct chi_buffer *buffer,
			 size_t bytes)
{
	bool small = bytes <= CHI_SMALL_BUFFER;
	size_t *n = small ? &buffer_pool->n_small : &buffer_pool->n_large;
	if (buffer->data != NULL || *n == 0) {
		return;
	}
	size_t limit = buffer->limit;
	*n -= 1;
	*buffer = small ? buffer_pool->small[*n] : buffer_pool->large[*n];
	buffer->limit = limit;
	buffer_pool->large_bytes -= small ? 0 : buffer->capacity;
}

static void keep_buffer(struct chi_buffer *spare, size_t *n, struct chi_buffer *buffer)
{
	spare[*n] = *buffer;
	spare[*n].start = 0;
	*n += 1;
	*buffer = (struct chi_buffer){.limit = buffer->limit};
}

void chi_buffer_pool_put(struct chi_buffer_pool *buffer_pool, struct chi_buffer *buffer)
{
	size_t capacity = buffer->capacity;
	if (buffer->data == NULL || buffer->len > 0) {
		return;
	}
	if (capacity == CHI_SMALL_BUFFER && buffer_pool->n_small < CHI_BUFFER_POOL_SMALL) {
		keep_buffer(buffer_pool->small, &buffer_pool->n_small, buffer);
	} else if (capacity > CHI_SMALL_BUFFER && capacity <= CHI_LARGE_BUFFER &&
		   buffer_pool->n_large < CHI_BUFFER_POOL_LARGE &&
		   capacity <= CHI_BUFFER_POOL_BYTES - buffer_pool->large_bytes) {
		buffer_pool->large_bytes += capacity;
		keep_buffer(buffer_pool->large, &buffer_pool->n_large, buffer);
	} else {
		chi_buffer_deinit(buffer);
	}
}

void chi_buffer_pool_deinit(struct chi_buffer_pool *buffer_pool)
{
	while (buffer_pool->n_small > 0) {
		chi_buffer_deinit(&buffer_pool->small[--buffer_pool->n_small]);
	}
	while (buffer_pool->n_large > 0) {
		chi_buffer_deinit(&buffer_pool->large[--buffer_pool->n_large]);
	}
	buffer_pool->large_bytes = 0;
}
