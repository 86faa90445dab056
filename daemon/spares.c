/* SPDX-License-Identifier: MIT */
/* Two stacks of memory: the buffers themselves live in the connections. */
#include "daemon/spares.h"

void chi_spares_lend(struct chi_spares *spares, struct chi_buffer *buffer, size_t bytes)
{
	bool small = bytes <= CHI_SMALL_BUFFER;
	size_t *n = small ? &spares->n_small : &spares->n_large;
	if (buffer->data != NULL || *n == 0) {
		return;
	}
	size_t limit = buffer->limit;
	*n -= 1;
	*buffer = small ? spares->small[*n] : spares->large[*n];
	buffer->limit = limit;
	spares->large_bytes -= small ? 0 : buffer->capacity;
}

static void keep(struct chi_buffer *spare, size_t *n, struct chi_buffer *buffer)
{
	spare[*n] = *buffer;
	spare[*n].start = 0;
	*n += 1;
	*buffer = (struct chi_buffer){.limit = buffer->limit};
}

void chi_spares_give_back(struct chi_spares *spares, struct chi_buffer *buffer)
{
	size_t capacity = buffer->capacity;
	if (buffer->data == NULL || buffer->len > 0) {
		return;
	}
	if (capacity == CHI_SMALL_BUFFER && spares->n_small < CHI_SPARES_SMALL) {
		keep(spares->small, &spares->n_small, buffer);
	} else if (capacity > CHI_SMALL_BUFFER && capacity <= CHI_LARGE_BUFFER &&
		   spares->n_large < CHI_SPARES_LARGE &&
		   capacity <= CHI_SPARES_BYTES - spares->large_bytes) {
		spares->large_bytes += capacity;
		keep(spares->large, &spares->n_large, buffer);
	} else {
		chi_buffer_deinit(buffer);
	}
}

void chi_spares_deinit(struct chi_spares *spares)
{
	while (spares->n_small > 0) {
		chi_buffer_deinit(&spares->small[--spares->n_small]);
	}
	while (spares->n_large > 0) {
		chi_buffer_deinit(&spares->large[--spares->n_large]);
	}
	spares->large_bytes = 0;
}
