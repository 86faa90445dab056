/* SPDX-License-Identifier: MIT */
/* Compresses a stream part by part: what was put in can be read from what has come out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct pack;

/* NULL: there is no memory. gzip, unless `zstd`. */
struct pack *pack_new(bool zstd);
void pack_free(struct pack *pack);

/* All of the bytes at once, level 1 to 9: their number in `out`, which has room for as many; 0:
 * they would not be fewer, or there is no memory. */
size_t pack_gzip(int level, const void *bytes, size_t len, void *out);

/* Appends what the bytes become; `last`: the stream ends. -CHI_ENOMEM, also over the
 * buffer's limit. */
CHI_MUSTUSE int pack_add(struct pack *pack, const void *bytes, size_t len, bool last,
			 struct chi_buffer *out);
