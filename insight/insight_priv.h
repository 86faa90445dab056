/* SPDX-License-Identifier: MIT */
/* What the kinds of questions share. Private to the room. */
#pragma once

#include <stdbool.h>

#include "insight/insight.h"
#include "search/among.h"
#include "store/archive.h"
#include "store/ratings/expect.h"

/* How one kind is answered. All of its memory is in its own struct, which begins with the shared
 * one. */
struct insight_kind {
	size_t size; /* of its own struct, zeroed */
	/* Steps left are counted down. CHI_OK: the steps are used up; CHI_NONE: all rows are added.
	 * Games of the filter are found, and expectations are fitted, before the first. */
	int (*step)(struct chi_insight *insight, uint64_t *steps);
	/* Frees what is not shared; the snapshot may still be used. */
	void (*end)(struct chi_insight *insight);	     /* twice is fine */
	size_t (*memory)(const struct chi_insight *insight); /* of what is not shared */
	/* The row that comes first is less; NULL: they are added in their order. */
	int (*compare)(const void *a, const void *b);
};

extern const struct insight_kind insight_weak; /* and strong */
extern const struct insight_kind insight_gap;
extern const struct insight_kind insight_spread;
extern const struct insight_kind insight_novelties;
extern const struct insight_kind insight_tempo;
extern const struct insight_kind insight_performance;
extern const struct insight_kind insight_drift;

struct chi_insight {
	const struct insight_kind *kind;
	struct chi_read *read;
	struct chi_archive_view view;
	struct chi_insight_spec spec; /* no 0 stands for another number; `filter` is not kept */
	struct chi_key position;      /* spec.position, if that is not NULL */
	struct chi_among *among;      /* games of the filter; NULL: none is asked for */
	struct chi_expect expect;
	bool is_fitted;
	struct chi_insight_row *rows;
	size_t max_rows;
	struct chi_insight_result result;
};

/* Each position that was tested is a row of its own: none is joined to another. */
static inline bool insight_wants_all(const struct chi_insight *insight)
{
	return insight->spec.position != NULL || insight->spec.fdr >= 1000;
}

/* -CHI_ENOMEM. */
CHI_MUSTUSE int insight_add(struct chi_insight *insight, const struct chi_insight_row *row);

/* A score in CHI_INSIGHT_POINTs, of points in `games`; 0 of none. */
uint32_t insight_score(double points, double games);
