/* SPDX-License-Identifier: MIT */
/* Findings as rows of a table (docs/INSIGHT.md). */
#pragma once

#include "chistore/insight.h"
#include "formats/rows/rows.h"

/* A finding, and what its game tells: "" where that is not known. */
struct chi_insight_line {
	struct chi_insight_row row;
	const char *side; /* WEAK, STRONG: whose results */
	uint64_t before;  /* DRIFT: all games before the split */
	uint64_t after;	  /* and from it on */
	const char *fen;
	const char *line; /* the moves from the game's beginning to the position, in SAN */
	const char *move; /* NOVELTIES, in SAN */
	const struct chi_game_row *head; /* NULL: the game has gone */
	const char *show;		 /* a command that shows the games behind it */
};

/* Names of the kinds, by enum chi_insight_kind. */
extern const char *const chi_insight_words[CHI_INSIGHTS];

/* The columns of a kind, whose rows are struct chi_insight_line; the last one is "show". */
const struct chi_row_column *chi_insight_columns(uint8_t kind, size_t *n);
