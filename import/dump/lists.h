/* SPDX-License-Identifier: MIT */
/*
 * The games of a dump beside its positions, both by ascending key: of each position the list of
 * its games as a store has it, and what those games say that the store has counted already.
 *
 * Where a store was made without rare positions, not all positions that its games reached are
 * there, and where one is, it need not count all of these games. They are listed as far as the
 * position's counts have room for them.
 */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "import/dump/carry.h"

struct chi_lists;

/* All items must have been given. `carried` and `plan` must outlive it. */
CHI_MUSTUSE int chi_lists_open(struct chi_carried *carried, const struct chi_carried_plan *plan,
			       struct chi_lists **out, struct chi_fault *fault);
/* NULL is fine. */
void chi_lists_close(struct chi_lists *lists);

/*
 * Goes to the position with that key, zeros after its bytes, greater than all before. *known:
 * counts, moves and plies of games that are known in the store; valid until the next call.
 * -CHI_ESYNTAX: a game reached a position on the way, which was passed over.
 */
CHI_MUSTUSE int chi_lists_reach(struct chi_lists *lists, const uint8_t key[CHI_KEY_MAX],
				struct chi_record *known, struct chi_fault *fault);

/* The position's list, ascending, until the next call. `record`: what is left without the known
 * ones. -CHI_ESYNTAX: it counts less than its games say. */
CHI_MUSTUSE int chi_lists_games(struct chi_lists *lists, const struct chi_record *record,
				struct chi_posting **games, size_t *n, struct chi_fault *fault);

/* What all games that must be in the list say of the position: counts, moves and plies, valid until
 * the next call. */
CHI_MUSTUSE int chi_lists_sum(struct chi_lists *lists, struct chi_record *sum);

/* The next position that a game reached; false: there is none. */
bool chi_lists_peek(const struct chi_lists *lists, struct chi_key *key);

/* For how many positions it was not certain which games they count: of those counted without rare
 * positions some were listed, the latest, and others not. In a store that was filled by imports
 * alone these are the ones; in one that others were merged into they need not be. */
uint64_t chi_lists_uncertain(const struct chi_lists *lists);
#define CHI_LISTS_UNCERTAIN                                                                        \
	"%" PRIu64                                                                                 \
	" positions count some of their games that were imported with --min-games, and "           \
	"others not: the latest are listed"

/* There are no more positions. */
CHI_MUSTUSE int chi_lists_end(struct chi_lists *lists, struct chi_fault *fault);
