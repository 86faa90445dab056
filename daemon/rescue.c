/* SPDX-License-Identifier: MIT */
/* A stack of blocks in static memory, begun anew when all have been given back. */
#include "daemon/rescue.h"

#include <event2/event.h>
#include <malloc.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RESCUE_BYTES ((size_t)256 << 10)

/* Stands in front of each block. */
struct head {
	alignas(max_align_t) size_t size;
};

static alignas(max_align_t) unsigned char memory[RESCUE_BYTES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t used;
static size_t blocks;

static bool is_ours(const void *block)
{
	uintptr_t at = (uintptr_t)block;
	return at >= (uintptr_t)memory && at < (uintptr_t)memory + sizeof(memory);
}

static void *take(size_t size)
{
	void *block = NULL;
	size_t whole = 0;
	pthread_mutex_lock(&lock);
	if (size <= sizeof(memory) - used) {
		whole = sizeof(struct head) + (size + sizeof(struct head) - 1) /
						      sizeof(struct head) * sizeof(struct head);
	}
	if (whole > 0 && whole <= sizeof(memory) - used) {
		struct head *head = (struct head *)(void *)(memory + used);
		head->size = size;
		block = head + 1;
		used += whole;
		blocks++;
	}
	pthread_mutex_unlock(&lock);
	return block;
}

static void give_back(void)
{
	pthread_mutex_lock(&lock);
	blocks--;
	used = blocks == 0 ? 0 : used;
	pthread_mutex_unlock(&lock);
}

static void *rescue_malloc(size_t size)
{
	void *block = malloc(size);
	return block != NULL ? block : take(size);
}

static void rescue_free(void *block)
{
	if (is_ours(block)) {
		give_back();
	} else {
		free(block);
	}
}

/* What has outgrown the usual memory moves here; what is here already moves wherever there is room.
 */
static void *rescue_realloc(void *old, size_t size)
{
	bool ours = is_ours(old);
	void *block = ours ? malloc(size) : realloc(old, size);
	if (!ours && block != NULL) {
		return block;
	}
	block = block != NULL ? block : take(size);
	if (block != NULL && old != NULL) {
		size_t before = ours ? ((struct head *)old - 1)->size : malloc_usable_size(old);
		memcpy(block, old, before < size ? before : size);
		rescue_free(old);
	}
	return block;
}

void chi_rescue_init(void)
{
	event_set_mem_functions(rescue_malloc, rescue_realloc, rescue_free);
}
