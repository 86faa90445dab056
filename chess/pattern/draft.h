/* SPDX-License-Identifier: MIT */
/*
 * A pattern between its texts and its compiled form: for each square what it may hold, clauses of
 * which one term must hold, and bounds of numbers of pieces. Reading only ever narrows it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/pattern/contents.h"
#include "chess/pattern/pattern.h"

#define MEN_MAX	   32
#define KEY_BIT(s) (UINT64_C(1) << (63 - (s))) /* a square's bit in a mask read big-endian */

enum chi_pattern_bishops {
	CHI_BISHOPS_ANY = 0,
	CHI_BISHOPS_OPPOSITE,
	CHI_BISHOPS_SAME,
};

/* Where a condition is written. */
struct chi_origin {
	const char *field; /* NULL: nowhere, it is a rule of chess */
	size_t at;	   /* first character is 1 */
};

struct chi_draft_term {
	uint64_t squares; /* as in chi_position */
	uint32_t set;
};

struct chi_draft_clause {
	struct chi_origin origin;
	size_t first; /* term */
	size_t n;
};

struct chi_range_int {
	int least;
	int most;
	struct chi_origin origin; /* of what narrowed it last */
};

struct chi_draft {
	uint32_t allowed[64];
	struct chi_origin origin[64]; /* of the condition that narrowed it last */
	struct chi_draft_clause clauses[CHI_PATTERN_CLAUSES_MAX];
	struct chi_draft_term terms[CHI_PATTERN_TERMS_MAX];
	size_t n_clauses;
	size_t n_terms;
	struct chi_range_int counts[PIECES];
	struct chi_range_int men;
	struct chi_range_int balance[CHI_KINDS]; /* White's number less Black's */
	struct chi_shift shift;			 /* of all squares that are read */
	uint8_t side;				 /* enum chi_side */
	uint8_t bishops;			 /* enum chi_pattern_bishops */
};

/* What any position fulfils. */
void chi_draft_init(struct chi_draft *draft);

/* Leaves on a square what is in `set` too; -CHI_EINVAL if nothing is left. */
CHI_MUSTUSE int chi_draft_narrow(struct chi_draft *draft, int square, uint32_t set,
				 struct chi_origin origin, struct chi_fault *fault);

/* Leaves of `range` what is between `least` and `most` too; -CHI_EINVAL if nothing is left.
 * `what` names it. */
CHI_MUSTUSE int chi_draft_bound(struct chi_range_int *range, int least, int most, const char *what,
				struct chi_origin origin, struct chi_fault *fault);

/* "white rook" of a piece's number; static storage. */
const char *chi_draft_piece(int piece);

/* Each reads one text into the draft. CHI_NONE: moved, a square leaves the board. */
CHI_MUSTUSE int chi_draft_has(struct chi_draft *draft, const char *text, struct chi_fault *fault);
CHI_MUSTUSE int chi_draft_fen(struct chi_draft *draft, const char *text, struct chi_fault *fault);
CHI_MUSTUSE int chi_draft_pawns(struct chi_draft *draft, const char *text, struct chi_fault *fault);
CHI_MUSTUSE int chi_draft_material(struct chi_draft *draft, const char *text,
				   struct chi_fault *fault);
CHI_MUSTUSE int chi_draft_balance(struct chi_draft *draft, const char *text,
				  struct chi_fault *fault);

/* -CHI_EINVAL if conditions contradict each other, as far as counting squares and pieces can tell.
 * Otherwise *out has squares and numbers narrowed to what follows from all of them. */
CHI_MUSTUSE int chi_draft_solve(const struct chi_draft *draft, struct chi_draft *out,
				struct chi_fault *fault);
