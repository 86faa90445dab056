/* SPDX-License-Identifier: MIT */
/*
 * What is asked of a position's mask, the first eight bytes of its key: squares that must be
 * occupied or empty, and the number of pieces. What does not fit is left out before any piece is
 * decoded.
 *
 * Allocates nothing; one that is filled may be read by any number of threads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Pieces on a board, at most. */
#define CHI_MASK_PIECES 32

struct chi_mask_want {
	uint64_t decides; /* squares that are asked about, as bits of the mask read little-endian */
	uint64_t occupied; /* those of them that hold a piece; the others are empty */
	uint32_t least;	   /* pieces */
	uint32_t span;	   /* so many more at most */
};

/* A mask fits if it fits one of these; n = 0: none does. */
struct chi_mask_wants {
	uint32_t n; /* 0..4 */
	struct chi_mask_want any[4];
};

/* Asks nothing. */
void chi_masks_init(struct chi_mask_wants *wants);

/* Every mask of 1 to 32 pieces fits. */
bool chi_masks_idle(const struct chi_mask_wants *wants);

/* Asks for `least` to `least + span` pieces too, up to some thousand; ways that no number of pieces
 * fits are dropped. */
void chi_masks_bound(struct chi_mask_wants *wants, uint32_t least, uint32_t span);

/* `mask` is read little-endian, and has so many bits. */
static inline bool chi_mask_fits(const struct chi_mask_want *want, uint64_t mask, uint32_t pieces)
{
	return (mask & want->decides) == want->occupied && pieces - want->least <= want->span;
}

static inline bool chi_masks_fit(const struct chi_mask_wants *wants, uint64_t mask, uint32_t pieces)
{
	for (uint32_t i = 0; i < wants->n; i++) {
		if (chi_mask_fits(&wants->any[i], mask, pieces)) {
			return true;
		}
	}
	return false;
}
