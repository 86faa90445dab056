/* SPDX-License-Identifier: MIT */
/* Insight: a whole snapshot is looked at, which cannot be done by halves; then findings come. */
#include "ops/queries.h"

#include "insight/insight.h"

#define ROWS_A_HELPING 256

struct insight_query {
	struct chi_query query;
	struct chi_insight *insight; /* NULL: not open */
	size_t at;		     /* the next row */
	size_t delivered;	     /* the first one after the last page */
};

static struct insight_query *insight_of(struct chi_query *query)
{
	return (struct insight_query *)query;
}

static int open_insight(struct chi_query *query, const char **field, struct chi_fault *fault)
{
	const struct chi_insight_spec *asked = query->request;
	return chi_query_filter(asked->filter, field, fault);
}

static int attach_insight(struct chi_query *query, struct chi_fault *fault)
{
	return query->is_ready ? CHI_OK
			       : chi_insight_open(query->read, query->request,
						  &insight_of(query)->insight, fault);
}

/* Once all is found it needs no snapshot; before, without its own it begins again. */
static void detach_insight(struct chi_query *query)
{
	struct insight_query *insight = insight_of(query);
	if (!query->is_ready) {
		chi_insight_close(insight->insight);
		insight->insight = NULL;
	}
}

static bool insight_may_detach(const struct chi_query *query)
{
	return query->is_ready;
}

static int find_insight(struct chi_query *query, struct chi_fault *fault)
{
	return chi_insight_step(insight_of(query)->insight, query->steps, fault);
}

static int send_insight(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	struct insight_query *insight = insight_of(query);
	const struct chi_insight_result *all = chi_insight_rows(insight->insight);
	(void)fault;
	for (int i = 0; i < ROWS_A_HELPING && insight->at < all->n && !chi_page_full(page); i++) {
		int status = chi_page_grow(page);
		if (status < 0) {
			return status;
		}
		((struct chi_insight_row *)page->items)[page->n] = all->rows[insight->at++];
		chi_page_added(page, 1);
	}
	return insight->at == all->n ? CHI_NONE : CHI_OK;
}

static void deliver_insight(struct chi_query *query, const struct chi_page *page, bool last,
			    void *result)
{
	struct insight_query *insight = insight_of(query);
	const struct chi_insight_result *all = chi_insight_rows(insight->insight);
	struct chi_insight_result *sent = result;
	(void)page;
	(void)last;
	insight->delivered = insight->at;
	sent->tested = all->tested;
	sent->games = all->games;
	sent->before = all->before;
}

static void forget_insight(struct chi_query *query, const struct chi_page *page)
{
	(void)page;
	insight_of(query)->at = insight_of(query)->delivered;
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
}

const struct chi_query_ops chi_insight_query = {
	.size = sizeof(struct insight_query),
	.whole = true,
	.steps = 64,
	.open = open_insight,
	.attach = attach_insight,
	.detach = detach_insight,
	.may_detach = insight_may_detach,
	.work = find_insight,
	.rows = send_insight,
	.deliver = deliver_insight,
	.forget = forget_insight,
	.limit = limit_of_insight,
	.memory = memory_of_insight,
	.unknown = unknown_in_insight,
	.close = close_insight,
};
