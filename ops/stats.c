/* SPDX-License-Identifier: MIT */
/* Stats: games, or positions, are counted on one snapshot; then groups come with their names. */
#include "ops/queries.h"

#include "search/stats.h"

/* Groups whose names are looked up between two looks at the clock. */
#define GROUPS_A_HELPING 100

struct stats_query {
	struct chi_query query;
	struct chi_stats *stats; /* NULL: not open */
	bool is_later;		 /* on another snapshot than it was counted on */
};

/* Once all is counted only names are looked up; one that has gone by then is left out. */
static int attach_stats(struct chi_query *query, struct chi_fault *fault)
{
	struct stats_query *stats = (struct stats_query *)query;
	stats->is_later = query->is_ready;
	return query->is_ready ? CHI_OK
			       : chi_stats_open(query->read, query->request, &stats->stats, fault);
}

static void detach_stats(struct chi_query *query)
{
	chi_stats_detach(((struct stats_query *)query)->stats);
}

static int count_stats(struct chi_query *query, struct chi_fault *fault)
{
	(void)fault;
	return chi_stats_step(((struct stats_query *)query)->stats, query->steps);
}

static int keep_group(struct stats_query *stats, struct chi_page *page,
		      const struct chi_stats_row *row)
{
	const struct chi_stats_spec *asked = stats->query.request;
	int status = chi_page_grow(page);
	if (status < 0) {
		return status;
	}
	struct chi_stats_group *groups = page->items;
	status = chi_stats_group_of(stats->query.read, asked->by, row, &page->arena,
				    &groups[page->n]);
	chi_page_added(page, status == CHI_OK ? 1 : 0);
	return status == CHI_NONE ? (stats->is_later ? CHI_OK : -CHI_ECORRUPT) : status;
}

static int send_stats(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	struct stats_query *stats = (struct stats_query *)query;
	size_t n = 0;
	const struct chi_stats_row *rows = chi_stats_rows(stats->stats, &n);
	(void)fault;
	for (size_t i = 0; i < GROUPS_A_HELPING && query->at < n && !chi_page_full(page); i++) {
		int status = keep_group(stats, page, &rows[query->at]);
		if (status < 0) {
			return status;
		}
		query->at++;
	}
	return query->at == n ? CHI_NONE : CHI_OK;
}

static uint64_t limit_of_stats(const void *request)
{
	return ((const struct chi_stats_spec *)request)->limit;
}

static size_t memory_of_stats(const struct chi_query *query)
{
	const struct chi_stats *stats = ((const struct stats_query *)query)->stats;
	return stats != NULL ? chi_stats_memory(stats) : 0;
}

static const char *unknown_in_stats(const struct chi_query *query, size_t i)
{
	return chi_stats_unknown(((const struct stats_query *)query)->stats, i);
}

static void close_stats(struct chi_query *query)
{
	struct stats_query *stats = (struct stats_query *)query;
	chi_stats_close(stats->stats);
	stats->stats = NULL;
}

const struct chi_query_ops chi_stats_query = {
	.size = sizeof(struct stats_query),
	.finds = true,
	.steps = 4,
	.filter_at = offsetof(struct chi_stats_spec, filter),
	.attach = attach_stats,
	.detach = detach_stats,
	.work = count_stats,
	.rows = send_stats,
	.limit = limit_of_stats,
	.memory = memory_of_stats,
	.unknown = unknown_in_stats,
	.close = close_stats,
};
