/* SPDX-License-Identifier: MIT */
/* The public calls that ask for games (chistore/games.h). */
#include "client/core/pages.h"

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

const char *chi_unknown_name(const struct chi_client *client, size_t i)
{
	return i < client->unknown.n ? client->unknown.names[i] : NULL;
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
