/* SPDX-License-Identifier: MIT */
/* Counting the leaves of the tree of legal moves: the proof that the generator makes them all. */
#include "tests/chess/perft.h"

#include "chess/movegen.h"

uint64_t chi_perft(const struct chi_position *position, unsigned depth)
{
	if (depth == 0) {
		return 1;
	}
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	/* The last ply is counted, not played. */
	if (depth == 1) {
		return list.n;
	}
	uint64_t nodes = 0;
	for (size_t i = 0; i < list.n; i++) {
		struct chi_position next;
		chi_position_play(position, list.moves[i], &next);
		nodes += chi_perft(&next, depth - 1);
	}
	return nodes;
}
