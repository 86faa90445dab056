/* SPDX-License-Identifier: MIT */
/*
 * A tree of positions that is grown where it promises most, as books of openings are built
 * ("drop-out expansion", T. Lincke, Computers and Games 2000).
 *
 * A position that was searched is a node; the moves of its lines lead to others, and those that
 * were not searched yet are leaves. Each node has a worth, backed up by negamax: that of its best
 * move, whose worth is that of the node it leads to or, if that is a leaf, the score of its line.
 * Each node also has a cost: of all ways to it from a root the least sum, over the moves of the
 * way, of
 *
 *     breadth + what the move is worse than the best one there, in centipawns
 *
 * so that a ply deeper counts as much as a move that loses `breadth`. The leaf of the least cost is
 * searched next. Thus good moves are followed deep, poor ones looked at a little, and a move that
 * turns out better than it looked pulls its leaves forward.
 *
 *          root                     +20 Nf3 (best): cost 30 + 0
 *         /    \                    -25 a4:         cost 30 + 45
 *      Nf3      a4 (leaf, 75)       So both leaves after Nf3 come first.
 *      /  \
 *    d5    c5
 *  (60)   (65)
 *
 * A mate is not followed: what is after a move that mates, or allows it, is no leaf. Ways are
 * counted along moves that lead a ply further from the roots only; a move back to a position that
 * can be had earlier is worth what its line says. So cycles need no rule of their own.
 */
#pragma once

#include "cli/work/keyset.h"

#define TREE_NODES_MAX 8000000 /* nodes and leaves, some 90 bytes each */

/* A line of a search, without what comes after its move. */
struct tree_line {
	chi_move move;
	bool is_mate;
	int32_t score; /* as in struct chi_eval */
};

struct tree_node;
struct tree_edge;

struct tree {
	struct keyset keys;
	struct tree_node *nodes; /* by the numbers of the keys */
	size_t room;
	struct tree_edge *edges;
	size_t n_edges;
	size_t edges_room;
	uint32_t *order; /* the nodes by plies from a root */
	uint32_t *picks; /* leaves by cost, of the last ranking; */
	size_t n_picks;	 /* these many, */
	size_t picked;	 /* and these of them were looked at */
	unsigned breadth;
	size_t known; /* nodes that are no leaves */
	size_t taken; /* leaves taken, and neither grown nor given back */
	size_t busy;  /* leaves given back to be tried later */
	bool changed; /* since the last ranking */
	bool more;    /* there were leaves beyond the picks */
};

void tree_init(struct tree *tree, unsigned breadth);
void tree_deinit(struct tree *tree);

/* A position to grow from; again is fine. -CHI_ENOMEM, -CHI_ETOOBIG, -CHI_EKEY. */
CHI_MUSTUSE int tree_root(struct tree *tree, const struct chi_key *key);

/* The leaf to be searched next, which is `taken` until it is given to one of the three calls below.
 * CHI_NONE: there is none. `now`: of any clock, in milliseconds. */
CHI_MUSTUSE int tree_take(struct tree *tree, int64_t now, uint32_t *leaf);

/* What a search of a leaf, taken or not, found: its lines, the best first, each with another legal
 * move; 1 or more. Errors as tree_root. */
CHI_MUSTUSE int tree_grow(struct tree *tree, uint32_t leaf, const struct tree_line *lines,
			  size_t n);

/* It is not to be had before `when`. */
void tree_later(struct tree *tree, uint32_t leaf, int64_t when);

/* It is given up. */
void tree_drop(struct tree *tree, uint32_t leaf);

/* Leaves that are not taken, by numbers from `from` on, at most `max`; returns how many. *next:
 * where to go on. Those that tree_grow adds come after it. */
size_t tree_leaves(const struct tree *tree, uint32_t from, uint32_t *leaves, size_t max,
		   uint32_t *next);

/* Works out worths and costs; tree_take does when it must. For what looks at them afterwards. */
void tree_rank(struct tree *tree, int64_t now);

/* Of the last ranking: what a node costs (UINT32_MAX: nothing leads there), and a node's worth
 * (propagate/backup.h) to who moves there; of a leaf 0. */
uint32_t tree_cost(const struct tree *tree, uint32_t node);
int32_t tree_worth(const struct tree *tree, uint32_t node);
