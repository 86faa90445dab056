/* SPDX-License-Identifier: MIT */
/* Positions of a walk that were tested, and what is found of them. Private to the room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "insight/games.h"
#include "insight/insight_priv.h"
#include "insight/tested.h"

struct insight_tested {
	struct insight_chance chance;
	double points;		    /* GAP: of its games */
	struct chi_insight_row row; /* all but its chances and how many positions it is */
};

struct insight_findings {
	struct insight_tested *tested;
	size_t n;
	size_t max;
	bool is_corrected;
	size_t found; /* the first ones */
	size_t next;  /* of these, to be joined */
	size_t heads; /* of those before it, which are not part of others; moved to the front */
	struct insight_join join;
};

/* Kinds of this sort begin with it. */
struct insight_survey {
	struct chi_insight insight;
	struct insight_walk walk;
	struct insight_findings findings;
	bool is_begun;
	bool is_walked;
};

struct insight_survey_kind {
	void (*begin)(struct insight_survey *survey); /* games are loaded */
	insight_look *look;			      /* adds the position if it is to be tested */
	void (*fit)(struct insight_survey *survey);   /* all are added; NULL: nothing */
	bool (*counts)(const struct insight_survey *survey, uint32_t game);
};

/* A game counts that is rated, and one of the filter. Their number is the result's. */
bool insight_survey_is_rated(const struct insight_survey *survey, uint32_t number);
void insight_survey_count_rated(struct insight_survey *survey);

/* A position to be tested; its ply is found here. */
CHI_MUSTUSE int insight_survey_add(struct insight_survey *survey, struct insight_tested *tested,
				   uint64_t *steps);

/* As those of struct insight_kind. Rows are the surest first. */
CHI_MUSTUSE int insight_survey_step(struct insight_survey *survey,
				    const struct insight_survey_kind *kind, uint64_t *steps);
void insight_survey_end(struct chi_insight *insight);
CHI_MUSTUSE size_t insight_survey_memory(const struct chi_insight *insight);
