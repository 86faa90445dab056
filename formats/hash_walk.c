/* SPDX-License-Identifier: MIT */
#include "formats/hash_walk.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/polyglot/polyglot.h"

static const struct chi_hash_moves none;

int chi_hash_walk_init(struct chi_hash_walk *walk, size_t n)
{
	size_t bits = 64;
	while (bits < 16 * n) {
		bits *= 2;
	}
	walk->mask = bits - 1;
	walk->filter = calloc(bits / 64, sizeof(*walk->filter));
	return walk->filter != NULL ? CHI_OK : -CHI_ENOMEM;
}

void chi_hash_walk_deinit(struct chi_hash_walk *walk)
{
	free(walk->filter);
	free(walk->queue);
}

void chi_hash_walk_note(struct chi_hash_walk *walk, uint64_t hash)
{
	size_t bit = (size_t)hash & walk->mask;
	walk->filter[bit / 64] |= UINT64_C(1) << bit % 64;
}

bool chi_hash_walk_may(const struct chi_hash_walk *walk, uint64_t hash)
{
	size_t bit = (size_t)hash & walk->mask;
	return (walk->filter[bit / 64] >> bit % 64 & 1) != 0;
}

int chi_hash_walk_push(struct chi_hash_walk *walk, const struct chi_position *position,
		       uint64_t place)
{
	if (chi_grow(&walk->queue, &walk->room, walk->tail + 1, sizeof(*walk->queue)) < 0) {
		return -CHI_ENOMEM;
	}
	struct chi_hashed *hashed = &walk->queue[walk->tail++];
	*hashed = (struct chi_hashed){.place = place};
	chi_key_encode(position, &hashed->key);
	return CHI_OK;
}

int chi_hash_walk_root(struct chi_hash_walk *walk, const struct chi_position *position)
{
	int rc = walk->look(walk, position, position->ep);
	return rc == CHI_NONE ? chi_hash_walk_expand(walk, position, &none) : rc;
}

static bool is_played(const struct chi_hash_moves *played, chi_move move)
{
	size_t i = 0;
	while (i < played->n && played->moves[i] != move) {
		i++;
	}
	return i < played->n;
}

/* The position after a move. */
static int go(struct chi_hash_walk *walk, const struct chi_position *position, chi_move move,
	      bool played)
{
	struct chi_position next;
	chi_position_play(position, move, &next);
	int rc = walk->look(walk, &next, chi_polyglot_passed(position, move));
	return rc == CHI_NONE && played ? chi_hash_walk_expand(walk, &next, &none)
	       : rc < 0			? rc
					: CHI_OK;
}

/* Recursion ends after one step: no move is `played` in a position that is not in the file. */
int chi_hash_walk_expand(struct chi_hash_walk *walk, const struct chi_position *position,
			 const struct chi_hash_moves *played)
{
	struct chi_move_list list;
	int rc = CHI_OK;
	chi_movegen_legal(position, &list);
	for (size_t i = 0; rc == CHI_OK && i < list.n; i++) {
		rc = go(walk, position, list.moves[i], is_played(played, list.moves[i]));
	}
	return rc;
}

void chi_hash_moves_add(struct chi_hash_moves *played, chi_move move)
{
	if (!is_played(played, move) && played->n < CHI_MOVES_MAX) {
		played->moves[played->n++] = move;
	}
}

int chi_hash_walk_run(struct chi_hash_walk *walk, chi_hashed_take *take, void *context,
		      const volatile sig_atomic_t *cancel)
{
	int rc = chi_hash_walk_root(walk, &chi_position_initial);
	while (rc == CHI_OK && walk->head < walk->tail) {
		struct chi_hashed hashed = walk->queue[walk->head++];
		struct chi_position position;
		rc = cancel != NULL && *cancel != 0 ? -CHI_ECANCELED
						    : chi_key_decode(&hashed.key, &position, NULL);
		rc = rc == CHI_OK ? walk->visit(walk, &hashed, &position, take, context) : rc;
	}
	return rc;
}
