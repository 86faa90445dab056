/* SPDX-License-Identifier: MIT */
/* The checksum of records and entries, inline for the loops that do little else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/attr.h"

/* Up to here key and value are copied together and hashed at once, which for the usual record
 * of a few bytes is several times faster than the streaming form with its large state. */
#define CHI_HASH_KEY   32
#define CHI_HASH_VALUE 256

/* Of key and value that lie apart. */
uint64_t chi_checksum_apart(const uint8_t *key, size_t key_len, const uint8_t *value, size_t len);

CHI_INLINE uint64_t chi_checksum_inline(const uint8_t *key, size_t key_len, const uint8_t *value,
					size_t len)
{
	/* LMDB writes an entry's key and value side by side. */
	if (CHI_LIKELY(key + key_len == value)) {
		return XXH3_64bits(key, key_len + len);
	}
	return chi_checksum_apart(key, key_len, value, len);
}
