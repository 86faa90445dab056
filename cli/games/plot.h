/* SPDX-License-Identifier: MIT */
/* Bars as a picture, by gnuplot in a process of its own. */
#pragma once

#include <stddef.h>

#include "cli/cli.h"

struct plot_bar {
	const char *label;
	uint64_t parts[3]; /* White's wins, draws, Black's; of positions the first alone */
};

struct plot {
	const char *title;
	const char *unit; /* of the axis: "games" */
	const struct plot_bar *bars;
	size_t n;
	bool whole; /* bars have one part */
};

/* To a PNG file, or with "-" drawn in characters on standard output. Says what is wrong. */
int plot_draw(const struct plot *plot, const char *path);
