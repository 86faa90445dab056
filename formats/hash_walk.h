/* SPDX-License-Identifier: MIT */
/*
 * The walk over a file that holds hashes and no positions: a book, an engine's experience. It can
 * only be asked for a position, so it is walked breadth first from positions that are known: by
 * every legal move of those that it has, and by every reply to a move of it that leads to one that
 * it has not. In a book for one side alone every other position is such, and an engine learns where
 * it is its own turn. One thread at a time.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

/* A position that the file has, and where: what that means is the file's. */
struct chi_hashed {
	struct chi_key key;
	uint64_t place;
};

/* Moves that the file has in a position, once each. */
struct chi_hash_moves {
	size_t n;
	chi_move moves[CHI_MOVES_MAX];
};

/* Takes a position, with what the file says of it as a put, valid during the call. A negative
 * status ends the walk, which returns it. */
typedef int chi_hashed_take(void *context, const struct chi_put_entry *put);

struct chi_hash_walk {
	/* Pushes the position, unless it was before; CHI_NONE: the file does not have it. `ep`: its
	 * en passant square as the file's makers count it. */
	int (*look)(struct chi_hash_walk *walk, const struct chi_position *position, int ep);
	/* Goes on from a position, which is `hashed`, and hands on what there is. */
	int (*visit)(struct chi_hash_walk *walk, const struct chi_hashed *hashed,
		     const struct chi_position *position, chi_hashed_take *take, void *context);
	uint64_t *filter; /* bit `hash & mask` is set for each hash of the file */
	size_t mask;
	struct chi_hashed *queue; /* those from `head` to `tail` are to be visited */
	size_t head;
	size_t tail;
	size_t room;
};

/* `n` hashes are to be noted. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_hash_walk_init(struct chi_hash_walk *walk, size_t n);
void chi_hash_walk_deinit(struct chi_hash_walk *walk); /* zeroed is fine */

/* Most positions that are asked for are not in the file: one bit says so without a search. */
void chi_hash_walk_note(struct chi_hash_walk *walk, uint64_t hash);
bool chi_hash_walk_may(const struct chi_hash_walk *walk, uint64_t hash);

/* For `look`. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_hash_walk_push(struct chi_hash_walk *walk, const struct chi_position *position,
				   uint64_t place);

/* Begins at a position, which need not be in the file. -CHI_ENOMEM, as below. */
CHI_MUSTUSE int chi_hash_walk_root(struct chi_hash_walk *walk, const struct chi_position *position);

/* Goes on from one, by all legal moves. */
CHI_MUSTUSE int chi_hash_walk_expand(struct chi_hash_walk *walk,
				     const struct chi_position *position,
				     const struct chi_hash_moves *played);

/* Visits all from the roots, and the initial position, on. -CHI_ECANCELED: `cancel`, which may be
 * NULL, is not 0. */
CHI_MUSTUSE int chi_hash_walk_run(struct chi_hash_walk *walk, chi_hashed_take *take, void *context,
				  const volatile sig_atomic_t *cancel);

/* Legal moves are at most as many as there is room for in a position of a game; more are left out.
 */
void chi_hash_moves_add(struct chi_hash_moves *played, chi_move move);
