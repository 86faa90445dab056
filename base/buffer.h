/* SPDX-License-Identifier: MIT */
/*
 * A queue of bytes: appended at the end, consumed at the front, starts small, grows to a limit.
 * Not thread-safe.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "chistore/types.h"

struct chi_buffer {
	uint8_t *data;	 /* the allocation */
	size_t start;	 /* first byte not yet consumed */
	size_t len;	 /* bytes not yet consumed, from start */
	size_t capacity; /* size of the allocation */
	size_t limit;	 /* len never exceeds it */
};

/* Takes no memory yet. */
void chi_buffer_init(struct chi_buffer *buffer, size_t limit);

/* Frees the memory; harmless on a zeroed buffer. */
void chi_buffer_deinit(struct chi_buffer *buffer);

/* The content; NULL until memory is taken. Valid until the next change. */
static inline const uint8_t *chi_buffer_bytes(const struct chi_buffer *buffer)
{
	return buffer->data == NULL ? NULL : buffer->data + buffer->start;
}

/*
 * Makes room for `len` more bytes after the content and returns where they go; they count once
 * chi_buffer_added tells so. NULL if that is over the limit or memory is out.
 */
uint8_t *chi_buffer_reserve(struct chi_buffer *buffer, size_t len);
void chi_buffer_added(struct chi_buffer *buffer, size_t len);

/* As the next, which calls it where there is no room yet. */
CHI_MUSTUSE int chi_buffer_append_grown(struct chi_buffer *buffer, const void *bytes, size_t len);

/* -CHI_ETOOBIG over the limit, -CHI_ENOMEM. */
CHI_MUSTUSE static inline int chi_buffer_append(struct chi_buffer *buffer, const void *bytes,
						size_t len)
{
	size_t end = buffer->start + buffer->len;
	if (len == 0 || len > buffer->capacity - end || buffer->len > buffer->limit ||
	    len > buffer->limit - buffer->len) {
		return chi_buffer_append_grown(buffer, bytes, len);
	}
	memcpy(buffer->data + end, bytes, len);
	buffer->len += len;
	return CHI_OK;
}

/* Drops `len` bytes (at most buffer->len) at the front. */
void chi_buffer_consume(struct chi_buffer *buffer, size_t len);

/* Overwrites what was consumed: it held a secret. What was moved when the buffer grew is not
 * reached. */
void chi_buffer_wipe(struct chi_buffer *buffer);

/* Makes room for `n` elements of `size` bytes in an array at least: `array` is the address of a
 * pointer that malloc gave, or of NULL where *room is 0. The array doubles. -CHI_ENOMEM: all is as
 * it was. */
CHI_MUSTUSE int chi_grow(void *array, size_t *room, size_t n, size_t size);

/* Gives memory beyond `keep` bytes of capacity back if the buffer is empty. */
void chi_buffer_trim(struct chi_buffer *buffer, size_t keep);
