/* SPDX-License-Identifier: MIT */
/* Random legal games, without a position twice. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/movegen.h"
#include "chess/position.h"
#include "chistore/types.h"

/* Positions that were there before: open addressing, never more than half full; a slot with len 0
 * is free. Zeroed at first; grows as it fills. */
struct bench_seen {
	struct chi_key *slots;
	size_t n_slots;
	size_t n;
};

/* True if the key was not there before. Ends the program if memory does not suffice. */
bool bench_seen_add(struct bench_seen *seen, const struct chi_key *key);
void bench_seen_free(struct bench_seen *seen);

/* One of the moves, of which there is at least one: of three drawn the first that captures, else
 * the last, so that the pieces thin out as they do between players. */
chi_move bench_draw_move(const struct chi_position *position, const struct chi_move_list *list,
			 uint64_t *state);
