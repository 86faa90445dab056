/* SPDX-License-Identifier: MIT */
/* Material signatures (KRPKR, KRPvKR) and the filter that works on key bytes undecoded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chistore/types.h"

/*
 * Reads a signature: the letters K Q R B N P in any order and number, White's first, Black's
 * from the second K on or, if 'v' stands between, behind it ("vK" and "Kv" leave a side empty or
 * kingless). -CHI_ESYNTAX says what is wrong. At most 32 letters.
 */
CHI_MUSTUSE int chi_material_parse(const char *text, size_t len, struct chi_material *out,
				   struct chi_fault *fault);

/* Prints White, 'v', Black, each in the order K Q R B N P; NUL-terminated; returns the length. */
#define CHI_MATERIAL_TEXT_SIZE 40
size_t chi_material_print(const struct chi_material *material, char out[CHI_MATERIAL_TEXT_SIZE]);

/*
 * True if the position's key passes everything in the filter that the key alone can tell, i.e.
 * all but games_min. Works on the key's bytes (a well-shaped key, see chi_key_shape_ok). Thread
 * safe, allocates nothing.
 */
bool chi_filter_matches_key(const struct chi_filter *filter, const uint8_t *key, size_t len);

/* True if chi_filter_matches_key can be skipped: the filter asks nothing of the key. */
bool chi_filter_ignores_key(const struct chi_filter *filter);

/* CHI_OK, or -CHI_EINVAL naming the field out of range (outside data: command line, wire). */
CHI_MUSTUSE int chi_filter_check(const struct chi_filter *filter, struct chi_fault *fault);
