/* SPDX-License-Identifier: MIT */
/* Memory for what the tests of a group read, from the group's start to its end. */
#pragma once

#include "base/arena.h"

/* More than the longest record, so that only a reader's own limits refuse anything. */
#define ARENA_BUDGET ((size_t)64 << 20)

static struct chi_arena arena;

static inline int arena_setup(void **state)
{
	(void)state;
	chi_arena_init(&arena, ARENA_BUDGET);
	return 0;
}

static inline int arena_teardown(void **state)
{
	(void)state;
	chi_arena_deinit(&arena);
	return 0;
}
