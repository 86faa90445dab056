/* SPDX-License-Identifier: MIT */
/*
 * Games that are likely one: the same moves from the same start or the first of these, players
 * whose names are alike, dates within days of each other or not known. Steps and threads as in
 * search/games.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/search.h"
#include "chistore/types.h"
#include "store/store.h"

struct chi_twins;

/* Errors as chi_game_walk_open. */
CHI_MUSTUSE int chi_twins_open(struct chi_read *read, const struct chi_twin_spec *spec,
			       struct chi_twins **out, struct chi_fault *fault);
void chi_twins_close(struct chi_twins *twins);

/* CHI_OK: call again; CHI_NONE: all are found. */
CHI_MUSTUSE int chi_twins_step(struct chi_twins *twins, uint64_t steps);

/* After CHI_NONE: the next group, valid until the next call; the groups come by their first number.
 * CHI_NONE: there are no more. */
CHI_MUSTUSE int chi_twins_next(struct chi_twins *twins, struct chi_twin_group *out);

/* After CHI_NONE: lets go of the snapshot, which may end then; groups come all the same. */
void chi_twins_detach(struct chi_twins *twins);

/* Where the groups are, and going back there. */
size_t chi_twins_place(const struct chi_twins *twins);
void chi_twins_go_back(struct chi_twins *twins, size_t place);

/* Bytes that it takes, about. */
size_t chi_twins_memory(const struct chi_twins *twins);

/* As chi_game_walk_unknown. */
const char *chi_twins_unknown(const struct chi_twins *twins, size_t i);
