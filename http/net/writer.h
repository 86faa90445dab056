/* SPDX-License-Identifier: MIT */
/*
 * Text that grows, and JSON written into it from left to right: no tree is built, commas are put
 * where they belong. The first failure (memory, the limit) stays, and what follows it is dropped.
 *
 *	out_object(w, NULL);
 *	out_number(w, "games", 3);
 *	out_array(w, "moves");
 *	out_text(w, NULL, "e4");
 *	out_end(w, ']');
 *	out_end(w, '}');
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buffer.h"

struct writer {
	struct chi_buffer buffer;
	bool failed;
	bool comma; /* a value stands before on this level */
};

void out_init(struct writer *w, size_t limit);
void out_deinit(struct writer *w);

/* Drops the content, keeps the memory. */
void out_reset(struct writer *w);

/* As it is. */
void out_bytes(struct writer *w, const void *bytes, size_t len);
void out_raw(struct writer *w, const char *text);
CHI_PRINTF(2, 3) void out_format(struct writer *w, const char *format, ...);

/* Values of JSON, each with the name of its member, or NULL in an array and outermost. */
void out_object(struct writer *w, const char *name);
void out_array(struct writer *w, const char *name);
void out_end(struct writer *w, char bracket);
void out_number(struct writer *w, const char *name, uint64_t value);
void out_integer(struct writer *w, const char *name, int64_t value);
/* With `places` digits after the point, without zeroes at the end. */
void out_real(struct writer *w, const char *name, double value, int places);
void out_bool(struct writer *w, const char *name, bool value);
void out_null(struct writer *w, const char *name);
/* NULL is null. Bytes that are no UTF-8 become '?'. */
void out_text(struct writer *w, const char *name, const char *text);
void out_text_n(struct writer *w, const char *name, const char *text, size_t len);
/* A value that is JSON already. */
void out_json(struct writer *w, const char *name, const char *json);
/* Ends a line of NDJSON. */
void out_newline(struct writer *w);
