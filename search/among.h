/* SPDX-License-Identifier: MIT */
/*
 * Positions that games of a filter reached: which games these are is found first, as sets of their
 * numbers, one for each result; then a position's list is compared with them. For scans and counts
 * of positions. One thread; steps as in search/games.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "store/archive.h"
#include "store/store.h"

struct chi_among;

/* Errors as chi_game_walk_open. Copies the filter. */
CHI_MUSTUSE int chi_among_open(struct chi_read *read, const char *filter, size_t len,
			       struct chi_among **out, struct chi_fault *fault);
/* NULL is fine. */
void chi_among_close(struct chi_among *among);

/*
 * Lets go of the snapshot, which may end then; with another one the search goes on after the games
 * that it has looked at. Once the games are found it needs none, and both do nothing. Detaching is
 * fine after a failed attach.
 */
void chi_among_detach(struct chi_among *among);
CHI_MUSTUSE int chi_among_attach(struct chi_among *among, struct chi_read *read,
				 struct chi_fault *fault);

/* False: nothing was looked at in this snapshot so far, and what was prepared would be lost. */
bool chi_among_may_detach(const struct chi_among *among);

/* Bytes that it takes, about. */
size_t chi_among_memory(const struct chi_among *among);

/* As chi_game_walk_unknown. */
const char *chi_among_unknown(const struct chi_among *among, size_t i);

/* Looks for the games. CHI_OK: call again; CHI_NONE: they are found. *steps shrink. */
CHI_MUSTUSE int chi_among_step(struct chi_among *among, uint64_t *steps);

/* After that: whether the game is one of them. */
bool chi_among_has(const struct chi_among *among, uint32_t number);

/* How many there are; the first of them from a number on, false: there is none. */
uint64_t chi_among_count(const struct chi_among *among);
bool chi_among_next(const struct chi_among *among, uint32_t from, uint32_t *out);

/* The scan, which needs it from its first row on, delivers only positions that one of the games
 * reached, and with what these did there (chi_scan_judged), or, `whole`, all. The scan must be
 * closed first. */
void chi_among_judge(struct chi_among *among, struct chi_scan *scan, bool whole);

/* The same for counting, as chi_reach_spec.take with the `among` as its context. */
int chi_among_met(void *context, unsigned thread, const struct chi_posting *entries, size_t n);
