/* SPDX-License-Identifier: MIT */
/* What is wrong with a message, and room for one. */
#include "proto/pbc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"

int chi_flaw_set(struct chi_flaw *flaw, int status, const char *reason, const char *path, ...)
{
	va_list args;
	va_start(args, path);
	/* A path that were too long would be cut; none is. */
	(void)vsnprintf(flaw->path, sizeof(flaw->path), path, args);
	va_end(args);
	flaw->reason = reason;
	return status;
}

void chi_flaw_under(struct chi_flaw *flaw, const char *prefix, ...)
{
	char inner[CHI_PATH_SIZE];
	memcpy(inner, flaw->path, sizeof(inner));
	va_list args;
	va_start(args, prefix);
	int n = vsnprintf(flaw->path, sizeof(flaw->path), prefix, args);
	va_end(args);
	size_t len = n > 0 && n < CHI_PATH_SIZE ? (size_t)n : 0;
	if (inner[0] != '\0') {
		(void)snprintf(flaw->path + len, sizeof(flaw->path) - len, ".%s", inner);
	}
}

int chi_flaw_fault(const struct chi_flaw *flaw, int status, struct chi_fault *fault)
{
	if (flaw->path[0] == '\0') {
		return chi_fail(fault, status, "%s", flaw->reason);
	}
	return chi_fail(fault, status, "%s: %s", flaw->path, flaw->reason);
}

int chi_flaw_memory(struct chi_flaw *flaw, const struct chi_arena *arena, size_t size)
{
	/* The arena rounds sizes up; what would not fit with the largest rounding is its budget's
	 * doing, regardless of malloc. */
	const size_t rounding = 64;
	size_t left = arena->used < arena->budget ? arena->budget - arena->used : 0;
	bool over = size > left || left - size < rounding;
	flaw->path[0] = '\0';
	flaw->lacks_memory = true;
	flaw->reason = over ? "unpacks to more memory than a message may take" : "out of memory";
	return over ? -CHI_ETOOBIG : -CHI_ENOMEM;
}

/* The buffer's own answer does not tell its limit from a lack of memory. */
int chi_pb_reserve(struct chi_buffer *out, size_t len, uint8_t **at)
{
	if (out->len > out->limit || len > out->limit - out->len) {
		return -CHI_ETOOBIG;
	}
	*at = chi_buffer_reserve(out, len);
	return *at != NULL ? CHI_OK : -CHI_ENOMEM;
}
