/* SPDX-License-Identifier: MIT */
/*
 * chessdb.cn's interface, cdb.php, from stored evaluations.
 *
 * What a position is worth, to the side to move, is backed up as by 'propagate', without decay
 * (propagate/backup.h): what the best of its moves is worth whose positions are known; where some
 * are not, its own deepest evaluation stands for these, and without one it is not known. A move is
 * worth what the position after it is worth to the other side, one ply further from a mate; where
 * that is not known, what a stored line of the position says that begins with the move. Where no
 * move has a score, games choose the moves (chess/polyglot/candidates.h).
 *
 * Mate in n plies is 30000 - n: one that an evaluation tells of its position, or that is proven. A
 * mate that is told further down counts as CDB_SHORT.
 */
#pragma once

#include "chess/polyglot/candidates.h"
#include "http/net/call.h"

extern const struct route cdb_routes[];

struct cdb_value;

#define CDB_MATE  30000
#define CDB_SHORT 10000 /* scores beyond are mates, one step a ply */

struct cdb_move {
	char uci[CHI_MOVE_TEXT_SIZE];
	char san[CHI_MOVE_TEXT_SIZE];
	chi_move move;
	struct chi_key after;
	bool known; /* the score is */
	int score;
	int replies;		       /* to it, whose scores are known */
	int good;		       /* of these, ranked 1 or 2 */
	int rank;		       /* 0, 1 or 2 */
	struct chi_candidate book;     /* what games say of it */
	size_t place;		       /* among the moves, by that: 0 is the best */
	const struct cdb_value *value; /* of the position after it */
};

/* A position with its moves, best first, those without a score last, by what games say. */
struct cdb_board {
	struct chi_key key;
	struct chi_row row;
	uint32_t state; /* enum chi_state */
	struct cdb_move *moves;
	size_t n;
	size_t n_known;
	size_t n_book; /* the first so many are supported by games; 0 where a move has a score */
	bool known;    /* the score is */
	int score;
	const struct cdb_value *next; /* of the position after its best move; NULL: the score is
					 that of its own evaluation */
	int min_ply;		      /* -1: not known */
};

/* The arena has what it holds. What is stored far below the position, or in too many positions,
 * does not count. */
CHI_MUSTUSE int cdb_look(struct call *call, const struct chi_key *key, struct cdb_board *out);

/* The score of an evaluation, to the side to move. */
int cdb_score(bool is_mate, int32_t score);
/* A score as the move that leads there has it. */
int cdb_back(int score);

/* The least score that is not bad, that is as good as the best, and that is worth learning; see
 * rank.c. */
double cdb_throttle(int max);
double cdb_best(int max);
double cdb_learn(int max);
int cdb_rank(int score, int max);
/* Per cent, of |score| < CDB_SHORT. */
double cdb_winrate(int score);
