/* SPDX-License-Identifier: MIT */
/*
 * An arena is a list of blocks, of which only the newest is handed out from. The budget counts
 * what was asked for, rounded up to the alignment; what malloc is asked for stays within a
 * factor of it, because a block is at most as large as all blocks before it together, or as the
 * one allocation that did not fit.
 */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Under ASan what a reset took back cannot be read, also where its block is kept. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)0)
#endif

#define ALIGNMENT   _Alignof(max_align_t)
#define FIRST_BLOCK ((size_t)4096)
#define BLOCK_MAX   ((size_t)1 << 20) /* larger allocations get a block of their own size */

struct chi_arena_block {
	struct chi_arena_block *older;
	size_t size; /* bytes of `bytes` */
	size_t used; /* of them handed out; a multiple of ALIGNMENT */
	_Alignas(max_align_t) unsigned char bytes[];
};

static void free_blocks(struct chi_arena_block *block)
{
	while (block != NULL) {
		struct chi_arena_block *older = block->older;
		free(block);
		block = older;
	}
}

/* Puts a block in front that holds at least `size` bytes. */
static bool add_block(struct chi_arena *arena, size_t size)
{
	size_t block_size = FIRST_BLOCK;
	if (arena->blocks != NULL) {
		block_size =
			arena->blocks->size < BLOCK_MAX / 2 ? arena->blocks->size * 2 : BLOCK_MAX;
	}
	if (block_size < size) {
		block_size = size;
	}
	if (block_size > SIZE_MAX - sizeof(struct chi_arena_block)) {
		return false;
	}
	struct chi_arena_block *block = malloc(sizeof(*block) + block_size);
	if (block == NULL) {
		return false;
	}
	block->older = arena->blocks;
	block->size = block_size;
	block->used = 0;
	ASAN_POISON_MEMORY_REGION(block->bytes, block_size);
	arena->blocks = block;
	return true;
}

size_t chi_arena_held(const struct chi_arena *arena)
{
	size_t held = 0;
	for (const struct chi_arena_block *block = arena->blocks; block != NULL;
	     block = block->older) {
		held += sizeof(*block) + block->size;
	}
	return held;
}

void chi_arena_init(struct chi_arena *arena, size_t budget)
{
	*arena = (struct chi_arena){.budget = budget};
}

void chi_arena_deinit(struct chi_arena *arena)
{
	free_blocks(arena->blocks);
	arena->blocks = NULL;
	arena->used = 0;
}

void chi_arena_wipe(struct chi_arena *arena)
{
	for (struct chi_arena_block *block = arena->blocks; block != NULL; block = block->older) {
		explicit_bzero(block->bytes, block->used);
	}
}

void chi_arena_reset(struct chi_arena *arena)
{
	if (arena->blocks == NULL) {
		arena->used = 0;
		return;
	}
	/* The newest block serves the next request best, unless one huge allocation made it: an
	 * arena that lives as long as its connection must not keep that. */
	struct chi_arena_block *kept = arena->blocks;
	free_blocks(kept->older);
	kept->older = NULL;
	kept->used = 0;
	ASAN_POISON_MEMORY_REGION(kept->bytes, kept->size);
	arena->used = 0;
	if (kept->size > BLOCK_MAX) {
		free(kept);
		arena->blocks = NULL;
	}
}

void *chi_arena_alloc(struct chi_arena *arena, size_t size)
{
	if (size > SIZE_MAX - ALIGNMENT) {
		return NULL;
	}
	/* Even an empty allocation takes a unit, so that no two pointers are the same. */
	size_t rounded = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (arena->used > arena->budget || rounded > arena->budget - arena->used) {
		return NULL;
	}
	struct chi_arena_block *block = arena->blocks;
	if (block == NULL || block->size - block->used < rounded) {
		if (!add_block(arena, rounded)) {
			return NULL;
		}
		block = arena->blocks;
	}
	void *pointer = block->bytes + block->used;
	ASAN_UNPOISON_MEMORY_REGION(pointer, rounded);
	block->used += rounded;
	arena->used += rounded;
	return pointer;
}

void *chi_arena_array(struct chi_arena *arena, size_t count, size_t size)
{
	size_t total = 0;
	if (__builtin_mul_overflow(count, size, &total)) {
		return NULL;
	}
	void *array = chi_arena_alloc(arena, total);
	if (array != NULL) {
		memset(array, 0, total);
	}
	return array;
}

char *chi_arena_text(struct chi_arena *arena, const void *bytes, size_t len)
{
	char *text = len < SIZE_MAX ? chi_arena_alloc(arena, len + 1) : NULL;
	if (text == NULL) {
		return NULL;
	}
	/* memcpy from NULL is undefined even for no bytes, and an empty text may well be NULL. */
	if (len > 0) {
		memcpy(text, bytes, len);
	}
	text[len] = '\0';
	return text;
}
