/* SPDX-License-Identifier: MIT */
/* Which records a scan wants: by its band, its games and its filter. */
#include "store/query/scan_priv.h"
#include "store/record/codec.h"
#include "store/record/filter.h"

bool chi_scan_joins(const struct chi_scan *scan)
{
	return chi_filter_joins(&scan->spec.filter) || scan->judge != NULL;
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

int chi_scan_match(const struct chi_scan *scan, const uint8_t *key, size_t key_len,
		   const uint8_t *value, size_t len, struct chi_row *row, bool *wanted)
{
	int rc = chi_record_peek(value, len, &row->chi2, &row->counts);
	*wanted = rc == CHI_OK && in_band(scan, row->chi2);
	if (*wanted && scan->judge != NULL) {
		rc = judge_games(scan, key, key_len, value, len, row, wanted);
	}
	if (rc == CHI_OK && *wanted) {
		rc = chi_filter_record(&scan->spec.filter, (enum chi_sort)scan->spec.sort, key,
				       key_len, value, len, row, wanted);
	}
	return rc;
}
