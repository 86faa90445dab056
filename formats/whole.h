/* SPDX-License-Identifier: MIT */
/* A file of entries by hash, which can only be asked, as a whole in memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* The largest file that is read so, in bytes. */
#define CHI_WHOLE_MAX (UINT64_C(4) << 30)

/*
 * Reads a file, "-" for standard input, which may be compressed (source.h); *bytes is the caller's
 * to free, NULL for none. `what` names such a file in the fault. -CHI_ENOSTORE (no such file),
 * -CHI_EACCES, -CHI_EIO, -CHI_ENOMEM, -CHI_ETOOBIG.
 */
CHI_MUSTUSE int chi_whole_read(const char *path, const char *what, uint8_t **bytes, size_t *len,
			       struct chi_fault *fault);
