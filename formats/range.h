/* SPDX-License-Identifier: MIT */
/* Ranges as people write them: "A..B", "A..", "..B" or "A". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chistore/types.h"

/* Within min..max; an open end is `min` or `max`. False if it is no such range. */
bool chi_range_number(const char *value, uint64_t min, uint64_t max, uint64_t *low, uint64_t *high);

/* False if it is no range; the lower bound may be above the upper one. */
typedef bool chi_range_reader(const char *value, struct chi_range *out);

chi_range_reader chi_range_percent; /* struct chi_filter.score: "62..65" */
chi_range_reader chi_range_eval;    /* .eval: White's pawns, "0.95..1.05", or "#5..#1" */
chi_range_reader chi_range_ply;	    /* .ply */
