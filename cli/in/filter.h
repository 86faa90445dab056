/* SPDX-License-Identifier: MIT */
/* The options that choose positions, shared by scan, count and export. */
#pragma once

#include "cli/command.h"

/* Rows of an option list; the state has them in its `struct chi_scan_spec spec`. What their values
 * may be, formats/scan_text.h knows. */
/* clang-format off */
#define FILTER_OPTIONS(state)                                                                      \
	OPTION(state, spec, filter_value, "min", "X",                                              \
	       "statistic at least X (0 to 255.99; 0 includes not known)"),                        \
	OPTION(state, spec, filter_value, "max", "X",                                              \
	       "statistic at most X; --min 0 --max 0: only those not known"),                      \
	OPTION(state, spec, filter_value, "material", "M",                                         \
	       "exactly this material: KRPKR or KRPvKR, White first"),                             \
	OPTION_FLAG(state, spec.filter.either_colour, "either-colour",                             \
	       "... or with the colours swapped"),                                                 \
	OPTION(state, spec, filter_value, "pieces", "A..B",                                        \
	       "from A to B pieces, kings included; or N"),                                        \
	OPTION_WORD(state, spec.filter.side, filter_sides, "side", "w|b", "the side to move"),     \
	OPTION_NUMBER(state, spec.filter.games_min, 0, UINT64_MAX, "min-games", "N",               \
	       "at least N games"),                                                                \
	OPTION(state, spec, filter_value, "score", "A..B",                                         \
	       "White scores A to B percent; in a score store the band of the statistic"),         \
	OPTION(state, spec, filter_value, "eval", "A..B",                                          \
	       "deepest evaluation, White's pawns, or #5..#1; in an eval store the band"),         \
	OPTION(state, spec, filter_value, "performance", "A..B",                                   \
	       "in a performance store: White's results A to B deviations beyond the ratings'"),   \
	OPTION(state, spec, filter_value, "ply", "A..B",                                           \
	       "a game reached it first at ply A to B"),                                           \
	OPTION(state, spec, filter_value, "engines", "N",                                          \
	       "evaluated by at least N engines")

/* The same of which evaluations are seen, in the state's `struct chi_evidence member`. */
#define EVIDENCE_OPTIONS(state, member)                                                            \
	OPTION(state, member, filter_value, "engine", "PATTERN",                                   \
	       "only evaluations of engines with such names: 'stockfish 1[67]*'"),                 \
	OPTION(state, member, filter_value, "depth", "A..B",                                       \
	       "only evaluations of depth A to B: 30.."),                                          \
	OPTION(state, member, filter_value, "eval-date", "A..B",                                   \
	       "only evaluations made from A to B: 2023.., 2024-05..2024-06")
/* clang-format on */

cli_reader filter_value;
extern const char *const filter_sides[3];

/* What can only be seen when all options are known. */
int filter_check(struct cli *cli, const struct chi_scan_spec *spec);

/* A sort that is no enum chi_sort: --sort performance, the order of a store of that statistic. */
#define FILTER_SORT_PERFORMANCE (CHI_SORT_GAP + 1)

/* The same, and makes bands of --score and --eval in stores whose statistic these are. */
int filter_take(struct cli *cli, struct chi_scan_spec *spec);
