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
 * evals/stockfish.h has them. A file names no position: what no walk over it (formats/hash_walk.h)
 * reaches cannot be placed; it is counted.
 */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"
#include "formats/hash_walk.h"

/* The engine's name of these evaluations unless the caller has one. */
#define CHI_EXP_ENGINE "brainlearn"

#define CHI_EXP_ENTRY 24

/* Lines of a position that are kept: the deepest. */
#define CHI_EXP_LINES 64

struct chi_exp;

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

/* A position that is known, where the walk begins, too. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_exp_root(struct chi_exp *exp, const struct chi_position *position);

/* Every position that can be reached, each once, but for those that differ only in an en passant
 * capture that is not legal. Its evaluations have no engine; one of each move, of one move each,
 * the deepest first, of equal depth the best. Once for a file. *result says what was done so far
 * also when it fails. As chi_hash_walk_run. */
CHI_MUSTUSE int chi_exp_walk(struct chi_exp *exp, chi_hashed_take *take, void *context,
			     const volatile sig_atomic_t *cancel, struct chi_exp_result *result);

/* An entry as BrainLearn writes it, of the first move of an evaluation, which must be legal and
 * there. */
struct chi_sf_keys;
void chi_exp_pack(const struct chi_sf_keys *keys, const struct chi_position *position,
		  const struct chi_eval *eval, uint8_t out[CHI_EXP_ENTRY]);
