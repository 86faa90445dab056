/* SPDX-License-Identifier: MIT */
/* The public calls that ask for games (chistore/games.h). */
#include "client/core/games.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "search/filter/terms.h"
#include "search/games.h"
#include "store/store.h"

/* Called before a server is asked, so that a place in the text is one of the caller's. */
int chi_games_filter_check(const char *filter, struct chi_fault *fault)
{
	struct chi_terms terms;
	return filter != NULL ? chi_terms_parse(filter, strlen(filter), &terms, fault) : CHI_OK;
}

int chi_game_query_open(struct chi_client *client, const struct chi_game_spec *spec,
			struct chi_game_query **out)
{
	*out = NULL;
	int status = chi_client_settle(client, chi_client_begin(client));
	if (status != CHI_OK) {
		return chi_client_end(client, status);
	}
	struct chi_game_query *query = calloc(1, sizeof(*query));
	if (query == NULL) {
		return chi_client_end(client, -CHI_ENOMEM);
	}
	query->client = client;
	query->sort = spec->sort;
	query->descending = spec->descending;
	status = chi_rows_begin(client, CHI_OP_GAME_QUERY, spec, &query->rows);
	if (status != CHI_OK) {
		chi_rows_end(client, &query->rows);
		free(query);
		return chi_client_end(client, status);
	}
	/* Checked: it has room. */
	(void)snprintf(query->cursor, sizeof(query->cursor), "%s",
		       spec->cursor != NULL ? spec->cursor : "");
	client->query = query;
	client->uses++;
	*out = query;
	return chi_client_end(client, CHI_OK);
}

int chi_game_query_next(struct chi_game_query *query, const struct chi_game_row **row)
{
	struct chi_client *client = query->client;
	const void *found = NULL;
	*row = NULL;
	if (query->status != CHI_OK) {
		return query->status;
	}
	client->error.text[0] = '\0';
	chi_dir_forget_damage();
	query->status = chi_rows_next(client, &query->rows, &found);
	if (query->status == CHI_OK) {
		memcpy(&query->row, found, sizeof(query->row));
		query->row.pgn = query->row.pgn != NULL ? query->row.pgn : "";
		if (query->row.white == NULL) {
			query->row.white = query->row.black = query->row.event = query->row.site =
				query->row.round = query->row.source = "";
		}
		size_t len = chi_game_walk_cursor_of(&query->row.head, query->sort,
						     query->descending, query->cursor);
		query->cursor[len] = '\0';
		*row = &query->row;
	}
	return chi_client_fail(client, query->status);
}

bool chi_game_query_total(const struct chi_game_query *query, uint64_t *total)
{
	const struct chi_games_page *page = (const void *)query->rows.result;
	*total = page->total;
	return page->has_total;
}

void chi_game_query_cursor(const struct chi_game_query *query, char out[CHI_GAMES_CURSOR_SIZE])
{
	memcpy(out, query->cursor, sizeof(query->cursor));
}

const char *chi_game_query_unknown(const struct chi_game_query *query, size_t i)
{
	return chi_unknown_name(query->client, i);
}

const char *chi_unknown_name(const struct chi_client *client, size_t i)
{
	return i < client->unknown.n ? client->unknown.names[i] : NULL;
}

void chi_game_query_close(struct chi_game_query *query)
{
	if (query == NULL) {
		return;
	}
	struct chi_client *client = query->client;
	chi_rows_end(client, &query->rows);
	client->query = NULL;
	chi_client_release(client);
	free(query);
}

int chi_game_get(struct chi_client *client, uint32_t number, struct chi_game_row *row,
		 struct chi_game *game)
{
	const struct chi_game_request request = {.number = number, .whole = game != NULL};
	struct chi_game_found found = {.found = false};
	int status = chi_client_settle(client, chi_client_begin(client));
	if (status == CHI_OK && number > 0) {
		status = chi_client_call(client, CHI_OP_GET_GAME, &request, &found);
	}
	status = status == CHI_OK && !found.found ? CHI_NONE : status;
	*row = status == CHI_OK ? found.row : (struct chi_game_row){.ply = -1};
	if (status == CHI_OK) {
		row->pgn = row->pgn != NULL ? row->pgn : "";
	}
	if (game != NULL) {
		*game = status == CHI_OK ? found.game : (struct chi_game){.n_tags = 0};
		game->head = row->head;
	}
	return chi_client_answer(client, status);
}

int chi_game_heads(struct chi_client *client, const uint32_t *numbers, size_t n,
		   struct chi_game_row *rows)
{
	const struct chi_heads_request request = {.numbers = numbers, .n = n};
	struct chi_heads found = {.n = 0};
	size_t at = 0;
	int status = chi_client_begin(client);
	if (status == CHI_OK && n > CHI_GAME_HEADS_MAX) {
		status = chi_fail(&client->error, -CHI_ETOOBIG, "more than %d games",
				  CHI_GAME_HEADS_MAX);
		return chi_client_end(client, status);
	}
	status = chi_client_settle(client, status);
	if (status == CHI_OK && n > 0) {
		status = chi_client_call(client, CHI_OP_GET_HEADS, &request, &found);
	}
	for (size_t i = 0; i < n && n <= CHI_GAME_HEADS_MAX; i++) {
		bool there = status == CHI_OK && at < found.n &&
			     found.rows[at].head.number == numbers[i];
		rows[i] = there ? found.rows[at++] : (struct chi_game_row){.ply = -1};
		if (there) {
			rows[i].pgn = "";
		}
	}
	return chi_client_answer(client, status);
}
