/* SPDX-License-Identifier: MIT */
/*
 * Games that are likely one: the same moves from the same start, players whose names are alike,
 * dates within days of each other or not known. Steps and threads as in search/games.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "store/store.h"

struct chi_twins_spec {
	const char *filter; /* twins are looked for among these games */
	size_t filter_len;
	uint32_t days;	/* dates may be so many apart */
	uint32_t plies; /* shorter games are left out; 0: none */
};

struct chi_twins;

/* Errors as chi_games_open. */
CHI_MUSTUSE int chi_twins_open(struct chi_read *read, const struct chi_twins_spec *spec,
			       struct chi_twins **out, struct chi_fault *fault);
void chi_twins_close(struct chi_twins *twins);

/* CHI_OK: call again; CHI_NONE: all are found. */
CHI_MUSTUSE int chi_twins_step(struct chi_twins *twins, uint64_t steps);

/* After CHI_NONE: the next group's numbers, ascending, two or more, valid until the next call; the
 * groups come by their first number. CHI_NONE: there are no more. */
CHI_MUSTUSE int chi_twins_next(struct chi_twins *twins, const uint32_t **numbers, size_t *n);

/* Bytes that it takes, about. */
size_t chi_twins_memory(const struct chi_twins *twins);

/* As chi_games_unknown. */
const char *chi_twins_unknown(const struct chi_twins *twins, size_t i);
