/* SPDX-License-Identifier: MIT */
/*
 * Unsigned integers of 384 bits, just enough arithmetic for an exact chi-square of 64-bit counts.
 * Results beyond 384 bits wrap; the callers' bounds exclude it.
 */
#pragma once

#include <stdint.h>

#define CHI_WIDE_LIMBS 6

struct chi_wide {
	uint64_t limb[CHI_WIDE_LIMBS]; /* least significant first */
};

static inline struct chi_wide chi_wide_of(uint64_t value)
{
	return (struct chi_wide){.limb = {value}};
}

static inline void chi_wide_multiply(struct chi_wide *wide, uint64_t factor)
{
	uint64_t carry = 0;
	for (int i = 0; i < CHI_WIDE_LIMBS; i++) {
		unsigned __int128 part = (unsigned __int128)wide->limb[i] * factor + carry;
		wide->limb[i] = (uint64_t)part;
		carry = (uint64_t)(part >> 64);
	}
}

static inline void chi_wide_add(struct chi_wide *wide, const struct chi_wide *other)
{
	uint64_t carry = 0;
	for (int i = 0; i < CHI_WIDE_LIMBS; i++) {
		unsigned __int128 part = (unsigned __int128)wide->limb[i] + other->limb[i] + carry;
		wide->limb[i] = (uint64_t)part;
		carry = (uint64_t)(part >> 64);
	}
}

/* `other` is at most `wide`. */
static inline void chi_wide_subtract(struct chi_wide *wide, const struct chi_wide *other)
{
	uint64_t borrow = 0;
	for (int i = 0; i < CHI_WIDE_LIMBS; i++) {
		unsigned __int128 part = (unsigned __int128)wide->limb[i] - other->limb[i] - borrow;
		wide->limb[i] = (uint64_t)part;
		borrow = (uint64_t)(part >> 64) & 1;
	}
}

static inline int chi_wide_compare(const struct chi_wide *a, const struct chi_wide *b)
{
	for (int i = CHI_WIDE_LIMBS - 1; i >= 0; i--) {
		if (a->limb[i] != b->limb[i]) {
			return a->limb[i] < b->limb[i] ? -1 : 1;
		}
	}
	return 0;
}
