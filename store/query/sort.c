/* SPDX-License-Identifier: MIT */
/* Scans that are sorted: the walk that brings the rows, and their delivery. */
#include "store/query/scan_priv.h"
#include "store/store.h"

/* Rows that are looked for at a time. */
#define HELPING 64

int chi_sorted_open(struct chi_scan *scan)
{
	struct chi_scan_spec *spec = &scan->spec;
	/* The order of the walk does not matter. Of the whole store it is that of the position
	 * tree: records are there, and need not be looked up one by one. */
	if (spec->chi2_min == 0) {
		scan->range = CHI_SCAN_RANGE_POSITION;
	}
	scan->joins = true;
	return chi_sorted_init(spec, &scan->sorted);
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
			chi_sorted_add(&scan->spec, &scan->sorted, &rows[i]);
		}
		if (scan->rc == CHI_NONE) {
			chi_sorted_finish(&scan->spec, &scan->sorted);
			scan->rc = CHI_OK;
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
