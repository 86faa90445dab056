/* SPDX-License-Identifier: MIT */
/*
 * A queue of bytes over one allocation. Content is moved to the front only when the room after
 * it is used up, and then by preference when that costs no more than what was consumed since, so
 * that a long-lived connection does not copy its backlog for every message.
 */
#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY ((size_t)512)
#define ARRAY_LEAST    ((size_t)64) /* elements */

void chi_buffer_init(struct chi_buffer *buffer, size_t limit)
{
	*buffer = (struct chi_buffer){.limit = limit};
}

void chi_buffer_deinit(struct chi_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct chi_buffer){.limit = buffer->limit};
}

static void move_to_front(struct chi_buffer *buffer)
{
	if (buffer->start > 0 && buffer->len > 0) {
		memmove(buffer->data, buffer->data + buffer->start, buffer->len);
	}
	buffer->start = 0;
}

/* A new allocation of at least `needed` bytes with the content at its front. */
static bool grow(struct chi_buffer *buffer, size_t needed)
{
	size_t capacity =
		buffer->capacity < FIRST_CAPACITY / 2 ? FIRST_CAPACITY : buffer->capacity * 2;
	/* Doubling must neither overflow nor take memory that the limit makes useless. */
	if (capacity < buffer->capacity || capacity > buffer->limit) {
		capacity = buffer->limit;
	}
	if (capacity < needed) {
		capacity = needed;
	}
	move_to_front(buffer);
	uint8_t *data = realloc(buffer->data, capacity);
	if (data == NULL) {
		return false;
	}
	buffer->data = data;
	buffer->capacity = capacity;
	return true;
}

uint8_t *chi_buffer_reserve(struct chi_buffer *buffer, size_t len)
{
	if (buffer->len > buffer->limit || len > buffer->limit - buffer->len) {
		return NULL;
	}
	/* An empty reservation has an address too: NULL always means failure. */
	size_t needed = buffer->len + (len > 0 ? len : 1);
	if (buffer->data == NULL || needed > buffer->capacity - buffer->start) {
		bool roomy = needed <= buffer->capacity;
		bool cheap = buffer->start >= buffer->len || buffer->capacity >= buffer->limit;
		if (roomy && cheap) {
			move_to_front(buffer);
		} else if (!grow(buffer, needed)) {
			return NULL;
		}
	}
	return buffer->data + buffer->start + buffer->len;
}

void chi_buffer_added(struct chi_buffer *buffer, size_t len)
{
	buffer->len += len;
}

int chi_buffer_append_grown(struct chi_buffer *buffer, const void *bytes, size_t len)
{
	if (buffer->len > buffer->limit || len > buffer->limit - buffer->len) {
		return -CHI_ETOOBIG;
	}
	uint8_t *room = chi_buffer_reserve(buffer, len);
	if (room == NULL) {
		return -CHI_ENOMEM;
	}
	if (len > 0) {
		memcpy(room, bytes, len);
	}
	chi_buffer_added(buffer, len);
	return CHI_OK;
}

void chi_buffer_consume(struct chi_buffer *buffer, size_t len)
{
	if (len >= buffer->len) {
		buffer->start = 0;
		buffer->len = 0;
		return;
	}
	buffer->start += len;
	buffer->len -= len;
}

void chi_buffer_wipe(struct chi_buffer *buffer)
{
	size_t end = buffer->start + buffer->len;
	if (buffer->data != NULL) {
		explicit_bzero(buffer->data, buffer->start);
		explicit_bzero(buffer->data + end, buffer->capacity - end);
	}
}

void chi_buffer_trim(struct chi_buffer *buffer, size_t keep)
{
	if (buffer->len > 0 || buffer->capacity <= keep) {
		return;
	}
	free(buffer->data);
	buffer->data = NULL;
	buffer->start = 0;
	buffer->capacity = 0;
}

int chi_grow(void *array, size_t *room, size_t n, size_t size)
{
	void *old;
	size_t more = *room < ARRAY_LEAST / 2 ? ARRAY_LEAST : 2 * *room;
	more = more < n ? n : more;
	if (n <= *room) {
		return CHI_OK;
	}
	memcpy(&old, array, sizeof(old));
	void *grown = reallocarray(old, more, size);
	if (grown == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return CHI_OK;
}
