/* SPDX-License-Identifier: MIT */
/*
 * What a filter asks of records. Cheap questions come first: the counts are at a record's start;
 * plies and evaluations have to be looked for in the rest of it, without memory.
 */
#include "base/record.h"
#include "chess/bitboard.h"
#include "chess/sieve.h"
#include "chess/statistic.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"

static bool is_deep(const struct chi_filter *filter)
{
	return filter->eval.set || filter->ply.set || filter->engines_min > 0;
}

bool chi_scan_joins(const struct chi_scan *scan)
{
	const struct chi_filter *filter = &scan->spec.filter;
	return filter->games_min > 0 || filter->score.set || is_deep(filter) || scan->judge != NULL;
}

void chi_scan_judged(struct chi_scan *scan, chi_scan_judge *judge, void *context)
{
	scan->judge = judge;
	scan->judge_context = context;
	scan->joins = true;
}

/* Leaves the counts of the games that count. */
static int judge_games(const struct chi_scan *scan, const uint8_t *key, size_t key_len,
		       const uint8_t *value, size_t len, struct chi_row *row, bool *wanted)
{
	struct chi_reached *reached = NULL;
	int rc = chi_reached_of(scan->read, key, key_len, value, len, 1, &reached);
	if (rc >= 0) {
		rc = scan->judge(scan->judge_context, reached, &row->counts, NULL, 0);
	}
	chi_reached_close(reached);
	*wanted = rc == CHI_OK;
	return rc == CHI_NONE ? CHI_OK : rc;
}

static bool in_band(const struct chi_scan *scan, uint16_t chi2)
{
	return scan->range == CHI_SCAN_RANGE_UNKNOWN
		       ? chi2 == CHI_CHI2_UNKNOWN
		       : chi2 >= scan->spec.chi2_min && chi2 <= scan->spec.chi2_max;
}

static bool in_range(const struct chi_range *range, bool known, int value)
{
	return !range->set || (known && value >= range->min && value <= range->max);
}

static bool wants_counts(const struct chi_filter *filter, const struct chi_counts *counts)
{
	uint16_t share = 0;
	if (counts->white + counts->draws + counts->black < filter->games_min) {
		return false;
	}
	return !filter->score.set || (chi_counts_share(counts, &share) &&
				      share >= filter->score.min && share <= filter->score.max);
}

/* As the eval statistic has it. */
static uint16_t eval_of(const struct chi_row *row, const uint8_t *key, size_t key_len)
{
	const struct chi_eval eval = {.is_mate = row->is_mate, .score = row->score};
	bool black = chi_sieve_black_moves(key, key_len, chi_sieve_count(key, key_len));
	return row->has_eval ? chi_statistic_eval(&eval, black ? CHI_BLACK : CHI_WHITE)
			     : CHI_CHI2_UNKNOWN;
}

/* `row` holds the statistic and the counts. */
static bool is_sortable(enum chi_sort sort, const struct chi_row *row, uint16_t eval)
{
	uint16_t share;
	return sort == CHI_SORT_EVAL	? eval != CHI_CHI2_UNKNOWN
	       : sort == CHI_SORT_SCORE ? chi_counts_share(&row->counts, &share)
					: true;
}

int chi_scan_match(const struct chi_scan *scan, const uint8_t *key, size_t key_len,
		   const uint8_t *value, size_t len, struct chi_row *row, bool *wanted)
{
	const struct chi_filter *filter = &scan->spec.filter;
	enum chi_sort sort = scan->spec.sort;
	struct chi_record_summary summary = {.min_ply = -1};
	bool deep = is_deep(filter) || sort == CHI_SORT_EVAL;
	uint16_t eval = CHI_CHI2_UNKNOWN;
	int rc = chi_record_peek(value, len, &row->chi2, &row->counts);
	*wanted = rc == CHI_OK && in_band(scan, row->chi2);
	if (*wanted && scan->judge != NULL) {
		rc = judge_games(scan, key, key_len, value, len, row, wanted);
	}
	*wanted = *wanted && rc == CHI_OK && wants_counts(filter, &row->counts);
	if (*wanted && deep) {
		rc = chi_record_summarise(value, len, &summary);
		eval = eval_of(&summary.row, key, key_len);
		*wanted = rc == CHI_OK &&
			  in_range(&filter->ply, summary.min_ply >= 0, summary.min_ply) &&
			  in_range(&filter->eval, eval != CHI_CHI2_UNKNOWN, eval) &&
			  summary.engines >= filter->engines_min;
	}
	if (*wanted && sort != CHI_SORT_NONE) {
		*wanted = is_sortable(sort, row, eval);
		row->score = eval;
	}
	return rc;
}
