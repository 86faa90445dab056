/* SPDX-License-Identifier: MIT */
/* Insight: a whole snapshot is looked at, which cannot be done by halves; then findings come. */
#include "ops/queries.h"

#include "insight/insight.h"

#define ROWS_A_HELPING 256

struct insight_query {
	struct chi_query query;
	struct chi_insight *insight; /* NULL: not open */
};

static struct insight_query *insight_of(struct chi_query *query)
{
	return (struct insight_query *)query;
}

static int attach_insight(struct chi_query *query, struct chi_fault *fault)
{
	return query->is_ready ? CHI_OK
			       : chi_insight_open(query->read, query->request,
						  &insight_of(query)->insight, fault);
}

static int find_insight(struct chi_query *query, struct chi_fault *fault)
{
	return chi_insight_step(insight_of(query)->insight, query->steps, fault);
}

static int send_insight(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	const struct chi_insight_result *all = chi_insight_rows(insight_of(query)->insight);
	(void)fault;
	for (int i = 0; i < ROWS_A_HELPING && query->at < all->n && !chi_page_full(page); i++) {
		int status = chi_page_grow(page);
		if (status < 0) {
			return status;
		}
		((struct chi_insight_row *)page->items)[page->n] = all->rows[query->at++];
		chi_page_added(page, 1);
	}
	return query->at == all->n ? CHI_NONE : CHI_OK;
}

static void deliver_insight(struct chi_query *query, const struct chi_page *page, bool last,
			    void *result)
{
	const struct chi_insight_result *all = chi_insight_rows(insight_of(query)->insight);
	struct chi_insight_result *sent = result;
	(void)page;
	(void)last;
	sent->tested = all->tested;
	sent->games = all->games;
	sent->before = all->before;
}

static uint64_t limit_of_insight(const void *request)
{
	return ((const struct chi_insight_spec *)request)->limit;
}

static size_t memory_of_insight(const struct chi_query *query)
{
	const struct chi_insight *insight = ((const struct insight_query *)query)->insight;
	return insight != NULL ? chi_insight_memory(insight) : 0;
}

static const char *unknown_in_insight(const struct chi_query *query, size_t i)
{
	return chi_insight_unknown(((const struct insight_query *)query)->insight, i);
}

static void close_insight(struct chi_query *query)
{
	chi_insight_close(insight_of(query)->insight);
	insight_of(query)->insight = NULL;
}

const struct chi_query_ops chi_insight_query = {
	.size = sizeof(struct insight_query),
	.whole = true,
	.finds = true,
	.steps = 64,
	.filter_at = offsetof(struct chi_insight_spec, filter),
	.attach = attach_insight,
	.work = find_insight,
	.rows = send_insight,
	.deliver = deliver_insight,
	.limit = limit_of_insight,
	.memory = memory_of_insight,
	.unknown = unknown_in_insight,
	.close = close_insight,
};
