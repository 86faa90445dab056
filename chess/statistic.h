/* SPDX-License-Identifier: MIT */
/* The statistics that a store can compute, in hundredths (types.h), and their names. */
#pragma once

#include <stdbool.h>

#include "chess/position.h"
#include "chistore/types.h"

/*
 * Pearson's chi-square of homogeneity over the 2 x 64 table of how often White and Black attack
 * each square: every piece counts each square it attacks or defends, sliders stop at the first
 * piece, pins are ignored, squares not attacked are left out. The sum is taken in IEEE
 * doubles, a1 to h8, White's cell before Black's, then rounded half up to hundredths: the order
 * that reproduces the published vectors, ties included (statistic.c says how sure that is).
 * CHI_CHI2_UNKNOWN if one side attacks nothing. Clamped to 1..CHI_CHI2_MAX.
 */
uint16_t chi_statistic_control(const struct chi_position *position);

/*
 * Pearson's chi-square of goodness of fit (2 degrees of freedom) of white/draws/black against
 * the proportions of `base`. CHI_CHI2_UNKNOWN unless every expected count is at least 5
 * (Cochran), and when `base` is empty. `other` is ignored in both.
 */
uint16_t chi_statistic_outcome(const struct chi_counts *counts, const struct chi_counts *base);

/*
 * White's expected score in percent: 100 (W + D/2 + 10 b) / (W + D + B + 10), where b is the score
 * of `base` between 0 and 1, rounded half up to hundredths, at least 0.01. CHI_CHI2_UNKNOWN below
 * CHI_SCORE_GAMES games with a result, and when `base` is empty.
 */
#define CHI_SCORE_GAMES 5
uint16_t chi_statistic_score(const struct chi_counts *counts, const struct chi_counts *base);

/* An evaluation as hundredths (types.h), of a position with `side` to move. Never unknown. */
uint16_t chi_statistic_eval(const struct chi_eval *eval, int side);

/* That of a record's deepest evaluation; CHI_CHI2_UNKNOWN if there is none. */
uint16_t chi_statistic_evals(const struct chi_record *record, int side);

/* The names of the kinds by their numbers: "external", "control", "outcome", "score", "eval",
 * "performance". */
extern const char *const chi_statistic_names[CHI_STATISTIC_MAX + 1];

/* NULL for a number that is no kind. */
const char *chi_statistic_name(int statistic);

/* Depends on base rates: `rescore` sets them. */
bool chi_statistic_has_base(enum chi_statistic statistic);

/* Follows from the position and its record alone: one that does not is an error wherever it is. */
bool chi_statistic_is_checked(enum chi_statistic statistic);
