/* SPDX-License-Identifier: MIT */
/* Games of a directory: a query holds one snapshot until it is closed. */
#include "client/local/games.h"

#include <string.h>

#include "search/explore.h"
#include "search/games.h"
#include "search/texts.h"
#include "store/store.h"

/* It remembers what it has unpacked. */
int chi_inproc_texts(struct chi_client *client, struct chi_read *read, struct chi_game_texts **out)
{
	struct chi_game_texts **texts = &client->inproc.texts;
	int status = *texts == NULL ? chi_game_texts_new(texts) : CHI_OK;
	*out = *texts;
	return status == CHI_OK ? chi_game_texts_begin(*texts, read) : status;
}

/* On a failure what was opened stays in the query: games_close takes any part of it. */
int chi_inproc_games_open(struct chi_client *client, struct chi_game_query *query)
{
	const struct chi_game_spec *asked = &query->spec;
	struct chi_games_spec spec = {
		.filter = query->filter,
		.filter_len = strlen(query->filter),
		.sort = asked->sort,
		.descending = asked->descending,
		.limit = asked->limit,
		.cursor = query->cursor,
		.cursor_len = strlen(query->cursor),
		.want_total = asked->want_total,
		.want_ply = !asked->skip_ply,
		.want_move = asked->skip_ply,
	};
	struct chi_game_texts *texts;
	int status = chi_read_begin(client->inproc.store, &query->read);
	if (status == CHI_OK) {
		status = chi_games_open(query->read, &spec, &query->games, &client->error);
	}
	const char *name = NULL;
	for (size_t i = 0; status == CHI_OK && (name = chi_games_unknown(query->games, i)) != NULL;
	     i++) {
		chi_client_tell_unknown(client, name);
	}
	return status == CHI_OK ? chi_inproc_texts(client, query->read, &texts) : status;
}

/* One by one: the cursor is that of the row delivered last. */
int chi_inproc_games_next(struct chi_client *client, struct chi_game_query *query)
{
	struct chi_games_row row;
	size_t n = 0;
	int status = CHI_OK;
	chi_arena_reset(&client->answer->arena);
	while (status == CHI_OK && n == 0) {
		status = chi_games_next(query->games, &row, 1, UINT64_MAX, &n);
	}
	if (n == 0) {
		query->has_total = chi_games_total(query->games, &query->total);
		return status;
	}
	(void)chi_games_cursor(query->games, query->cursor);
	status = chi_game_texts_row(client->inproc.texts, &row, query->spec.want,
				    &client->answer->arena, &query->row);
	return status == CHI_NONE ? -CHI_ECORRUPT : status;
}

void chi_inproc_games_close(struct chi_client *client, struct chi_game_query *query)
{
	if (client->inproc.texts != NULL) {
		chi_game_texts_end(client->inproc.texts);
	}
	if (query->games != NULL) {
		chi_games_close(query->games);
	}
	if (query->read != NULL) {
		chi_read_end(query->read);
	}
}

/* ---- One game ---------------------------------------------------------------------------- */

static const void *copy(struct chi_arena *arena, const void *bytes, size_t size, bool *good)
{
	void *out = chi_arena_alloc(arena, size > 0 ? size : 1);
	*good = *good && out != NULL;
	return out != NULL && size > 0 ? memcpy(out, bytes, size) : out;
}

/* What it points to moves into the arena: it outlives the snapshot. */
static int keep_game(struct chi_arena *arena, struct chi_game *game)
{
	bool good = true;
	struct chi_tag *tags = chi_arena_array(arena, game->n_tags + 1, sizeof(*tags));
	if (tags == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < game->n_tags; i++) {
		tags[i] = game->tags[i];
		tags[i].name = copy(arena, tags[i].name, tags[i].name_len, &good);
		tags[i].value = copy(arena, tags[i].value, tags[i].value_len, &good);
	}
	game->tags = tags;
	game->moves = copy(arena, game->moves, game->n_plies * sizeof(*game->moves), &good);
	game->notes = copy(arena, game->notes, game->n_notes, &good);
	game->rest = copy(arena, game->rest, game->n_rest, &good);
	return good ? CHI_OK : -CHI_ENOMEM;
}

int chi_inproc_game(struct chi_client *client, uint32_t number, struct chi_game_row *row,
		    struct chi_game *game)
{
	struct chi_read *read = NULL;
	struct chi_game_texts *texts;
	struct chi_game whole = {.n_tags = 0};
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_inproc_texts(client, read, &texts);
	if (status == CHI_OK) {
		status = chi_game_texts_game(texts, number, &client->answer->arena, row, &whole);
	}
	if (status == CHI_OK && game != NULL) {
		status = keep_game(&client->answer->arena, &whole);
		*game = whole;
	}
	if (client->inproc.texts != NULL) {
		chi_game_texts_end(client->inproc.texts);
	}
	chi_read_end(read);
	return status;
}

int chi_inproc_game_heads(struct chi_client *client, const uint32_t *numbers, size_t n,
			  struct chi_game_row *rows)
{
	struct chi_read *read = NULL;
	struct chi_game_texts *texts;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_inproc_texts(client, read, &texts);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = chi_game_texts_head(texts, numbers[i], &client->answer->arena, &rows[i]);
		if (status == CHI_NONE) {
			rows[i] = (struct chi_game_row){.ply = -1};
			status = CHI_OK;
		}
	}
	if (client->inproc.texts != NULL) {
		chi_game_texts_end(client->inproc.texts);
	}
	chi_read_end(read);
	return status;
}

static int explore_all(struct chi_filtered_explore *explore)
{
	int status;
	do {
		status = chi_filtered_explore_step(explore, UINT64_MAX);
	} while (status == CHI_OK);
	return status == CHI_NONE ? CHI_OK : status;
}

int chi_inproc_explore_filtered(struct chi_client *client, const struct chi_key *key,
				const char *filter, struct chi_explore *out)
{
	struct chi_read *read = NULL;
	struct chi_filtered_explore *explore = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_filtered_explore_open(read, key, filter != NULL ? filter : "",
					   filter != NULL ? strlen(filter) : 0, &explore,
					   &client->error);
	const char *name = NULL;
	for (size_t i = 0;
	     status == CHI_OK && (name = chi_filtered_explore_unknown(explore, i)) != NULL; i++) {
		chi_client_tell_unknown(client, name);
	}
	if (status == CHI_OK) {
		status = explore_all(explore);
	}
	if (status == CHI_OK) {
		status = chi_filtered_explore_result(explore, &client->answer->arena, out,
						     &client->error);
	}
	if (explore != NULL) {
		chi_filtered_explore_close(explore);
	}
	chi_read_end(read);
	return status;
}
