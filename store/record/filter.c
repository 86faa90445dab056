/* SPDX-License-Identifier: MIT */
/*
 * What a filter asks of records. Cheap questions come first: the counts are at a record's start;
 * plies and evaluations have to be looked for in the rest of it, without memory.
 */
#include "store/record/filter.h"

#include "base/evidence.h"
#include "base/record.h"
#include "chess/bitboard.h"
#include "chess/sieve.h"
#include "chess/statistic.h"
#include "store/record/codec.h"

static bool is_deep(const struct chi_filter *filter)
{
	return filter->eval.set || filter->ply.set || filter->engines_min > 0;
}

bool chi_filter_joins(const struct chi_filter *filter)
{
	return filter->games_min > 0 || filter->score.set || is_deep(filter);
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
	return sort == CHI_SORT_EVAL ? eval != CHI_CHI2_UNKNOWN
	       : sort == CHI_SORT_GAP
		       ? eval != CHI_CHI2_UNKNOWN && chi_counts_share(&row->counts, &share)
	       : sort == CHI_SORT_SCORE ? chi_counts_share(&row->counts, &share)
					: true;
}

int chi_filter_record(const struct chi_filter *filter, enum chi_sort sort, const uint8_t *key,
		      size_t key_len, const uint8_t *value, size_t len, struct chi_row *row,
		      bool *wanted)
{
	struct chi_record_summary summary = {.min_ply = -1};
	bool deep = is_deep(filter) || sort == CHI_SORT_EVAL || sort == CHI_SORT_GAP;
	uint16_t eval = CHI_CHI2_UNKNOWN;
	int rc = CHI_OK;
	*wanted = wants_counts(filter, &row->counts);
	if (*wanted && deep) {
		rc = chi_record_summarise(value, len, chi_evidence_or_null(&filter->evidence),
					  &summary);
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
