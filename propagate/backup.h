/* SPDX-License-Identifier: MIT */
/*
 * Negamax over positions that are joined by moves, cycles allowed.
 *
 * First what is proven. Proof begins at mates on the board; a position is won if a move leads to a
 * lost one, and lost if every legal move is stored and leads to a won one. Only such a worth is a
 * mate: a side whose only stored reply loses is not forced to play it.
 *
 * Of the others a position is known if it has a direct score, or if every legal move is stored and
 * leads to a known or proven one. What is left has at most a bound, and no worth. The options of a
 * known position are
 *   - the moves to known positions, each worth back(worth of that position); a move after which the
 *     other side is proven to mate is none, as it says nothing of the moves that are not stored;
 *   - to stop at the direct score, which stands for those, unless it is known better: the move it
 *     was given for (`first`) is an option, or every legal move leads to a known or proven
 * position. Both sides choose the best. Play that never stops is worth 0: a draw by repetition.
 *
 * back() turns a score to the other side's view: a mate is one ply further away, centipawns shrink
 * by the decay. It never makes a score greater, which is what backup.c builds on: each position has
 * one worth, and it is found without rounds.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"

/*
 * A score to the side to move as one number: centipawns up to CHI_SCORE_MAX; if it mates in p plies
 * CHI_WORTH_MATE - p, if it is mated in p plies p - CHI_WORTH_MATE. All mates in CHI_MATE_MAX moves
 * or more are one score, the last: a worth is the same after it was stored as a score.
 *
 * A mate that an engine tells proves nothing: it is worth CHI_WORTH_CLAIMED centipawns, less its
 * plies.
 */
typedef int32_t chi_worth;
#define CHI_WORTH_NONE	  INT32_MIN
#define CHI_WORTH_MATE	  3000000
#define CHI_WORTH_CLAIMED 20000

/* Mate in n is 2n - 1 plies for the winner, 2n for the loser. */
chi_worth chi_worth_of(bool is_mate, int32_t score);
/* Of what an engine tells. */
chi_worth chi_worth_claimed(bool is_mate, int32_t score);
/* Beyond centipawns. */
bool chi_worth_is_mate(chi_worth worth);
/* Not of CHI_WORTH_NONE. */
int32_t chi_worth_score(chi_worth worth, bool *is_mate);

/* What a worth is to the other side, a ply earlier. `decay` in thousandths of centipawns, 0 to
 * 1000, rounded half away from 0. */
chi_worth chi_worth_back(chi_worth worth, unsigned decay);

struct chi_backup_node {
	chi_worth direct; /* or CHI_WORTH_NONE; a mate is proven */
	chi_move first;	  /* move that the direct score is for; 0: not known */
	uint16_t n;	  /* edges */
	bool closed;	  /* all legal moves are edges */
	uint32_t at;	  /* of the first edge */
};

/* The lists are the caller's. */
struct chi_backup {
	struct chi_backup_node *nodes;
	size_t n;		  /* less than 2^31 */
	const uint32_t *children; /* by edge: the number of a node */
	const chi_move *moves;	  /* by edge */
	size_t n_edges;
	unsigned decay;
};

/* The best option of a node: which of its edges, or this: the direct score, or none. */
#define CHI_BACKUP_OWN UINT16_MAX

/*
 * Fills `worths` and `best`, one for each node. Following `best` comes to the score that a worth
 * not 0 is from. Of equal options a losing side has one that lasts; where the worth is 0, a move
 * comes before the direct score. `cancel` may be NULL; the answer is of no use once that is not 0.
 * -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_backup_run(const struct chi_backup *backup, chi_worth *worths, uint16_t *best,
			       const volatile sig_atomic_t *cancel);

/* Bytes that this takes meanwhile. */
uint64_t chi_backup_needs(uint64_t nodes, uint64_t edges);
