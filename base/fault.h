/* SPDX-License-Identifier: MIT */
/* Filling in `struct chi_fault`, the text that goes with a failure. */
#pragma once

#include "base/attr.h"
#include "chistore/types.h"

/*
 * Writes the text (cut at CHI_FAULT_SIZE - 1 bytes, never inside a UTF-8 sequence; control
 * characters become '?') and returns `status`, so that callers can say
 *
 *	return chi_fail(fault, -CHI_EFEN, "rank %d has %d squares", rank, n);
 *
 * `fault` may be NULL.
 */
CHI_PRINTF(3, 4) int chi_fail(struct chi_fault *fault, int status, const char *format, ...);

/* The text for `status` alone, when nothing more is known. Returns `status`. */
int chi_fault_plain(struct chi_fault *fault, int status);

/* What an errno of a file that is written means: -CHI_EFULL (no room, or a limit of size),
 * -CHI_ENOMEM, else -CHI_EIO. */
CHI_MUSTUSE int chi_fault_errno(int error);

/* Copies whole UTF-8 sequences of `text` while they fit into `size` bytes with the NUL at the end;
 * a control character, C1 included, or a stray byte becomes one '?'. `out` may be `text` itself. */
void chi_text_clean(char *out, size_t size, const char *text);
