/* SPDX-License-Identifier: MIT */
/*
 * Scans that are sorted: the walk that brings the rows, and their delivery. The order by gaps takes
 * two: the first fits the curve of results by evaluations.
 */
#include <math.h>
#include <stdlib.h>

#include "store/query/scan_priv.h"
#include "store/store.h"

/* Rows that are looked for at a time. */
#define HELPING 64

static void walk_again(struct chi_scan *scan)
{
	scan->range = scan->sorted_range;
	scan->begun = false;
	scan->last_len = 0;
	scan->last_range = CHI_SCAN_RANGE_OVER;
	scan->at_given = 0;
}

int chi_sorted_open(struct chi_scan *scan)
{
	/* The order of the walk does not matter. Of the whole store it is that of the position
	 * tree: records are there, and need not be looked up one by one. */
	if (scan->spec.chi2_min == 0) {
		scan->range = CHI_SCAN_RANGE_POSITION;
	}
	scan->sorted_range = scan->range;
	scan->joins = true;
	if (scan->spec.sort == CHI_SORT_GAP) {
		scan->curve = calloc(1, sizeof(*scan->curve));
		if (scan->curve == NULL) {
			return -CHI_ENOMEM;
		}
	}
	return chi_sorted_init(&scan->spec, &scan->sorted);
}

/* ---- By gaps ------------------------------------------------------------------------------ */

/* A row that is to be sorted has the eval statistic as its score. */
static int centipawns(const struct chi_row *row)
{
	return chi_expect_centipawns((uint16_t)row->score);
}

static double ended_games(const struct chi_row *row, double *points)
{
	const struct chi_counts *c = &row->counts;
	*points = (double)c->white + (double)c->draws / 2;
	return (double)c->white + (double)c->draws + (double)c->black;
}

static void add_to_curve(struct chi_expect *curve, const struct chi_row *row)
{
	double points;
	double n = ended_games(row, &points);
	chi_expect_add_many(curve, centipawns(row), (uint64_t)n, points,
			    (double)row->counts.white + (double)row->counts.draws / 4);
}

/* In thousandths of a standard deviation. */
static int32_t gap_of(const struct chi_expect *curve, const struct chi_row *row)
{
	double points;
	double variance;
	double n = ended_games(row, &points);
	double e = chi_expect_at(curve, centipawns(row), &variance);
	double z = fabs(points - n * e) / sqrt(n * variance);
	return z < 1e6 ? (int32_t)lround(1000 * z) : INT32_MAX;
}

/* ---- The walk ----------------------------------------------------------------------------- */

static void take_row(struct chi_scan *scan, struct chi_row *row)
{
	if (scan->curve != NULL && !scan->is_fitted) {
		add_to_curve(scan->curve, row);
		return;
	}
	if (scan->curve != NULL) {
		row->score = gap_of(scan->curve, row);
	}
	chi_sorted_add(&scan->spec, &scan->sorted, row);
}

/* A walk is over. */
static void end_walk(struct chi_scan *scan)
{
	if (scan->curve != NULL && !scan->is_fitted) {
		chi_expect_fit(scan->curve);
		scan->is_fitted = true;
		walk_again(scan);
	} else {
		chi_sorted_finish(&scan->spec, &scan->sorted);
	}
	scan->rc = CHI_OK;
}

int chi_sorted_collect(struct chi_scan *scan, uint64_t steps)
{
	struct chi_row rows[HELPING] = {0};
	while (scan->rc == CHI_OK && !scan->sorted.collected && steps > 0) {
		struct chi_scan_batch batch = {.rows = rows, .max = HELPING, .steps = steps};
		scan->rc =
			scan->range != CHI_SCAN_RANGE_OVER ? chi_walk_some(scan, &batch) : CHI_NONE;
		steps = batch.steps;
		for (size_t i = 0; i < batch.n; i++) {
			take_row(scan, &rows[i]);
		}
		if (scan->rc == CHI_NONE) {
			end_walk(scan);
		}
	}
	return scan->rc;
}

int chi_sorted_rows(struct chi_scan *scan, struct chi_row *rows, size_t max, size_t *n)
{
	struct chi_sorted *sorted = &scan->sorted;
	*n = 0;
	if (scan->rc != CHI_OK || !sorted->collected) {
		return scan->rc;
	}
	*n = chi_sorted_take(sorted, rows, max);
	scan->rows += *n;
	scan->rc = sorted->at == sorted->n ? CHI_NONE : CHI_OK;
	return scan->rc;
}
