/* SPDX-License-Identifier: MIT */
/* Attributes of functions and variables, and the cleanup idiom for locals. */
#pragma once

#include <stdlib.h>
#include <unistd.h>

/* Checks the arguments of a printf-like function. */
#define CHI_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))

/*
 * Calls `function(&variable)` when the variable leaves its scope, so that early returns leak
 * nothing. A constructor ends with `*out = x; x = NULL; return CHI_OK;`.
 */
#define _cleanup_(function) __attribute__((cleanup(function)))

/* For locals from malloc: `_cleanup_(chi_freep) char *x = NULL;` */
static inline void chi_freep(void *pointer)
{
	free(*(void **)pointer);
}

/* For descriptors; -1: none. */
static inline void chi_closep(const int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
}

/* For functions whose arguments are constants where they are called: each call has code of its own.
 */
#define CHI_INLINE static inline __attribute__((__always_inline__))

#define CHI_LIKELY(x)	__builtin_expect(!!(x), 1)
#define CHI_UNLIKELY(x) __builtin_expect(!!(x), 0)

#define CHI_COUNT(array) (sizeof(array) / sizeof((array)[0]))
