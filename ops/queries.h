/* SPDX-License-Identifier: MIT */
/* The queries there are; their table is in table.c. */
#pragma once

#include "ops/query.h"

extern const struct chi_query_ops chi_count_ops;     /* scan.c */
extern const struct chi_query_ops chi_explore_ops;   /* explore.c */
extern const struct chi_query_ops chi_games_query;   /* games.c */
extern const struct chi_query_ops chi_gamesets_ops;  /* gamesets.c */
extern const struct chi_query_ops chi_insight_query; /* insight.c */
extern const struct chi_query_ops chi_names_ops;     /* names.c */
extern const struct chi_query_ops chi_suspects_ops;  /* names.c */
extern const struct chi_query_ops chi_scan_ops;	     /* scan.c */
extern const struct chi_query_ops chi_stats_query;   /* stats.c */
extern const struct chi_query_ops chi_twins_query;   /* twins.c */
