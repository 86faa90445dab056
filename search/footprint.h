/* SPDX-License-Identifier: MIT */
/*
 * The positions that some games reached, found by playing these again: of a player's games that
 * takes a fraction of a walk over all positions. A position that is not stored may be among them,
 * and one that the store does not know to be reached by a game, since it was imported up to an
 * earlier ply: their user asks the positions' lists. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/among.h"
#include "store/store.h"

struct chi_footprint;

/* Positions that are sorted at once: more keep a server from its other clients. */
#define CHI_FOOTPRINT_MAX	 (UINT32_C(1) << 20)
#define CHI_FOOTPRINT_SERVED_MAX (UINT32_C(1) << 16)

/* Whether playing the games, which are found, costs less than walking over so many positions, and
 * leaves `most` at most. */
bool chi_footprint_pays(const struct chi_among *among, uint64_t positions, uint32_t most);

/* `among` must outlive it. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_footprint_new(const struct chi_among *among, uint32_t most,
				  struct chi_footprint **out);
/* NULL is fine. */
void chi_footprint_free(struct chi_footprint *footprint);

/* Plays games, some in a step, in a snapshot, which may be another one in each call. CHI_OK: call
 * again; CHI_NONE: all are played; negative: they cannot be, the positions must be walked. */
CHI_MUSTUSE int chi_footprint_step(struct chi_footprint *footprint, struct chi_read *read,
				   uint64_t *steps);

/* After that, as chi_scan_given takes them; valid as long as it is. NULL: not all are played. */
const uint8_t *chi_footprint_keys(const struct chi_footprint *footprint, size_t *n);

/* Bytes that it takes, about. */
size_t chi_footprint_memory(const struct chi_footprint *footprint);
