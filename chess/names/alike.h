/* SPDX-License-Identifier: MIT */
/* How likely two names are the same person's, or the same event's, written differently. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/names/words.h"

/* Scores, 0 for names that are not alike. */
enum chi_alike {
	CHI_ALIKE_NOT = 0,
	CHI_ALIKE_INITIAL_SPELT = 60, /* as INITIAL, the surname in another transliteration */
	CHI_ALIKE_INITIAL = 70, /* the surname, and initials or beginnings of the first names */
	CHI_ALIKE_LETTER = 75,	/* a long surname but for one letter, the same first name */
	CHI_ALIKE_SPELT = 80,	/* first name and surname in another transliteration */
	CHI_ALIKE_SHORTER = 90, /* surname and first name, one has further first names */
	CHI_ALIKE_WORDS = 95,	/* the same words, in whatever order */
};

/* Two players, or annotators. A surname alone is like no other name. */
enum chi_alike chi_player_alike(const struct chi_name_words *a, const struct chi_name_words *b);

/* Two names that are alike, or of which one fits the other (chess/names/fits.h), or that were
 * joined to the same root, have a bit in common; few others have. `root`: 0: none. */
struct chi_name_mask {
	uint64_t bits[4];
};
void chi_player_alike_mask(const struct chi_name_words *words, uint32_t root,
			   struct chi_name_mask *out);

static inline bool chi_name_masks_share(const struct chi_name_mask *a,
					const struct chi_name_mask *b)
{
	return ((a->bits[0] & b->bits[0]) | (a->bits[1] & b->bits[1]) | (a->bits[2] & b->bits[2]) |
		(a->bits[3] & b->bits[3])) != 0;
}

/* Two events, sites, sources or rounds: WORDS, SPELT or NOT. */
enum chi_alike chi_title_alike(const struct chi_name_words *a, const struct chi_name_words *b);

/* Names that are alike have at least one of these numbers in common; few others have. Returns how
 * many there are. */
#define CHI_ALIKE_KEYS 32
size_t chi_player_alike_keys(const struct chi_name_words *words, uint64_t keys[CHI_ALIKE_KEYS]);
size_t chi_title_alike_keys(const struct chi_name_words *words, uint64_t keys[CHI_ALIKE_KEYS]);
