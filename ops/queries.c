/* SPDX-License-Identifier: MIT */
/* The table of queries. */
#include "ops/queries.h"

static const struct chi_query_ops *const queries[CHI_OP_COUNT_OF_OPS] = {
	[CHI_OP_GAME_QUERY] = &chi_games_query, [CHI_OP_GAMESETS] = &chi_gamesets_ops,
	[CHI_OP_NAMES] = &chi_names_ops,	[CHI_OP_STATS] = &chi_stats_query,
	[CHI_OP_SUSPECTS] = &chi_suspects_ops,	[CHI_OP_TWINS] = &chi_twins_query,
};

const struct chi_query_ops *chi_query_ops_of(enum chi_op op)
{
	return op < CHI_OP_COUNT_OF_OPS ? queries[op] : NULL;
}
