/* SPDX-License-Identifier: MIT */
/*
 * What writers of the hammer write.
 *
 * A writer's batch is a *generation*: in one chi_put it gives all SET positions of the writer the
 * generation's number, and adds one position, the generation's *mark*, that no other generation
 * ever touches. So:
 *  - readers must find one and the same number in the whole set, and never a smaller one than
 *    before: anything else is half a batch, or a step back;
 *  - afterwards the marks 1..T must all be there, T being the number in the set, and T must not be
 *    below the last generation that was acknowledged: anything else is a lost write.
 * The statistic moves with the number too, so each generation changes both trees.
 *
 * A writer may add instead: one game to a position of its own, again and again, by marked writes
 * that the library repeats over killed daemons. Each must count once: there are never fewer games
 * than were acknowledged, and in the end as many.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chistore.h"

#define SET	    100 /* positions of a writer that every generation rewrites */
#define WRITERS_MAX 16
#define GENERATIONS (UINT64_C(1) << 24)

struct chi_key set_key(uint64_t writer, uint64_t slot);
struct chi_key mark_key(uint64_t writer, uint64_t generation);
/* The position that an adder adds games to. */
struct chi_key game_key(uint64_t adder);

/* What a generation puts under a key, and whether a row is that. */
struct chi_put_entry make_put(const struct chi_key *key, uint64_t generation);
bool row_is(const struct chi_row *row, uint64_t generation);

/* The number of a writer's set in *generation; false, with a line on standard error, if it has
 * several. A set that is not there yet has the number 0, in whole or not at all. */
bool one_generation(const struct chi_row *rows, uint64_t writer, uint64_t *generation);
