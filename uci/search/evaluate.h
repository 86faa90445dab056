/* SPDX-License-Identifier: MIT */
/* A position's value without a search. */
#pragma once

#include <stdint.h>

#include "chess/position.h"
#include "uci/search/terms.h"

/* Pieces on the board, kings and pawns aside, weighted 1, 1, 2, 4; 24 at the start. */
#define CHI_PHASE_MAX 24

/* What a position has of each term, White's less Black's. */
struct chi_trace {
	int8_t counts[CHI_TERMS];
	int phase; /* 0..CHI_PHASE_MAX */
	int scale; /* of what is won, in 64ths, by what the endgame is */
};

/* How surely a side wins with what is on the board, by chess/endgame, remembered by material. */
#define CHI_CLASSES 4096
struct chi_classes {
	struct {
		uint64_t material; /* 4 bits for each kind of each colour; 0: free */
		uint8_t scale[2];
	} seen[CHI_CLASSES];
};

/* What of an advantage of `colour` in the endgame counts, in 64ths. */
int chi_evaluate_scale(const struct chi_position *position, int colour,
		       struct chi_classes *classes);

/* For uci/tune.c. */
void chi_evaluate_trace(const struct chi_position *position, struct chi_classes *classes,
			struct chi_trace *trace);

/* Centipawns in the view of the side to move; there are both kings. */
int chi_evaluate(const struct chi_position *position, struct chi_classes *classes);
