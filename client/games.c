/* SPDX-License-Identifier: MIT */
/* The public calls that ask for games (chistore/games.h). */
#include "client/core/games.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "search/filter/terms.h"

/* Called before a server is asked, so that a place in the text is one of the caller's. */
int chi_games_filter_check(const char *filter, struct chi_fault *fault)
{
	struct chi_terms terms;
	return filter != NULL ? chi_terms_parse(filter, strlen(filter), &terms, fault) : CHI_OK;
}

/* The filter with the position as its first term: of several the plies are asked of this one. */
static int make_filter(const struct chi_game_spec *spec, char **out, struct chi_fault *fault)
{
	char fen[CHI_FEN_SIZE] = "";
	const char *filter = spec->filter != NULL ? spec->filter : "";
	int status = CHI_OK;
	int len = 0;
	if (spec->position != NULL) {
		status = chi_key_to_fen(spec->position, fen, fault);
		len = asprintf(out, "position \"%s\" %s", fen, filter);
	} else {
		len = asprintf(out, "%s", filter);
	}
	if (len < 0) {
		*out = NULL;
		return -CHI_ENOMEM;
	}
	return status;
}

static int check_spec(const struct chi_game_spec *spec, struct chi_fault *fault)
{
	if (spec->want > CHI_GAMES_PGN) {
		return chi_fault(fault, -CHI_EINVAL, "want: unknown number %u", spec->want);
	}
	if (spec->cursor != NULL && strlen(spec->cursor) >= CHI_GAMES_CURSOR_SIZE) {
		return chi_fault(fault, -CHI_EINVAL,
				 "cursor: not one that a query of games in this order gave");
	}
	return chi_games_filter_check(spec->filter, fault);
}

static void free_query(struct chi_game_query *query)
{
	free(query->filter);
	free(query);
}

int chi_game_query_open(struct chi_client *client, const struct chi_game_spec *spec,
			struct chi_game_query **out)
{
	*out = NULL;
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = check_spec(spec, &client->error);
	}
	status = chi_client_settle(client, status);
	if (status != CHI_OK) {
		return chi_client_end(client, status);
	}
	struct chi_game_query *query = calloc(1, sizeof(*query));
	if (query == NULL) {
		return chi_client_end(client, -CHI_ENOMEM);
	}
	query->client = client;
	query->spec = *spec;
	(void)snprintf(query->cursor, sizeof(query->cursor), "%s",
		       spec->cursor != NULL ? spec->cursor : "");
	status = make_filter(spec, &query->filter, &client->error);
	query->spec.filter = query->filter;
	query->spec.position = NULL;
	query->spec.cursor = NULL;
	if (status == CHI_OK && spec->position != NULL) {
		/* With its first term the filter may be too long. */
		status = chi_games_filter_check(query->filter, &client->error);
	}
	if (status == CHI_OK) {
		status = client->backend->games_open(client, query);
	}
	if (status != CHI_OK) {
		/* What was opened before the failure is the query's, and closed with it. */
		client->backend->games_close(client, query);
		free_query(query);
		return chi_client_end(client, status);
	}
	client->query = query;
	client->uses++;
	*out = query;
	return chi_client_end(client, CHI_OK);
}

int chi_game_query_next(struct chi_game_query *query, const struct chi_game_row **row)
{
	struct chi_client *client = query->client;
	*row = NULL;
	if (query->status != CHI_OK) {
		return query->status;
	}
	client->error.text[0] = '\0';
	query->status = client->backend->games_next(client, query);
	if (query->status == CHI_OK) {
		*row = &query->row;
	}
	return chi_client_fail(client, query->status);
}

bool chi_game_query_total(const struct chi_game_query *query, uint64_t *total)
{
	*total = query->total;
	return query->has_total;
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
	client->backend->games_close(client, query);
	client->query = NULL;
	chi_client_release(client);
	free_query(query);
}

int chi_game_get(struct chi_client *client, uint32_t number, struct chi_game_row *row,
		 struct chi_game *game)
{
	if (game != NULL) {
		*game = (struct chi_game){.n_tags = 0};
	}
	*row = (struct chi_game_row){.ply = -1};
	int status = chi_client_begin(client);
	status = chi_client_settle(client, status);
	if (status == CHI_OK) {
		status = client->backend->game(client, number, row, game);
	}
	if (status != CHI_OK) {
		*row = (struct chi_game_row){.ply = -1};
	}
	if (status != CHI_OK && game != NULL) {
		*game = (struct chi_game){.n_tags = 0};
	}
	return chi_client_answer(client, status);
}

int chi_game_heads(struct chi_client *client, const uint32_t *numbers, size_t n,
		   struct chi_game_row *rows)
{
	int status = chi_client_begin(client);
	if (status == CHI_OK && n > CHI_GAME_HEADS_MAX) {
		status = chi_fault(&client->error, -CHI_ETOOBIG, "more than %d games",
				   CHI_GAME_HEADS_MAX);
		return chi_client_end(client, status);
	}
	status = chi_client_settle(client, status);
	for (size_t i = 0; i < n && n <= CHI_GAME_HEADS_MAX; i++) {
		rows[i] = (struct chi_game_row){.ply = -1};
	}
	if (status == CHI_OK && n > 0) {
		status = client->backend->game_heads(client, numbers, n, rows);
	}
	return chi_client_answer(client, status);
}

int chi_explore_filtered(struct chi_client *client, const struct chi_key *key, const char *filter,
			 struct chi_explore *out)
{
	const struct chi_explore nothing = {.position.key = *key, .min_ply = -1};
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_client_check_keys(key, 1, &client->error);
	}
	if (status == CHI_OK) {
		status = chi_games_filter_check(filter, &client->error);
	}
	status = chi_client_settle(client, status);
	*out = nothing;
	if (status == CHI_OK) {
		status = client->backend->explore_filtered(client, &nothing.position.key, filter,
							   out);
	}
	if (status != CHI_OK) {
		*out = nothing;
	}
	return chi_client_answer(client, status);
}
