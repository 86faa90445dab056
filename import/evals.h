/* SPDX-License-Identifier: MIT */
/*
 * Evaluations on their way from the games to the records. They have any length, and the sorter's
 * items have one: so they are kept in a nameless file, and the item, among those of the position's
 * games (import/count.h), says where. Its 64 bits, big-endian:
 *
 *     63 62                 10 9        0
 *    +--+---------------------+----------+
 *    | 1|  place in the file  |  length  |
 *    +--+---------------------+----------+
 *
 * In the items of games the first bit is 0: a game's number is at most CHI_GAME_NUMBERS.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sorter.h"
#include "chess/pgn/eval.h"
#include "chistore/types.h"

#define CHI_EVALS_ITEM (UINT64_C(1) << 63)

/* Where an evaluation comes from. */
struct chi_eval_origin {
	uint64_t place;	 /* of the game in the input: ascends */
	uint32_t number; /* of the game, as in its items */
	uint32_t index;	 /* of the comment in the game */
};

/* An evaluation in memory of its own. */
struct chi_eval_copy {
	struct chi_eval_origin origin;
	struct chi_eval eval; /* engine and pv are the two below */
	char engine[CHI_ENGINE_MAX];
	chi_move pv[CHI_PV_MAX];
};

/* ---- The file ---------------------------------------------------------------------------- */

struct chi_eval_file {
	int fd;
	_Atomic uint64_t end; /* bytes given to chunks */
};

/* Made in `dir`. */
CHI_MUSTUSE int chi_eval_file_open(struct chi_eval_file *file, const char *dir,
				   struct chi_fault *fault);
void chi_eval_file_close(struct chi_eval_file *file);

/* A part of the file that one thread fills. Zeroed at first. */
#define CHI_EVAL_CHUNK (32 << 10)
struct chi_eval_chunk {
	uint64_t place; /* in the file */
	size_t used;	/* 0: no place is taken yet */
	uint8_t bytes[CHI_EVAL_CHUNK];
};

/* Keeps an evaluation and fills the item but for its key. -CHI_EFULL, -CHI_EIO. */
CHI_MUSTUSE int chi_eval_file_add(struct chi_eval_file *file, struct chi_eval_chunk *chunk,
				  const struct chi_eval *eval, const struct chi_eval_origin *origin,
				  struct chi_sort_item *item, struct chi_fault *fault);

/* Writes what the chunk holds: before anything of it is read. */
CHI_MUSTUSE int chi_eval_file_flush(struct chi_eval_file *file, struct chi_eval_chunk *chunk,
				    struct chi_fault *fault);

/* Reads the evaluation of an item's 64 bits; any thread. -CHI_EIO. */
CHI_MUSTUSE int chi_eval_file_get(const struct chi_eval_file *file, uint64_t payload,
				  struct chi_eval_copy *out);

/* ---- Those of one position --------------------------------------------------------------- */

/*
 * Of each engine the deepest, of equally deep ones the last in the input; of more engines than a
 * record holds those with the deepest. Whatever the order in which they come, the same are left.
 */
struct chi_eval_set {
	size_t n;
	struct chi_eval_copy copies[CHI_EVALS_MAX];
	struct chi_eval sorted[CHI_EVALS_MAX];
};

void chi_eval_set_add(struct chi_eval_set *set, const struct chi_eval_copy *copy);

/* Fills `sorted`, as a record has them. */
void chi_eval_set_sort(struct chi_eval_set *set);
