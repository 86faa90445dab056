/* SPDX-License-Identifier: MIT */
/* The options that choose positions, shared by scan, count and export. */
#pragma once

#include "client/cli/command.h"

/* Rows of an option list; the state has them in its `struct chi_scan_spec spec`. */
/* clang-format off */
#define FILTER_OPTIONS(state)                                                                      \
	OPTION(state, spec.chi2_min, filter_band, "min", "X",                                      \
	       "statistic at least X (0 to 255.99; 0 includes not known)"),                        \
	OPTION(state, spec.chi2_max, filter_band, "max", "X",                                      \
	       "statistic at most X; --min 0 --max 0: only those not known"),                      \
	OPTION(state, spec.filter, filter_material, "material", "M",                               \
	       "exactly this material: KRPKR or KRPvKR, White first"),                             \
	OPTION_FLAG(state, spec.filter.either_colour, "either-colour",                             \
	       "... or with the colours swapped"),                                                 \
	OPTION(state, spec.filter, filter_pieces, "pieces", "A..B",                                \
	       "from A to B pieces, kings included; or N"),                                        \
	OPTION_WORD(state, spec.filter.side, filter_sides, "side", "w|b", "the side to move"),                \
	OPTION_NUMBER(state, spec.filter.games_min, 0, UINT64_MAX, "min-games", "N",               \
	       "at least N games")
/* clang-format on */

cli_reader filter_band, filter_material, filter_pieces;
extern const char *const filter_sides[3];

/* What can only be seen when all options are known. */
int filter_check(struct cli *cli, const struct chi_scan_spec *spec);
