/* SPDX-License-Identifier: MIT */
/* Material signatures (KRPKR, KRPvKR), and what a filter may ask for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chistore/types.h"

/*
 * Reads a signature: the letters K Q R B N P in any order and number, White's first, Black's
 * from the second K on or, if there is a 'v' between, after it ("vK" and "Kv" leave a side empty or
 * kingless). -CHI_ESYNTAX says what is wrong. At most 32 letters.
 */
CHI_MUSTUSE int chi_material_parse(const char *text, size_t len, struct chi_material *out,
				   struct chi_fault *fault);

/* How many pieces it has. */
int chi_material_total(const struct chi_material *material);

/* Prints White, 'v', Black, each in the order K Q R B N P; NUL-terminated; returns the length. */
#define CHI_MATERIAL_TEXT_SIZE 40
size_t chi_material_print(const struct chi_material *material, char out[CHI_MATERIAL_TEXT_SIZE]);

/* CHI_OK, or -CHI_EINVAL naming the field out of range (outside data: command line, wire). */
CHI_MUSTUSE int chi_filter_check(const struct chi_filter *filter, struct chi_fault *fault);
