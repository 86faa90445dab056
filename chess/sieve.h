/* SPDX-License-Identifier: MIT */
/*
 * A filter made ready to look at keys by the million: what it asks of the key alone, i.e. all but
 * games_min, is answered from the key's bytes, nothing of which is decoded. Most keys are
 * recognised by the number of their pieces, which is that of the bits in their mask; whose move it
 * is, by whether any nibble is 0; the material, by one addition for each two pieces.
 *
 * Inline, for loops that do little else. Thread safe, allocates nothing.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "chess/bitboard.h"
#include "chistore/types.h"

/*
 * Pieces by kind in one number: twelve counters of five bits, White's pawn lowest, kinds in the
 * order of chi_material; above them, four bits for pawns that may be taken en passant. 32 of one
 * kind carry into the next counter, which only another total of pieces could confuse.
 */
#define CHI_SIEVE_ONE(colour, kind)                                                                \
	(UINT64_C(1) << (5 * ((unsigned)(colour)*CHI_KINDS + (unsigned)(kind))))
#define CHI_SIEVE_PASSED 60

struct chi_sieve {
	bool idle;	   /* asks nothing of a key */
	bool reads_pieces; /* asks for more than their number */
	bool has_material;
	uint8_t side;	    /* enum chi_side */
	uint32_t least;	    /* pieces */
	uint32_t span;	    /* so many more at most */
	uint64_t wanted[2]; /* material that passes */
	uint64_t pair[256]; /* what a byte of two pieces adds; only with has_material */
};

/* `filter` has passed chi_filter_check. */
void chi_sieve_init(struct chi_sieve *sieve, const struct chi_filter *filter);

/* The pieces of a well-shaped key, 1 to 32 (see chi_key_shape_ok); 0: it is not well-shaped. */
static inline uint32_t chi_sieve_count(const uint8_t *key, size_t len)
{
	uint64_t mask;
	if (CHI_UNLIKELY(len < CHI_KEY_MIN)) {
		return 0;
	}
	memcpy(&mask, key, sizeof(mask)); /* the order of the bytes does not matter here */
	uint32_t n = (uint32_t)chi_popcount(mask);
	bool good = n - 1 < 32 && len == 8 + (n + 1) / 2 && (key[len - 1] & 15 & -(n & 1)) == 0;
	return good ? n : 0;
}

/* Bit 4i is set if nibble i is not 0. */
static inline uint64_t chi_sieve_set(uint64_t nibbles)
{
	nibbles |= nibbles >> 1;
	return (nibbles | nibbles >> 2) & UINT64_C(0x1111111111111111);
}

/* True if one of the `n` pieces is 0, the black king whose side is to move. After the last piece
 * of an odd number there is one nibble that must not be looked at. */
static inline bool chi_sieve_black_moves(const uint8_t *key, size_t len, uint32_t n)
{
	const uint64_t all = UINT64_C(0x1111111111111111);
	uint64_t last;
	memcpy(&last, key + len - sizeof(last), sizeof(last));
	last = be64toh(last) | (n & 1);
	if (n <= 16) {
		/* Bytes of the mask are before the pieces; they are in the upper bits. */
		uint64_t pieces = all >> (64 - 4 * (n + (n & 1)));
		return (chi_sieve_set(last) & pieces) != pieces;
	}
	uint64_t first;
	memcpy(&first, key + 8, sizeof(first));
	/* The two overlap where there are less than 31 pieces, which does no harm. */
	return (chi_sieve_set(first) & chi_sieve_set(last)) != all;
}

/* Pieces by kind, as `wanted` has them. */
static inline uint64_t chi_sieve_material(const struct chi_sieve *sieve, const uint8_t *key,
					  size_t len, uint32_t n, bool black_moves)
{
	uint64_t sum = 0;
	for (size_t i = 8; i < len; i++) {
		sum += sieve->pair[key[i]];
	}
	/* The padding looks like a black king. */
	sum -= CHI_SIEVE_ONE(CHI_BLACK, CHI_KING) & -(uint64_t)(n & 1);
	uint64_t passed = sum >> CHI_SIEVE_PASSED;
	sum &= (UINT64_C(1) << CHI_SIEVE_PASSED) - 1;
	/* The pawn that may be taken en passant is White's if Black is to move. */
	return sum + passed * (black_moves ? CHI_SIEVE_ONE(CHI_WHITE, CHI_PAWN)
					   : CHI_SIEVE_ONE(CHI_BLACK, CHI_PAWN));
}

/* True if a well-shaped key of `n` pieces passes. */
static inline bool chi_sieve_passes(const struct chi_sieve *sieve, const uint8_t *key, size_t len,
				    uint32_t n)
{
	if (CHI_LIKELY(n - sieve->least > sieve->span)) {
		return false;
	}
	if (!sieve->reads_pieces) {
		return true;
	}
	bool black_moves = chi_sieve_black_moves(key, len, n);
	if (sieve->side == (black_moves ? CHI_SIDE_WHITE : CHI_SIDE_BLACK)) {
		return false;
	}
	if (!sieve->has_material) {
		return true;
	}
	uint64_t found = chi_sieve_material(sieve, key, len, n, black_moves);
	return found == sieve->wanted[0] || found == sieve->wanted[1];
}
