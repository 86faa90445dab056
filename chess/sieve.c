/* SPDX-License-Identifier: MIT */
/* What a filter asks of keys, computed once. */
#include "chess/sieve.h"

#include "chess/material.h"

#define PIECES_MAX 32

static uint64_t pack(const uint8_t white[CHI_KINDS], const uint8_t black[CHI_KINDS])
{
	uint64_t packed = 0;
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		packed += CHI_SIEVE_ONE(CHI_WHITE, kind) * white[kind] +
			  CHI_SIEVE_ONE(CHI_BLACK, kind) * black[kind];
	}
	return packed;
}

/* What each byte adds, two codes of key.h. */
static void fill_pairs(uint64_t pair[256])
{
	static const uint64_t value[16] = {
		CHI_SIEVE_ONE(CHI_BLACK, CHI_KING), CHI_SIEVE_ONE(CHI_WHITE, CHI_BISHOP),
		CHI_SIEVE_ONE(CHI_WHITE, CHI_KING), CHI_SIEVE_ONE(CHI_WHITE, CHI_KNIGHT),
		CHI_SIEVE_ONE(CHI_WHITE, CHI_PAWN), CHI_SIEVE_ONE(CHI_WHITE, CHI_QUEEN),
		CHI_SIEVE_ONE(CHI_WHITE, CHI_ROOK), CHI_SIEVE_ONE(CHI_WHITE, CHI_ROOK),
		UINT64_C(1) << CHI_SIEVE_PASSED,    CHI_SIEVE_ONE(CHI_BLACK, CHI_BISHOP),
		CHI_SIEVE_ONE(CHI_BLACK, CHI_KING), CHI_SIEVE_ONE(CHI_BLACK, CHI_KNIGHT),
		CHI_SIEVE_ONE(CHI_BLACK, CHI_PAWN), CHI_SIEVE_ONE(CHI_BLACK, CHI_QUEEN),
		CHI_SIEVE_ONE(CHI_BLACK, CHI_ROOK), CHI_SIEVE_ONE(CHI_BLACK, CHI_ROOK),
	};
	for (unsigned byte = 0; byte < 256; byte++) {
		pair[byte] = value[byte >> 4] + value[byte & 15];
	}
}

void chi_sieve_init(struct chi_sieve *sieve, const struct chi_filter *filter)
{
	const struct chi_material *material = &filter->material;
	uint32_t least = filter->pieces_min > 0 ? filter->pieces_min : 1;
	uint32_t most = filter->pieces_max > 0 ? filter->pieces_max : PIECES_MAX;
	sieve->has_material = filter->has_material;
	sieve->side = filter->side;
	sieve->reads_pieces = filter->has_material || filter->side != CHI_SIDE_ANY;
	sieve->idle = !sieve->reads_pieces && filter->pieces_min == 0 && filter->pieces_max == 0;
	if (filter->has_material) {
		uint32_t total = (uint32_t)chi_material_total(material);
		least = least > total ? least : total;
		most = most < total ? most : total;
		sieve->wanted[0] = pack(material->white, material->black);
		sieve->wanted[1] = filter->either_colour ? pack(material->black, material->white)
							 : sieve->wanted[0];
		fill_pairs(sieve->pair);
	}
	if (least > most) {
		/* Nothing passes: no key has so many pieces. */
		least = PIECES_MAX + 1;
		most = least;
	}
	sieve->least = least;
	sieve->span = most - least;
}
