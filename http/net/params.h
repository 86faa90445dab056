/* SPDX-License-Identifier: MIT */
/* The parameters of a request: what is after the '?', or the body of a form, decoded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/types.h"

#define PARAMS_MAX 128

struct param {
	const char *name; /* UTF-8, NUL-terminated, without control characters but tabs and line
			     ends, as the value */
	const char *value;
};

struct params {
	struct param *list; /* in the order given */
	size_t n;
};

/*
 * Appends those of `text`, "a=b&c=d%20e+f", which are copied into the arena. -CHI_ESYNTAX: an
 * escape that is none, bytes that are no text; -CHI_ETOOBIG: more than PARAMS_MAX; -CHI_ENOMEM.
 */
CHI_MUSTUSE int params_parse(struct params *params, const char *text, size_t len,
			     struct chi_arena *arena, struct chi_fault *fault);

/* Decodes %-escapes; '+' is a blank if `form`. NULL: it is no text, or there is no memory. */
char *params_decode(const char *text, size_t len, bool form, struct chi_arena *arena);

/* The last of that name, as clients repeat options to change them; NULL: not there, or empty. */
const char *params_get(const struct params *params, const char *name);
/* The same, and "" if it is empty. */
const char *params_given(const struct params *params, const char *name);

/* 1: "1", true, yes, on. 0: "0", false, no, off, "". -1: neither. */
int params_truth(const char *value);

/* True if it is there, and one of the first. */
bool params_flag(const struct params *params, const char *name);

/* A number from `least` to `most`, `initial` if it is not there. -CHI_EINVAL. */
CHI_MUSTUSE int params_number(const struct params *params, const char *name, uint64_t least,
			      uint64_t most, uint64_t initial, uint64_t *out,
			      struct chi_fault *fault);
