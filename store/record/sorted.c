/* SPDX-License-Identifier: MIT */
/*
 * The first rows of a band by what no tree is in the order of. A heap holds the rows that are the
 * first so far, the last of them on top: most others are seen to come after it, and go. When the
 * walk is over, the heap is sorted and its rows are delivered.
 */
#include "store/record/sorted.h"

#include <stdlib.h>
#include <string.h>

#include "base/record.h"
#include "store/record/codec.h"

int chi_sorted_init(const struct chi_scan_spec *spec, struct chi_sorted *sorted)
{
	sorted->max = (size_t)spec->limit;
	sorted->rows = malloc(sorted->max * sizeof(*sorted->rows));
	return sorted->rows != NULL ? CHI_OK : -CHI_ENOMEM;
}

static uint64_t games(const struct chi_row *row)
{
	return row->counts.white + row->counts.draws + row->counts.black;
}

static uint64_t sort_value(enum chi_sort sort, const struct chi_row *row)
{
	uint16_t share = 0;
	switch (sort) {
	case CHI_SORT_SCORE:
		return chi_counts_share(&row->counts, &share) ? share : 0;
	case CHI_SORT_EVAL:
	case CHI_SORT_GAP: /* the caller has put it there */
		return (uint64_t)row->score;
	case CHI_SORT_GAMES:
	case CHI_SORT_NONE:
	default:
		return games(row);
	}
}

/* True if `a` is delivered before `b`. */
static bool before(const struct chi_scan_spec *spec, const struct chi_row *a,
		   const struct chi_row *b)
{
	uint64_t value_a = sort_value((enum chi_sort)spec->sort, a);
	uint64_t value_b = sort_value((enum chi_sort)spec->sort, b);
	if (value_a != value_b) {
		return (value_a > value_b) == spec->descending;
	}
	if (games(a) != games(b)) {
		return games(a) > games(b);
	}
	return chi_position_compare(a->key.bytes, a->key.len, b->key.bytes, b->key.len) < 0;
}

/* Puts `row` where the heap of `n` rows has a gap at `at`, or below. */
static void sift_down(const struct chi_scan_spec *spec, struct chi_row *rows, size_t n, size_t at,
		      const struct chi_row *row)
{
	for (;;) {
		size_t child = 2 * at + 1;
		if (child + 1 < n && before(spec, &rows[child], &rows[child + 1])) {
			child++;
		}
		if (child >= n || !before(spec, row, &rows[child])) {
			break;
		}
		rows[at] = rows[child];
		at = child;
	}
	rows[at] = *row;
}

void chi_sorted_add(const struct chi_scan_spec *spec, struct chi_sorted *sorted,
		    const struct chi_row *row)
{
	struct chi_row *rows = sorted->rows;
	if (sorted->n == sorted->max) {
		if (before(spec, row, &rows[0])) {
			sift_down(spec, rows, sorted->n, 0, row);
		}
		return;
	}
	size_t at = sorted->n++;
	while (at > 0 && before(spec, &rows[(at - 1) / 2], row)) {
		rows[at] = rows[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	rows[at] = *row;
}

void chi_sorted_finish(const struct chi_scan_spec *spec, struct chi_sorted *sorted)
{
	struct chi_row *rows = sorted->rows;
	/* The last of them goes from the top to the end, again and again. */
	for (size_t n = sorted->n; n > 1; n--) {
		struct chi_row last = rows[n - 1];
		rows[n - 1] = rows[0];
		sift_down(spec, rows, n - 1, 0, &last);
	}
	for (size_t i = 0; i < sorted->n; i++) {
		rows[i].score = 0;
		if (spec->want == CHI_WANT_KEYS) {
			rows[i].counts = (struct chi_counts){0};
		}
	}
	sorted->collected = true;
}

size_t chi_sorted_take(struct chi_sorted *sorted, struct chi_row *rows, size_t max)
{
	size_t left = sorted->n - sorted->at;
	size_t n = left < max ? left : max;
	memcpy(rows, sorted->rows + sorted->at, n * sizeof(*rows));
	sorted->at += n;
	return n;
}
