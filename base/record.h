/* SPDX-License-Identifier: MIT */
/*
 * What every record fulfils, on the disk, on the wire and in a put: limits, order, texts, sums. One
 * place says so; the codecs say only what concerns their bytes. Whether moves are legal needs the
 * position (chess/legal.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

#define CHI_DEPTH_MAX 65535 /* of an evaluation */

/* A position with its record: of a GET, or a row of a scan that wants records. */
struct chi_entry {
	struct chi_key key;
	bool found; /* else the record is zeroed */
	struct chi_record record;
};

/* What is wrong with a record, and where. */
struct chi_record_flaw {
	char where[40];	    /* "evals[2].pv[7]" */
	const char *reason; /* static storage */
};

/* CHI_OK; -CHI_ETOOBIG: over a limit of types.h; -CHI_EINVAL: anything else that no record may
 * hold. `flaw` may be NULL. */
CHI_MUSTUSE int chi_record_check(const struct chi_record *record, struct chi_record_flaw *flaw);

/* What is wrong with the parts of a put; NULL if they go together. */
const char *chi_put_parts_flaw(uint32_t parts);

/* Empties what a put with these parts does not name, so that no one looks at it. Plies stay:
 * without counts they would be lost silently, and chi_record_check refuses them. */
void chi_record_name(struct chi_record *record, uint32_t parts);

/* Order of evaluations in a record: the engine's name, bytewise, then the rank. */
int chi_eval_compare(const struct chi_eval *a, const struct chi_eval *b);

/* The deepest of rank 0; of equally deep ones that with the later date, then the first. NULL if
 * there is none. */
const struct chi_eval *chi_evals_deepest(const struct chi_eval *evals, size_t n);

/* The best move: the first of the deepest evaluation's principal variation, else of the line, else
 * the move played in most games, of equals the first. 0: none is known. */
chi_move chi_record_best(const struct chi_record *record);

/* True if the plies fit the counts: ascending up to CHI_PLY_MAX, each with games, together no more
 * than the counts hold. */
bool chi_plies_ok(const struct chi_ply_stat *plies, size_t n, const struct chi_counts *counts);

/* What a move must be to be one in some position; 0 is none. */
static inline bool chi_move_possible(uint64_t move)
{
	return move <= 0x4fff && (move >> 6 & 63) != (move & 63);
}

/* The number of the games with that result (enum chi_result). */
static inline uint64_t *chi_counts_of(struct chi_counts *counts, unsigned result)
{
	switch (result) {
	case CHI_RESULT_WHITE:
		return &counts->white;
	case CHI_RESULT_DRAW:
		return &counts->draws;
	case CHI_RESULT_BLACK:
		return &counts->black;
	default:
		return &counts->other;
	}
}

/* Adds up the four counts; false if they do not fit. */
static inline bool chi_counts_total(const struct chi_counts *counts, uint64_t *total)
{
	uint64_t sum;
	return !__builtin_add_overflow(counts->white, counts->draws, &sum) &&
	       !__builtin_add_overflow(sum, counts->black, &sum) &&
	       !__builtin_add_overflow(sum, counts->other, total);
}

/* White's share of the points, (W + D/2) / (W + D + B), in hundredths of a percent, half up; false
 * without results. Their sum is known to fit. */
bool chi_counts_share(const struct chi_counts *counts, uint16_t *share);

/* Adds `more` to `sum`; false, and `sum` as before, if the total would not fit. */
bool chi_counts_add(struct chi_counts *sum, const struct chi_counts *more);

static inline bool chi_counts_equal(const struct chi_counts *a, const struct chi_counts *b)
{
	return a->white == b->white && a->draws == b->draws && a->black == b->black &&
	       a->other == b->other;
}
