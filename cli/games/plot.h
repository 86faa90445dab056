/* SPDX-License-Identifier: MIT */
/* Bars, or scores with their intervals, as a picture, by gnuplot in a process of its own. */
#pragma once

#include <stddef.h>

#include "cli/cli.h"

struct plot_bar {
	const char *label;
	uint64_t parts[3]; /* White's wins, draws, Black's; of positions the first alone */
};

/* A point with its interval, and another beside it, all in percent. */
struct plot_point {
	const char *label;
	double score;
	double low;
	double high;
	double beside;
};

struct plot {
	const char *path; /* of a PNG file, or "-": drawn in characters on standard output */
	const char *title;
	const char *unit; /* of the axis: "games" */
	const struct plot_bar *bars;
	const struct plot_point *points; /* in place of bars, one below the other; or NULL */
	const char *score;		 /* what the points are, and */
	const char *beside;		 /* the others */
	size_t n;
	bool whole; /* bars have one part */
};

/* More points would lie over each other. */
#define PLOT_POINTS_MAX 40

/* Says what is wrong. */
int plot_draw(const struct plot *plot);
