/* SPDX-License-Identifier: MIT */
/* The options that choose positions, shared by scan and count. */
#pragma once

#include "client/cli/command.h"

enum filter_id {
	FILTER_MIN = 200,
	FILTER_MAX,
	FILTER_MATERIAL,
	FILTER_EITHER_COLOUR,
	FILTER_PIECES,
	FILTER_SIDE,
	FILTER_MIN_GAMES,
};

/* clang-format off */
#define FILTER_OPTIONS                                                                             \
	{FILTER_MIN, "min", "X", "statistic at least X (0 to 255.99; 0 includes not known)"},      \
	{FILTER_MAX, "max", "X", "statistic at most X; --min 0 --max 0 is the not known alone"},   \
	{FILTER_MATERIAL, "material", "M", "exactly this material: KRPKR or KRPvKR, White first"}, \
	{FILTER_EITHER_COLOUR, "either-colour", NULL, "... or with the colours exchanged"},        \
	{FILTER_PIECES, "pieces", "A..B", "from A to B pieces, kings included; or N"},             \
	{FILTER_SIDE, "side", "w|b", "the side to move"},                                          \
	{FILTER_MIN_GAMES, "min-games", "N", "N games at least"}
/* clang-format on */

/* The whole store. */
void filter_init(struct chi_scan_spec *spec);

/* Takes an option of the list above into the spec; returns an exit code. */
int filter_option(struct cli *cli, struct chi_scan_spec *spec, int id, const char *value);

/* What can only be seen when all options are known. */
int filter_check(struct cli *cli, const struct chi_scan_spec *spec);
