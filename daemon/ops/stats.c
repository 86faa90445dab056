/* SPDX-License-Identifier: MIT */
/* Statistics as a run: counted on one snapshot, then sent in pages. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "daemon/settings/limits.h"
#include "search/stats.h"
#include "store/store.h"

/* Groups whose names are looked up between two looks at the clock. */
#define GROUPS_A_HELPING 100

struct stats_run {
	struct chi_run run;
	struct chi_stats *stats; /* NULL: not open */
	bool counted;
	size_t at; /* the next group */
	uint8_t by;
	uint64_t limit;
	size_t filter_len;
	char filter[];
};

static struct stats_run *stats_of(struct chi_run *run)
{
	return (struct stats_run *)run;
}

static int open_stats(struct chi_run *run, struct chi_fault *fault)
{
	struct stats_run *stats = stats_of(run);
	const struct chi_stats_spec spec = {.by = stats->by,
					    .filter = stats->filter,
					    .filter_len = stats->filter_len,
					    .limit = stats->limit};
	return stats->counted ? CHI_OK : chi_stats_open(run->read, &spec, &stats->stats, fault);
}

/* Once all is counted only names are looked up, which no one changes. */
static bool stats_may_move(const struct chi_run *run)
{
	return ((const struct stats_run *)run)->counted;
}

/* Without its snapshot it counts again. */
static void release_stats(struct chi_run *run)
{
	struct stats_run *stats = stats_of(run);
	if (stats->counted) {
		chi_stats_detach(stats->stats);
	} else {
		chi_stats_close(stats->stats);
		stats->stats = NULL;
	}
}

static int send_groups(struct stats_run *stats)
{
	struct chi_run *run = &stats->run;
	size_t n = 0;
	const struct chi_stats_row *rows = chi_stats_rows(stats->stats, &n);
	int status = CHI_OK;
	for (size_t i = 0; i < GROUPS_A_HELPING && stats->at < n && !chi_page_full(&run->page);
	     i++) {
		status = chi_page_grow(&run->page);
		struct chi_stats_group *group = &run->page.groups[run->page.n];
		status = status == CHI_OK
				 ? chi_stats_group_of(run->read, stats->by, &rows[stats->at],
						      &run->page.arena, group)
				 : status;
		if (status < 0) {
			return status;
		}
		run->page.bytes += chi_stats_group_size(group);
		chi_page_added(&run->page, 1);
		stats->at++;
	}
	return stats->at == n ? CHI_NONE : CHI_OK;
}

static int step_stats(struct chi_run *run, struct chi_fault *fault)
{
	struct stats_run *stats = stats_of(run);
	(void)fault;
	if (stats->counted) {
		return send_groups(stats);
	}
	int status = chi_stats_step(stats->stats, CHI_SEARCH_STEPS);
	stats->counted = status == CHI_NONE;
	return status < 0 ? status : CHI_OK;
}

static void fill_stats(struct chi_run *run, struct chi_response *response)
{
	const char *name = NULL;
	response->u.stats.groups = run->page.groups;
	response->u.stats.n = run->page.n;
	for (size_t i = 0;
	     response->last && (name = chi_stats_unknown(stats_of(run)->stats, i)) != NULL; i++) {
		chi_run_tell_unknown(run, response, name);
	}
}

static bool forget_stats(struct chi_run *run)
{
	stats_of(run)->at -= run->page.n;
	return true;
}

static size_t memory_of_stats(const struct chi_run *run)
{
	const struct stats_run *stats = (const struct stats_run *)run;
	return sizeof(*stats) - sizeof(*run) + stats->filter_len +
	       (stats->stats != NULL ? chi_stats_memory(stats->stats) : 0);
}

static void free_stats(struct chi_run *run)
{
	chi_stats_close(stats_of(run)->stats);
	free(run);
}

static const struct chi_run_ops stats_ops = {
	.pages = true,
	.open = open_stats,
	.release = release_stats,
	.step = step_stats,
	.fill = fill_stats,
	.may_move = stats_may_move,
	.forget = forget_stats,
	.memory = memory_of_stats,
	.free = free_stats,
};

int chi_handle_stats(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	const struct chi_text *filter = &request->u.stats.filter;
	int status = chi_task_filter(task, "stats", "filter", filter);
	if (status < 0) {
		return status;
	}
	struct stats_run *stats = calloc(1, sizeof(*stats) + filter->len + 1);
	if (stats == NULL) {
		return -CHI_ENOMEM;
	}
	stats->by = request->u.stats.by;
	stats->limit = request->u.stats.limit;
	stats->filter_len = filter->len;
	memcpy(stats->filter, filter->bytes, filter->len);
	chi_page_init(&stats->run.page, sizeof(struct chi_stats_group), CHI_SCAN_ROWS_MAX);
	chi_run_start(&stats->run, &stats_ops, task, chi_call_window(request->u.stats.window));
	return CHI_OK;
}
