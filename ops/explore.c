/* SPDX-License-Identifier: MIT */
/*
 * What was played from a position: one position and all that are one move away, a look-up each,
 * done together and answered at once. Of the games that fit a filter it is a query whose rows are
 * the moves: all come in one page, after the last game was looked at.
 */
#include "ops/answer.h"
#include "ops/queries.h"

#include <string.h>

#include "base/evidence.h"
#include "base/fault.h"
#include "chess/key.h"
#include "search/explore.h"
#include "search/filter/terms.h"
#include "store/store.h"

_Static_assert(CHI_FILTER_MAX == CHI_TERMS_TEXT_MAX, "a filter that may be sent can be parsed");
_Static_assert(sizeof(struct chi_explored) <= CHI_RESULT_SIZE, "a driver has room for it");

struct explore_query {
	struct chi_query query;
	struct chi_key key;
	struct chi_filtered_explore *explore; /* NULL: not open */
	struct chi_explored found;	      /* in the page's memory */
};

static int position_of(const struct chi_explore_request *asked, struct chi_key *out,
		       const char **field, struct chi_fault *fault)
{
	*out = asked->key;
	int status = asked->fen != NULL
			     ? chi_key_from_fen(asked->fen, strlen(asked->fen), out, fault)
			     : CHI_OK;
	*field = status < 0 ? "fen" : NULL;
	if (status == CHI_OK) {
		status = chi_evidence_check(&asked->evidence, fault);
		*field = status < 0 ? "evidence" : NULL;
	}
	return status;
}

int chi_answer_explore(struct chi_ask *ask, const void *request, void *result)
{
	struct chi_key key;
	const struct chi_explore_request *asked = request;
	int status = position_of(asked, &key, &ask->field, ask->fault);
	if (status == CHI_OK) {
		chi_read_see(ask->read, &asked->evidence);
		status = chi_read_explore(ask->read, &key, ask->arena, result, ask->fault);
		chi_read_see(ask->read, NULL);
		ask->field = status == -CHI_EKEY ? "key" : NULL;
	}
	return status;
}

/* ---- Of games ---------------------------------------------------------------------------- */

static struct explore_query *explore_of(struct chi_query *query)
{
	return (struct explore_query *)query;
}

static int open_explore(struct chi_query *query, const char **field, struct chi_fault *fault)
{
	const struct chi_explore_request *asked = query->request;
	int status = position_of(asked, &explore_of(query)->key, field, fault);
	return status == CHI_OK ? chi_query_filter(asked->filter, field, fault) : status;
}

static int attach_explore(struct chi_query *query, struct chi_fault *fault)
{
	const struct chi_explore_request *asked = query->request;
	const char *filter = asked->filter != NULL ? asked->filter : "";
	chi_read_see(query->read, &asked->evidence);
	return chi_filtered_explore_open(query->read, &explore_of(query)->key, filter,
					 strlen(filter), &explore_of(query)->explore, fault);
}

static void detach_explore(struct chi_query *query)
{
	chi_filtered_explore_close(explore_of(query)->explore);
	explore_of(query)->explore = NULL;
}

/* It is over in a moment, or begins again. */
static bool explore_may_detach(const struct chi_query *query)
{
	(void)query;
	return false;
}

/* They are too few to fill a response. */
static int put_explored_moves(struct chi_page *page, const struct chi_explored *found)
{
	for (size_t i = 0; i < found->n_moves; i++) {
		int status = chi_page_grow(page);
		if (status < 0) {
			return status;
		}
		((struct chi_explore_move *)page->items)[page->n] = found->moves[i];
		chi_page_added_one(page, 0);
	}
	return CHI_NONE;
}

static int send_explore(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	struct explore_query *explore = explore_of(query);
	int status = chi_filtered_explore_step(explore->explore, query->steps);
	if (status == CHI_NONE) {
		status = chi_filtered_explore_result(explore->explore, &page->arena,
						     &explore->found, fault);
		status = status == CHI_OK ? put_explored_moves(page, &explore->found) : status;
	}
	return status;
}

/* The rows are those of the page. */
static void deliver_explore(struct chi_query *query, const struct chi_page *page, bool last,
			    void *result)
{
	struct chi_explored *out = result;
	(void)last;
	*out = explore_of(query)->found;
	out->moves = page->items;
	out->n_moves = page->n;
}

static size_t memory_of_explore(const struct chi_query *query)
{
	const struct chi_filtered_explore *explore = ((const struct explore_query *)query)->explore;
	return explore != NULL ? chi_filtered_explore_memory(explore) : 0;
}

static const char *unknown_in_explore(const struct chi_query *query, size_t i)
{
	return chi_filtered_explore_unknown(((const struct explore_query *)query)->explore, i);
}

const struct chi_query_ops chi_explore_ops = {
	.size = sizeof(struct explore_query),
	.steps = 4,
	.open = open_explore,
	.attach = attach_explore,
	.detach = detach_explore,
	.may_detach = explore_may_detach,
	.rows = send_explore,
	.deliver = deliver_explore,
	.memory = memory_of_explore,
	.unknown = unknown_in_explore,
	.close = detach_explore,
};
