/* SPDX-License-Identifier: MIT */
/* Queries of games as runs: rows, with texts and whole games if they are wanted, in pages. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/ops/game_rows.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "daemon/settings/limits.h"
#include "search/games.h"
#include "store/store.h"

struct query_run {
	struct chi_run run;
	struct chi_games_spec spec; /* its limit: what is left of it after `sent` */
	struct chi_games *games;    /* NULL: not open, begins at `sent` */
	struct chi_game_rows rows;
	char sent[CHI_GAMES_CURSOR_SIZE]; /* where the last response ended */
	char filter[];
};

static struct query_run *query_of(struct chi_run *run)
{
	return (struct query_run *)run;
}

/* ---- Snapshots --------------------------------------------------------------------------- */

static int open_query(struct chi_run *run, struct chi_fault *fault)
{
	struct query_run *query = query_of(run);
	query->spec.cursor = query->sent;
	query->spec.cursor_len = strlen(query->sent);
	int status = query->games != NULL
			     ? chi_games_attach(query->games, run->read, fault)
			     : chi_games_open(run->read, &query->spec, &query->games, fault);
	if (status < 0) {
		return status;
	}
	status = chi_game_rows_begin(&query->rows, run->read);
	return status < 0 ? chi_fault_plain(fault, status) : CHI_OK;
}

static void release_query(struct chi_run *run)
{
	struct query_run *query = query_of(run);
	if (query->games != NULL) {
		chi_games_detach(query->games);
	}
	chi_game_rows_end(&query->rows);
}

static bool query_may_move(const struct chi_run *run)
{
	const struct query_run *query = (const struct query_run *)run;
	return query->rows.status != CHI_OK || chi_games_may_detach(query->games);
}

/* Begins again after what was sent. */
static bool forget_query(struct chi_run *run)
{
	struct query_run *query = query_of(run);
	chi_games_close(query->games);
	query->games = NULL;
	chi_game_rows_forget(&query->rows);
	return true;
}

/* ---- Rows -------------------------------------------------------------------------------- */

static int next_game(void *context, struct chi_games_row *row, size_t *n)
{
	struct query_run *query = context;
	return chi_games_next(query->games, row, 1, CHI_SEARCH_STEPS, n);
}

static int step_query(struct chi_run *run, struct chi_fault *fault)
{
	struct query_run *query = query_of(run);
	return chi_game_rows_step(&query->rows, &run->page, next_game, query, fault);
}

/* ---- Responses --------------------------------------------------------------------------- */

static void tell_unknown(struct query_run *query, struct chi_response *response)
{
	const char *name = NULL;
	for (size_t i = 0; (name = chi_games_unknown(query->games, i)) != NULL; i++) {
		chi_run_tell_unknown(&query->run, response, name);
	}
}

static void fill_query(struct chi_run *run, struct chi_response *response)
{
	struct query_run *query = query_of(run);
	const struct chi_page *page = &run->page;
	if (page->n > 0) {
		size_t len =
			chi_games_cursor_of(&page->game_rows[page->n - 1].head, query->spec.sort,
					    query->spec.descending, query->sent);
		query->sent[len] = '\0';
	}
	query->spec.limit -= query->spec.limit > 0 ? page->n : 0;
	memset(&response->u.game_query, 0, sizeof(response->u.game_query));
	response->u.game_query.games = page->game_rows;
	response->u.game_query.n = page->n;
	response->u.game_query.cursor = (struct chi_text){query->sent, strlen(query->sent)};
	if (response->last) {
		response->u.game_query.has_total =
			chi_games_total(query->games, &response->u.game_query.total);
		tell_unknown(query, response);
	}
}

static size_t memory_of_query(const struct chi_run *run)
{
	const struct query_run *query = (const struct query_run *)run;
	return sizeof(*query) - sizeof(*run) + query->spec.filter_len +
	       (query->games != NULL ? chi_games_memory(query->games) : 0) +
	       chi_game_rows_memory(&query->rows);
}

static void free_query(struct chi_run *run)
{
	struct query_run *query = query_of(run);
	chi_games_close(query->games);
	chi_game_rows_deinit(&query->rows);
	free(query);
}

static const struct chi_run_ops query_ops = {
	.pages = true,
	.open = open_query,
	.release = release_query,
	.step = step_query,
	.fill = fill_query,
	.may_move = query_may_move,
	.forget = forget_query,
	.memory = memory_of_query,
	.free = free_query,
};

int chi_handle_game_query(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	const struct chi_text *filter = &request->u.game_query.filter;
	const struct chi_text *cursor = &request->u.game_query.cursor;
	int status = chi_task_filter(task, "game_query", "filter", filter);
	if (status < 0) {
		return status;
	}
	struct query_run *query = calloc(1, sizeof(*query) + filter->len + 1);
	if (query == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(query->filter, filter->bytes, filter->len);
	memcpy(query->sent, cursor->bytes, cursor->len);
	query->rows.want = request->u.game_query.want;
	query->rows.passing = &task->worker->results;
	query->spec = (struct chi_games_spec){
		.filter = query->filter,
		.filter_len = filter->len,
		.sort = request->u.game_query.sort,
		.descending = request->u.game_query.descending,
		.limit = request->u.game_query.limit,
		.want_total = request->u.game_query.want_total,
		.want_ply = !request->u.game_query.skip_ply,
		.want_move = request->u.game_query.skip_ply,
	};
	chi_page_init(&query->run.page, sizeof(struct chi_game_row), CHI_SCAN_ROWS_MAX);
	chi_run_start(&query->run, &query_ops, task, chi_call_window(request->u.game_query.window));
	return CHI_OK;
}
