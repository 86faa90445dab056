/* SPDX-License-Identifier: MIT */
/* Twins: all games are sorted by their moves, which cannot be done by halves; then groups come. */
#include "ops/queries.h"

#include <string.h>

#include "base/fault.h"
#include "search/twins.h"

struct twins_query {
	struct chi_query query;
	struct chi_twins *twins; /* NULL: not open */
};

static struct twins_query *twins_of(struct chi_query *query)
{
	return (struct twins_query *)query;
}

static int attach_twins(struct chi_query *query, struct chi_fault *fault)
{
	return query->is_ready ? CHI_OK
			       : chi_twins_open(query->read, query->request,
						&twins_of(query)->twins, fault);
}

static void detach_twins(struct chi_query *query)
{
	chi_twins_detach(twins_of(query)->twins);
}

static int find_twins(struct chi_query *query, struct chi_fault *fault)
{
	(void)fault;
	return chi_twins_step(twins_of(query)->twins, query->steps);
}

static int twins_keep_group(struct chi_page *page, const struct chi_twin_group *group,
			    struct chi_fault *fault)
{
	if (group->n * sizeof(*group->games) > page->bytes_most) {
		return chi_fail(fault, -CHI_ETOOBIG,
				"game %u is there %zu times: ask for fewer by a filter",
				group->games[0], group->n);
	}
	int status = chi_page_grow(page);
	uint32_t *copy = chi_arena_array(&page->arena, group->n, sizeof(*copy));
	if (status < 0 || copy == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(copy, group->games, group->n * sizeof(*copy));
	struct chi_twin_group *kept = (struct chi_twin_group *)page->items + page->n;
	*kept = *group;
	kept->games = copy;
	chi_page_added(page, 1);
	return CHI_OK;
}

/* A group for which there is no room comes first in the next page. */
static int send_twins(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	struct chi_twins *twins = twins_of(query)->twins;
	chi_twins_go_back(twins, query->at);
	for (unsigned i = 0; i < query->steps && !chi_page_full(page); i++) {
		struct chi_twin_group group;
		if (chi_twins_next(twins, &group) == CHI_NONE) {
			return CHI_NONE;
		}
		size_t size = (group.n + 4) * sizeof(*group.games);
		if (page->n > 0 && page->bytes + size > page->bytes_most) {
			page->is_closed = true;
			return CHI_OK;
		}
		int status = twins_keep_group(page, &group, fault);
		if (status < 0) {
			return status;
		}
		query->at = chi_twins_place(twins);
	}
	return CHI_OK;
}

static size_t memory_of_twins(const struct chi_query *query)
{
	const struct chi_twins *twins = ((const struct twins_query *)query)->twins;
	return twins != NULL ? chi_twins_memory(twins) : 0;
}

static const char *unknown_in_twins(const struct chi_query *query, size_t i)
{
	return chi_twins_unknown(((const struct twins_query *)query)->twins, i);
}

static void close_twins(struct chi_query *query)
{
	chi_twins_close(twins_of(query)->twins);
	twins_of(query)->twins = NULL;
}

const struct chi_query_ops chi_twins_query = {
	.size = sizeof(struct twins_query),
	.whole = true,
	.finds = true,
	.steps = 64,
	.filter_at = offsetof(struct chi_twin_spec, filter),
	.attach = attach_twins,
	.detach = detach_twins,
	.work = find_twins,
	.rows = send_twins,
	.memory = memory_of_twins,
	.unknown = unknown_in_twins,
	.close = close_twins,
};
