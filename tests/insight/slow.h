/* SPDX-License-Identifier: MIT */
/* What a survey of positions must find, by loops over the games of a world: which positions are
 * tested, how their chances are corrected, and which of them are one finding. */
#pragma once

#include "tests/insight/world.h"

struct slow_position {
	struct chi_key key;
	uint32_t *games; /* those that count, ascending */
	size_t n;
	uint32_t ply; /* in the first of these */
	size_t positions;
	double chance; /* the test's own to fill in, as the row */
	double rank;
	struct chi_insight_row row;
	double adjusted;
	bool is_part; /* of another finding */
};

struct slow_survey {
	struct slow_position *at;
	size_t n;
};

typedef bool slow_counts(const struct insight_world *world, uint32_t number);

/* Positions that at least so many games that count reached; of those with the same games the first.
 */
void slow_collect(struct slow_survey *survey, const struct insight_world *world,
		  slow_counts *counts, size_t least);
/* Sorts them by chance and rank, corrects, and joins. */
void slow_judge(struct slow_survey *survey);
/* The answer has the rows of findings at this rate, and no others. Returns how many. */
size_t slow_compare(const struct slow_survey *survey, const struct chi_insight_spec *spec,
		    const struct chi_insight_result *result);
void slow_free(struct slow_survey *survey);
