/* SPDX-License-Identifier: MIT */
/*
 * Negamax over positions that are joined by moves, cycles allowed.
 *
 * worth(p, 0) is p's direct score. worth(p, n) is the best of
 *   - back(worth(c, n - 1)) of every position c that a move leads to and whose worth is known;
 *   - the direct score, unless it is known better: the move it was given for (`first`) leads to a
 *     position of known worth, or every legal move does.
 * Of equal ones a move comes before the direct score, and the first move before later ones. A
 * position without either has no worth.
 *
 * So a cycle needs no rule of its own: scores come from at most so many plies ahead, by any way.
 * back() turns a score to the other side's view: a mate is one ply further away, centipawns shrink
 * by the decay. That makes a nearer score the better one of equals.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/*
 * A score to the side to move as one number: centipawns up to CHI_SCORE_MAX; if it mates in p plies
 * CHI_WORTH_MATE - p, if it is mated in p plies p - CHI_WORTH_MATE.
 */
typedef int32_t chi_worth;
#define CHI_WORTH_NONE INT32_MIN
#define CHI_WORTH_MATE 3000000

/* Mate in n is 2n - 1 plies for the winner, 2n for the loser. */
chi_worth chi_worth_of(bool is_mate, int32_t score);
/* Not of CHI_WORTH_NONE. Mates in more than CHI_MATE_MAX moves are given as that many. */
int32_t chi_worth_score(chi_worth worth, bool *is_mate);

/* What a worth is to the other side, a ply earlier. `decay` in thousandths of centipawns, 0 to
 * 1000, rounded half away from 0. */
chi_worth chi_worth_back(chi_worth worth, unsigned decay);

struct chi_backup_node {
	chi_worth direct; /* or CHI_WORTH_NONE */
	chi_move first;	  /* move that the direct score is for; 0: not known */
	uint16_t n;	  /* edges */
	bool closed;	  /* all legal moves are edges */
	uint32_t at;	  /* of the first edge */
};

/* The lists are the caller's. */
struct chi_backup {
	struct chi_backup_node *nodes;
	size_t n;
	const uint32_t *children; /* by edge: the number of a node */
	const chi_move *moves;	  /* by edge */
	unsigned decay;
};

/* A node's worth if those of its children are `worths`. *best: the move it comes from, 0 if none is
 * known; *backed: it comes from a child. */
chi_worth chi_backup_worth(const struct chi_backup *backup, size_t node, const chi_worth *worths,
			   chi_move *best, bool *backed);

/* Words of the marks of so many nodes. */
#define CHI_BACKUP_MARKS(n) (2 * ((n) / 64 + 1))

/*
 * Fills `worths` with worth(., plies), or of fewer plies if one more would change nothing; `spare`
 * has room for as many, `marks` for CHI_BACKUP_MARKS. Returns the plies it took. `cancel` may be
 * NULL; it ends early once that is not 0.
 */
unsigned chi_backup_run(const struct chi_backup *backup, unsigned plies, chi_worth *worths,
			chi_worth *spare, uint64_t *marks, const volatile sig_atomic_t *cancel);
