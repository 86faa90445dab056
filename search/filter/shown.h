/* SPDX-License-Identifier: MIT */
/*
 * The games that reached a stored position which fits a motif that positions answer: all positions
 * of the store are looked at, once each, however many games reached them. What was found outlives
 * snapshots. Private to the room; used by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/filter/numbers.h"
#include "search/filter/motif.h"
#include "store/store.h"

struct chi_shown_games;

/* `motif` is a positional one, and copied. `threads` look at positions, the caller's included; 0:
 * it alone. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_shown_new(const struct chi_motif *motif, unsigned threads,
			      struct chi_shown_games **out);
/* Detached, or NULL. */
void chi_shown_free(struct chi_shown_games *shown);

/* Goes on in a snapshot, which must outlive it until it is detached; also after a failed attach. */
CHI_MUSTUSE int chi_shown_attach(struct chi_shown_games *shown, struct chi_read *read);
/* NULL is fine. */
void chi_shown_detach(struct chi_shown_games *shown);

/* Looks at positions, some hundred a step; if others help, at some ten thousand for each thread at
 * least, and they end before it returns. CHI_OK: all were looked at; CHI_NONE: the steps are used
 * up. */
CHI_MUSTUSE int chi_shown_step(struct chi_shown_games *shown, uint64_t *steps);

/* After that, for games that it knows: those that came since it began are not among them. */
bool chi_shown_knows(const struct chi_shown_games *shown, uint32_t number);
bool chi_shown_has(const struct chi_shown_games *shown, uint32_t number);

/* How much was looked at, in thousandths. */
unsigned chi_shown_progress(const struct chi_shown_games *shown);

/* Bytes that it takes. */
size_t chi_shown_memory(const struct chi_shown_games *shown);
