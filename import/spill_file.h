/* SPDX-License-Identifier: MIT */
/*
 * Pieces of bytes put by in a file without a name, to be read again in the order they came: what a
 * session was fed and may not apply yet. Nothing is left behind however the process ends.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "chistore/types.h"

struct chi_spill_file {
	FILE *file;
	struct chi_buffer piece; /* the one read last */
};

/* The longest piece. */
#define CHI_SPILL_FILE_PIECE_MAX (8u << 20)

/* `dir`: where the file may stand. On a zeroed spool. -CHI_EFULL, -CHI_EIO, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_spill_file_open(struct chi_spill_file *spill_file, const char *dir,
				    struct chi_fault *fault);

/* Harmless on a zeroed spool. */
void chi_spill_file_close(struct chi_spill_file *spill_file);

CHI_MUSTUSE int chi_spill_file_put(struct chi_spill_file *spill_file, const void *bytes, size_t len,
				   struct chi_fault *fault);

/* From here on pieces are read, from the first. */
CHI_MUSTUSE int chi_spill_file_rewind(struct chi_spill_file *spill_file, struct chi_fault *fault);

/* The next piece, until the next call; CHI_NONE behind the last. -CHI_EIO, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_spill_file_get(struct chi_spill_file *spill_file, const uint8_t **bytes,
				   size_t *len, struct chi_fault *fault);
