/* SPDX-License-Identifier: MIT */
/* Games of a directory. */
#include "client/local/games.h"

#include <string.h>

#include "search/explore.h"
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
