/* SPDX-License-Identifier: MIT */
/*
 * Which moves the games of a position recommend: the one rule of every book (chistore-uci,
 * chessdb's interface, Polyglot's export).
 *
 * A move's weight is what Polyglot's own maker of books gives it: two for a win of the side to
 * move, one for a draw. Drawn by weight, moves come as often as strong players choose them. The
 * best move is that of the highest lower bound (Wilson, 95 %) of its share of the points, among
 * moves that enough games support: the mean of a few games is no evidence.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* A move is supported by so many games that are also so large a share of the position's. */
#define CHI_SUPPORT_GAMES   10
#define CHI_SUPPORT_PERCENT 5

struct chi_candidate {
	size_t index;	 /* of the move */
	uint64_t games;	 /* with a result; where no game of the position has one, all */
	uint64_t weight; /* saturates; 0: it only lost */
	double share;	 /* of the points, 0..1; 0.5 without results */
	bool supported;
};

/* `played[i]` are the counts of move i in a position with `side` to move; out[i] is about it. */
void chi_candidates(const struct chi_counts *played, size_t n, int side, struct chi_candidate *out);

/* The lower end of the 95 % interval of the share; 0 without games. */
double chi_candidate_bound(const struct chi_candidate *candidate);

/* The supported moves to the front, the best first; returns how many. The others keep an order. */
size_t chi_candidates_rank(struct chi_candidate *all, size_t n);

/* One of them, drawn by its weight; `at` is in 0..1. `variety` in 0..1 evens out how often moves
 * were played: at 1 their share of the points alone counts. NULL: all have lost. */
const struct chi_candidate *chi_candidates_draw(const struct chi_candidate *all, size_t n,
						double variety, double at);
