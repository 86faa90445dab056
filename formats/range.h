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
chi_range_reader chi_range_depth;   /* struct chi_evidence.depth */

/* The first and the last second of days, months or years: "2020..2022", "2024-05..", "2024-05-17";
 * an open end is the oldest time that is one, or 0, no bound. False if it is no such span; the
 * first may be after the last. */
bool chi_range_time(const char *value, uint64_t *since, uint64_t *until);
