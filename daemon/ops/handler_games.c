/* SPDX-License-Identifier: MIT */
/* What was played from a position in the games that fit, a run. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "daemon/settings/limits.h"
#include "search/explore.h"
#include "search/filter/terms.h"
#include "store/store.h"

_Static_assert(CHI_FILTER_MAX == CHI_TERMS_TEXT_MAX, "a filter that may be sent can be parsed");

int chi_task_filter(struct chi_task *task, const char *name, const char *field,
		    const struct chi_text *filter)
{
	struct chi_terms terms;
	int status = chi_terms_parse(filter->bytes, filter->len, &terms, &task->fault);
	return status < 0 ? chi_task_field(task, status, "%s.%s", name, field) : CHI_OK;
}

/* ---- Explore ----------------------------------------------------------------------------- */

struct explore_run {
	struct chi_run run;
	struct chi_key key;
	struct chi_filtered_explore *explore; /* NULL: not open */
	struct chi_explore result;
	size_t filter_len;
	char filter[];
};

static struct explore_run *explore_of(struct chi_run *run)
{
	return (struct explore_run *)run;
}

static int open_explore(struct chi_run *run, struct chi_fault *fault)
{
	struct explore_run *explore = explore_of(run);
	return chi_filtered_explore_open(run->read, &explore->key, explore->filter,
					 explore->filter_len, &explore->explore, fault);
}

static void release_explore(struct chi_run *run)
{
	chi_filtered_explore_close(explore_of(run)->explore);
	explore_of(run)->explore = NULL;
}

/* It is over in a moment, or begins again. */
static bool explore_may_move(const struct chi_run *run)
{
	(void)run;
	return false;
}

static int step_explore(struct chi_run *run, struct chi_fault *fault)
{
	struct explore_run *explore = explore_of(run);
	int status = chi_filtered_explore_step(explore->explore, CHI_SEARCH_STEPS);
	if (status == CHI_NONE) {
		status = chi_filtered_explore_result(explore->explore, &run->page.arena,
						     &explore->result, fault);
		status = status == CHI_OK ? CHI_NONE : status;
	}
	return status;
}

static void fill_explore(struct chi_run *run, struct chi_response *response)
{
	const struct chi_filtered_explore *explore = explore_of(run)->explore;
	const char *name = NULL;
	response->u.explore = explore_of(run)->result;
	for (size_t i = 0; (name = chi_filtered_explore_unknown(explore, i)) != NULL; i++) {
		chi_run_tell_unknown(run, response, name);
	}
}

static size_t memory_of_explore(const struct chi_run *run)
{
	const struct explore_run *explore = (const struct explore_run *)run;
	return sizeof(*explore) - sizeof(*run) + explore->filter_len +
	       (explore->explore != NULL ? chi_filtered_explore_memory(explore->explore) : 0);
}

static void free_explore(struct chi_run *run)
{
	free(run);
}

static const struct chi_run_ops explore_ops = {
	.open = open_explore,
	.release = release_explore,
	.step = step_explore,
	.fill = fill_explore,
	.may_move = explore_may_move,
	.memory = memory_of_explore,
	.free = free_explore,
};

int chi_handle_explore_games(struct chi_task *task)
{
	const struct chi_text *filter = &task->request->u.explore.filter;
	struct chi_key key;
	int status = chi_task_explored(task, "explore_games", &key);
	status = status == CHI_OK ? chi_task_filter(task, "explore_games", "filter", filter)
				  : status;
	if (status < 0) {
		return status;
	}
	struct explore_run *explore = calloc(1, sizeof(*explore) + filter->len + 1);
	if (explore == NULL) {
		return -CHI_ENOMEM;
	}
	explore->key = key;
	explore->filter_len = filter->len;
	memcpy(explore->filter, filter->bytes, filter->len);
	chi_page_init(&explore->run.page, 1, 1);
	chi_run_start(&explore->run, &explore_ops, task, 1);
	return CHI_OK;
}
