/* SPDX-License-Identifier: MIT */
/*
 * What engines made of Stockfish keep of their searches, "experience", in a file named .exp:
 * entries of 24 bytes in this machine's order of bytes (little-endian), in any order.
 *
 *   BrainLearn                 0 key   8 depth  12 score  16 move  18 -  20 percent of the points
 *   SugaR ("SugaR")            0 key   8 move   12 score  16 depth  20 -
 *   SugaR, HypnoS, Eman        0 key   8 move   12 score  16 depth  20 count of 2 bytes  22 -
 *     ("SugaR Experience version 2")
 *
 * BrainLearn's begin at once, the others after the text in brackets. Keys, moves and scores are as
 * evals/stockfish.h has them. A file names no position, it can only be asked for one, so it is
 * walked breadth first from positions that are known: by every legal move of those it has, and by
 * every reply to a move of it that leads to one it has not. What no such walk reaches cannot be
 * placed; it is counted.
 */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

/* The engine's name of these evaluations unless the caller has one. */
#define CHI_EXP_ENGINE "brainlearn"

#define CHI_EXP_ENTRY 24

/* Lines of a position that are kept: the deepest. */
#define CHI_EXP_LINES 64

struct chi_exp;

/* A position with its lines, one of each move, of one move each: the deepest first, of equal depth
 * the best. Valid during the call that gets it. */
struct chi_exp_position {
	struct chi_key key;
	const struct chi_eval *evals; /* without an engine; their ranks in their order */
	size_t n_evals;		      /* 1 or more */
};

/* Returns a status; a negative one ends the walk, which returns it. */
typedef int chi_exp_visit(void *context, const struct chi_exp_position *position);

struct chi_exp_result {
	uint64_t entries;
	uint64_t positions; /* visited */
	uint64_t lines;	    /* of these */
	uint64_t illegal;   /* entries whose move is not legal in the position they are for */
	uint64_t unscored;  /* entries without a depth or a score (a mate in 0 moves is
			       none): followed, but no line */
	uint64_t repeated;  /* entries of a move that has a deeper one, or beyond CHI_EXP_LINES */
	uint64_t unplaced;  /* entries of positions that are not reached */
};

/*
 * Reads a file, "-" for standard input; all of it is held in memory. See chi_source_whole; or
 * -CHI_ESYNTAX: it holds no whole entries; -CHI_EUNSUPPORTED: a kind that is not known.
 */
CHI_MUSTUSE int chi_exp_open(const char *path, struct chi_exp **out, struct chi_fault *fault);

/* The same for bytes in memory, which it takes over and frees, also if it fails. */
CHI_MUSTUSE int chi_exp_take(uint8_t *bytes, size_t len, struct chi_exp **out,
			     struct chi_fault *fault);

/* NULL is fine. */
void chi_exp_close(struct chi_exp *exp);

/* A position that is known: it, or else what its moves lead to, is where the walk begins. The
 * initial one need not be told. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_exp_root(struct chi_exp *exp, const struct chi_position *position);

/* Visits every position that can be reached, each once, but for those that differ only in an en
 * passant capture that is not legal. Once for a file. `cancel` may be NULL; not 0: -CHI_ECANCELED.
 * *result says what was done so far also when it fails. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_exp_walk(struct chi_exp *exp, chi_exp_visit *visit, void *context,
			     const volatile sig_atomic_t *cancel, struct chi_exp_result *result);

/* An entry as BrainLearn writes it, of the first move of an evaluation, which must be legal and
 * there. */
struct chi_sf_keys;
void chi_exp_pack(const struct chi_sf_keys *keys, const struct chi_position *position,
		  const struct chi_eval *eval, uint8_t out[CHI_EXP_ENTRY]);
