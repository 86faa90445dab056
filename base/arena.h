/* SPDX-License-Identifier: MIT */
/*
 * Memory for one request: many small allocations, one free, and a budget that hostile input
 * cannot exceed. Not thread-safe; an arena belongs to one thread at a time.
 */
#pragma once

#include <stddef.h>

struct chi_arena_block;

struct chi_arena {
	struct chi_arena_block *blocks; /* newest first */
	size_t used;			/* bytes handed out since the last reset */
	size_t budget;			/* most bytes that may be handed out between resets */
};

/* Takes no memory yet. `budget` in bytes. */
void chi_arena_init(struct chi_arena *arena, size_t budget);

/* Frees everything. Harmless on a zeroed or already deinitialised arena. */
void chi_arena_deinit(struct chi_arena *arena);

/* Overwrites all that was handed out, which stays so: it held a secret. */
void chi_arena_wipe(struct chi_arena *arena);

/* All pointers handed out become invalid; one block is kept for reuse. */
void chi_arena_reset(struct chi_arena *arena);

/* `size` bytes, aligned for any type, not zeroed; NULL when the budget or the memory is
 * exhausted. Size 0 gives a valid pointer. */
void *chi_arena_alloc(struct chi_arena *arena, size_t size);

/* `count` elements of `size` bytes, zeroed; NULL also if the product overflows. */
void *chi_arena_array(struct chi_arena *arena, size_t count, size_t size);

/* Bytes of memory that it has, used or not. */
size_t chi_arena_held(const struct chi_arena *arena);

/* A copy of `len` bytes with a NUL after it. */
char *chi_arena_text(struct chi_arena *arena, const void *bytes, size_t len);
