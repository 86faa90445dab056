/* SPDX-License-Identifier: MIT */
/* Games: rows of those that fit a filter, with texts and whole games if they are wanted. */
#include "ops/queries.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "ops/game_rows.h"
#include "search/games.h"
#include "search/texts.h"

struct games_query {
	struct chi_query query;
	struct chi_game_walk *games; /* NULL: not open, begins after what was delivered */
	struct chi_game_rows rows;
	const char *filter; /* with the position as its first term */
	char cursor[CHI_CURSOR_SIZE];
};

static struct games_query *games_of(struct chi_query *query)
{
	return (struct games_query *)query;
}

/* The filter with the position as its first term: of several the plies are asked of the first. The
 * filter itself was checked before, so that a place in it is one of the caller's. */
static int add_position(struct chi_query *query, const char **field, struct chi_fault *fault)
{
	const struct chi_game_spec *asked = query->request;
	const char *filter = games_of(query)->filter;
	char fen[CHI_FEN_SIZE];
	int status = chi_key_to_fen(asked->position, fen, fault);
	if (status < 0) {
		*field = "position";
		return status;
	}
	size_t size = strlen(filter) + sizeof(fen) + 16;
	char *text = chi_arena_alloc(&query->arena, size);
	if (text == NULL) {
		return -CHI_ENOMEM;
	}
	bool all = filter[strspn(filter, " \t\r\n")] == '\0';
	(void)snprintf(text, size, all ? "position \"%s\"%s" : "position \"%s\" (%s)", fen,
		       all ? "" : filter);
	games_of(query)->filter = text;
	return chi_query_filter(text, field, fault);
}

static int open_games(struct chi_query *query, const char **field, struct chi_fault *fault)
{
	const struct chi_game_spec *asked = query->request;
	struct games_query *games = games_of(query);
	games->rows.want = asked->want;
	games->filter = asked->filter != NULL ? asked->filter : "";
	int status = chi_query_filter(games->filter, field, fault);
	return status == CHI_OK && asked->position != NULL ? add_position(query, field, fault)
							   : status;
}

static int search_games(struct games_query *games, struct chi_fault *fault)
{
	const struct chi_game_spec *asked = games->query.request;
	const struct chi_games_spec spec = {
		.filter = games->filter,
		.filter_len = strlen(games->filter),
		.sort = asked->sort,
		.descending = asked->descending,
		.limit = asked->limit,
		.cursor = asked->cursor,
		.cursor_len = asked->cursor != NULL ? strlen(asked->cursor) : 0,
		.want_total = asked->want_total,
		.want_ply = !asked->skip_ply,
		.want_move = asked->skip_ply,
		.brief = asked->brief && asked->want == CHI_GAMES_HEADS,
		.reader = games->rows.want == CHI_GAMES_HEADS
				  ? NULL
				  : chi_game_texts_reader(games->rows.texts),
		.by_positions = asked->by_positions,
		.explain = asked->explain,
		.threads = games->query.threads,
	};
	return chi_game_walk_open(games->query.read, &spec, &games->games, fault);
}

static int attach_games(struct chi_query *query, struct chi_fault *fault)
{
	struct games_query *games = games_of(query);
	games->rows.passing = query->passing;
	games->rows.texts = query->texts != NULL ? query->texts : games->rows.texts;
	int status = chi_game_rows_begin(&games->rows, query->read);
	if (status == CHI_OK) {
		status = games->games != NULL
				 ? chi_game_walk_attach(games->games, query->read, fault)
				 : search_games(games, fault);
	}
	return status;
}

static void detach_games(struct chi_query *query)
{
	struct games_query *games = games_of(query);
	if (games->games != NULL) {
		chi_game_walk_detach(games->games);
	}
	chi_game_rows_end(&games->rows);
}

static bool games_may_detach(const struct chi_query *query)
{
	const struct games_query *games = (const struct games_query *)query;
	return games->rows.status != CHI_OK || chi_game_walk_may_detach(games->games);
}

static int next_game(void *context, struct chi_games_row *row, size_t *n)
{
	struct games_query *games = context;
	return chi_game_walk_next(games->games, row, 1, games->query.steps, n);
}

static int send_games(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	return chi_game_rows_step(&games_of(query)->rows, page, next_game, query, fault);
}

/* A limit of 0 would be none: where all rows are delivered one is asked for, as a head. */
static int resume_games(void *request, const void *last, size_t n, char cursor[CHI_CURSOR_SIZE])
{
	struct chi_game_spec *asked = request;
	const struct chi_game_row *row = last;
	size_t len = chi_game_walk_cursor_of(&row->head, asked->sort, asked->descending, cursor);
	bool full = asked->limit > 0 && asked->limit <= n;
	cursor[len] = '\0';
	asked->cursor = cursor;
	asked->limit = full ? 1 : asked->limit > 0 ? asked->limit - n : 0;
	asked->want = full ? (uint8_t)CHI_GAMES_HEADS : asked->want;
	return full ? CHI_NONE : CHI_OK;
}

static uint64_t limit_of_games(const void *request)
{
	return ((const struct chi_game_spec *)request)->limit;
}

static void deliver_games(struct chi_query *query, const struct chi_page *page, bool last,
			  void *result)
{
	struct games_query *games = games_of(query);
	struct chi_games_page *out = result;
	const struct chi_game_spec *asked = query->request;
	if (page->n > 0) {
		(void)resume_games(query->request, &page->game_rows[page->n - 1], page->n,
				   games->cursor);
	}
	out->cursor = asked->cursor;
	out->has_total = last && chi_game_walk_total(games->games, &out->total);
	out->total = out->has_total ? out->total : 0;
	out->plan = last ? chi_game_walk_plan(games->games) : NULL;
}

/* Begins again after what was delivered. */
static void forget_games(struct chi_query *query, const struct chi_page *page)
{
	struct games_query *games = games_of(query);
	(void)page;
	chi_game_walk_close(games->games);
	games->games = NULL;
	chi_game_rows_forget(&games->rows);
}

static size_t memory_of_games(const struct chi_query *query)
{
	const struct games_query *games = (const struct games_query *)query;
	return (games->games != NULL ? chi_game_walk_memory(games->games) : 0) +
	       chi_game_rows_memory(&games->rows);
}

static unsigned progress_of_games(const struct chi_query *query)
{
	const struct games_query *games = (const struct games_query *)query;
	return games->games != NULL ? chi_game_walk_progress(games->games) : 0;
}

static char *describe_games(const struct chi_query *query)
{
	const struct games_query *games = (const struct games_query *)query;
	return games->games != NULL ? chi_game_walk_describe(games->games) : NULL;
}

static const char *unknown_in_games(const struct chi_query *query, size_t i)
{
	return chi_game_walk_unknown(((const struct games_query *)query)->games, i);
}

static void close_games(struct chi_query *query)
{
	chi_game_walk_close(games_of(query)->games);
	if (query->texts == NULL) {
		chi_game_rows_deinit(&games_of(query)->rows);
	}
}

const struct chi_query_ops chi_games_query = {
	.size = sizeof(struct games_query),
	.steps = 4,
	.open = open_games,
	.attach = attach_games,
	.detach = detach_games,
	.may_detach = games_may_detach,
	.rows = send_games,
	.deliver = deliver_games,
	.forget = forget_games,
	.resume = resume_games,
	.limit = limit_of_games,
	.memory = memory_of_games,
	.progress = progress_of_games,
	.describe = describe_games,
	.unknown = unknown_in_games,
	.close = close_games,
};
