/* SPDX-License-Identifier: MIT */
/* Queries of games as runs: rows, with texts and whole games if they are wanted, in pages. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/run.h"
#include "daemon/settings/limits.h"
#include "proto/wire/frame.h"
#include "search/games.h"
#include "search/texts.h"
#include "store/store.h"

/* Games taken between two looks at the clock. */
#define GAMES_A_HELPING 16

/* What a response takes beside its games. */
#define RESPONSE_OVERHEAD ((size_t)8 << 10)

struct query_run {
	struct chi_run run;
	struct chi_games_spec spec; /* its limit: what is left of it after `sent` */
	uint8_t want;
	struct chi_games *games; /* NULL: not open, begins at `sent` */
	struct chi_game_texts *texts;
	struct chi_games_row held; /* found, but not in a page so far */
	bool has_held;
	int status;			  /* CHI_NONE: all are found */
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
	if (status == CHI_OK && query->want != CHI_GAMES_HEADS) {
		status = query->texts == NULL ? chi_game_texts_new(&query->texts) : CHI_OK;
		status = status == CHI_OK ? chi_game_texts_begin(query->texts, run->read) : status;
		return status < 0 ? chi_fault_plain(fault, status) : CHI_OK;
	}
	return status;
}

static void release_query(struct chi_run *run)
{
	struct query_run *query = query_of(run);
	if (query->games != NULL) {
		chi_games_detach(query->games);
	}
	if (query->texts != NULL) {
		chi_game_texts_end(query->texts);
	}
}

static bool query_may_move(const struct chi_run *run)
{
	const struct query_run *query = (const struct query_run *)run;
	return query->status != CHI_OK || chi_games_may_detach(query->games);
}

/* Begins again after what was sent. */
static bool forget_query(struct chi_run *run)
{
	struct query_run *query = query_of(run);
	chi_games_close(query->games);
	query->games = NULL;
	query->has_held = false;
	query->status = CHI_OK;
	return true;
}

/* ---- Rows -------------------------------------------------------------------------------- */

static bool keep_text(struct chi_arena *arena, const char **text)
{
	*text = chi_arena_text(arena, *text, strlen(*text));
	return *text != NULL;
}

/* A row is made in passing memory, as far more is unpacked of a game than is sent. */
static int make_row(struct query_run *query, struct chi_game_row *out)
{
	struct chi_arena *passing = &query->run.worker->results;
	if (query->want == CHI_GAMES_HEADS) {
		*out = (struct chi_game_row){
			.head = query->held.head, .ply = query->held.ply, .move = query->held.move};
		return CHI_OK;
	}
	chi_arena_reset(passing);
	return chi_game_texts_row(query->texts, &query->held, query->want, passing, out);
}

/* NULL texts are those of a row without them. */
static int keep_row(struct chi_page *page, const struct chi_game_row *row, size_t size)
{
	struct chi_arena *arena = &page->arena;
	int status = chi_page_grow(page);
	struct chi_game_row *kept = &page->game_rows[page->n];
	if (status < 0) {
		return status;
	}
	*kept = *row;
	if (row->white != NULL &&
	    !(keep_text(arena, &kept->white) && keep_text(arena, &kept->black) &&
	      keep_text(arena, &kept->event) && keep_text(arena, &kept->site) &&
	      keep_text(arena, &kept->round) && keep_text(arena, &kept->source))) {
		return -CHI_ENOMEM;
	}
	kept->pgn = row->pgn_len > 0 ? chi_arena_text(arena, row->pgn, row->pgn_len) : NULL;
	if (row->pgn_len > 0 && kept->pgn == NULL) {
		return -CHI_ENOMEM;
	}
	page->bytes += size;
	chi_page_added(page, 1);
	return CHI_OK;
}

/* Puts the row that was found into the page; one for which there is no room waits for the next. */
static int take_held(struct query_run *query, struct chi_fault *fault)
{
	struct chi_page *page = &query->run.page;
	struct chi_game_row row;
	int status = make_row(query, &row);
	if (status < 0) {
		return chi_fault(fault, status, "cannot read game %u (%s)", query->held.head.number,
				 chi_strerror(status));
	}
	size_t size = chi_game_row_size(&row);
	if (page->bytes + size > CHI_FRAME_RESPONSE_MAX - RESPONSE_OVERHEAD) {
		page->is_closed = page->n > 0;
		return page->is_closed ? CHI_OK
				       : chi_fault(fault, -CHI_ETOOBIG, CHI_GAME_TOO_LARGE,
						   query->held.head.number);
	}
	query->has_held = false;
	return keep_row(page, &row, size);
}

static int step_query(struct chi_run *run, struct chi_fault *fault)
{
	struct query_run *query = query_of(run);
	int status = CHI_OK;
	for (unsigned i = 0; status == CHI_OK && i < GAMES_A_HELPING && !chi_page_full(&run->page);
	     i++) {
		size_t n = query->has_held;
		if (!query->has_held && query->status == CHI_OK) {
			query->status =
				chi_games_next(query->games, &query->held, 1, CHI_SEARCH_STEPS, &n);
			query->has_held = n > 0;
		}
		if (n == 0) {
			return query->status;
		}
		status = take_held(query, fault);
	}
	return status;
}

/* ---- Responses --------------------------------------------------------------------------- */

/* Without memory for them they are not told. */
static void fill_unknown(const struct query_run *query, struct chi_response *response)
{
	struct chi_text *unknown =
		chi_arena_array(&query->run.worker->results, CHI_UNKNOWN_MAX, sizeof(*unknown));
	const char *name = NULL;
	size_t n = 0;
	while (unknown != NULL && n < CHI_UNKNOWN_MAX &&
	       (name = chi_games_unknown(query->games, n)) != NULL) {
		unknown[n++] = (struct chi_text){name, strlen(name)};
	}
	response->u.game_query.unknown = unknown;
	response->u.game_query.n_unknown = n;
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
		fill_unknown(query, response);
	}
}

static size_t memory_of_query(const struct chi_run *run)
{
	const struct query_run *query = (const struct query_run *)run;
	return sizeof(*query) - sizeof(*run) + query->spec.filter_len +
	       (query->games != NULL ? chi_games_memory(query->games) : 0) +
	       (query->texts != NULL ? chi_game_texts_memory(query->texts) : 0);
}

static void free_query(struct chi_run *run)
{
	struct query_run *query = query_of(run);
	chi_games_close(query->games);
	chi_game_texts_free(query->texts);
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
	int status = chi_task_filter(task, "game_query", filter);
	if (status < 0) {
		return status;
	}
	struct query_run *query = calloc(1, sizeof(*query) + filter->len + 1);
	if (query == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(query->filter, filter->bytes, filter->len);
	memcpy(query->sent, cursor->bytes, cursor->len);
	query->want = request->u.game_query.want;
	query->spec = (struct chi_games_spec){
		.filter = query->filter,
		.filter_len = filter->len,
		.sort = request->u.game_query.sort,
		.descending = request->u.game_query.descending,
		.limit = request->u.game_query.limit,
		.want_total = request->u.game_query.want_total,
		.want_ply = true,
	};
	chi_page_init(&query->run.page, sizeof(struct chi_game_row), CHI_SCAN_ROWS_MAX);
	chi_run_start(&query->run, &query_ops, task, chi_call_window(request->u.game_query.window));
	return CHI_OK;
}
