/* SPDX-License-Identifier: MIT */
/* Two stacks of memory: the buffers themselves live in the connections. */
#include "daemon/spares.h"

#include "daemon/limits.h"

static void lend(struct chi_buffer *spare, size_t *n, struct chi_buffer *buffer)
{
	if (buffer->data == NULL && *n > 0) {
		size_t limit = buffer->limit;
		*buffer = spare[--*n];
		buffer->limit = limit;
	}
}

void chi_spares_lend_small(struct chi_spares *spares, struct chi_buffer *buffer)
{
	lend(spares->small, &spares->n_small, buffer);
}

void chi_spares_lend_large(struct chi_spares *spares, struct chi_buffer *buffer)
{
	lend(spares->large, &spares->n_large, buffer);
}

static bool keep(struct chi_buffer *spare, size_t *n, size_t max, struct chi_buffer *buffer)
{
	if (*n == max) {
		return false;
	}
	spare[*n] = *buffer;
	spare[*n].start = 0;
	*n += 1;
	*buffer = (struct chi_buffer){.limit = buffer->limit};
	return true;
}

void chi_spares_give_back(struct chi_spares *spares, struct chi_buffer *buffer)
{
	bool kept = false;
	if (buffer->data == NULL || buffer->len > 0) {
		return;
	}
	if (buffer->capacity == CHI_SMALL_BUFFER) {
		kept = keep(spares->small, &spares->n_small, CHI_SPARES_SMALL, buffer);
	} else if (buffer->capacity >= CHI_READ_CHUNK && buffer->capacity <= 2 * CHI_READ_CHUNK) {
		kept = keep(spares->large, &spares->n_large, CHI_SPARES_LARGE, buffer);
	}
	if (!kept) {
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
}
