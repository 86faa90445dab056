/* SPDX-License-Identifier: MIT */
/* What a filter asks of a record; what it asks of the key alone is chess/sieve.h's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* The filter asks for what only the record tells. */
bool chi_filter_joins(const struct chi_filter *filter);

/* Whether the filter wants a record whose statistic and counts are in `row` already. A sort wants
 * those that have what it goes by, and has the evaluation, as the eval statistic has it, in
 * row->score. CHI_OK or -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_filter_record(const struct chi_filter *filter, enum chi_sort sort,
				  const uint8_t *key, size_t key_len, const uint8_t *value,
				  size_t len, struct chi_row *row, bool *wanted);
