/* SPDX-License-Identifier: MIT */
/* The chi-square statistics a store can compute, in hundredths (types.h). */
#pragma once

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

/* "external", "control", "outcome"; NULL for any other number. */
const char *chi_statistic_name(int statistic);

/* The reverse; 0 if `name` is none of them. */
int chi_statistic_from_name(const char *name);
