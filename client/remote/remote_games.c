/* SPDX-License-Identifier: MIT */
/* Games over a socket. */

#include "base/fault.h"
#include "client/remote/remote.h"
#include "client/remote/repeat.h"

/* Texts lie in the client's arena; what else a game is made of where the answer came in. */
int chi_remote_game(struct chi_client *client, uint32_t number, struct chi_game_row *row,
		    struct chi_game *game)
{
	struct chi_request request = {.op = CHI_OP_GET_GAME,
				      .u.get_game = {.number = number, .whole = game != NULL}};
	struct chi_response response;
	if (number == 0) {
		return CHI_NONE;
	}
	int status = chi_repeat_call(client, &request, &response);
	if (status != CHI_OK) {
		return status;
	}
	if (!response.u.get_game.found) {
		return CHI_NONE;
	}
	*row = response.u.get_game.row;
	if (row->head.number != number || (game != NULL && !response.u.get_game.whole)) {
		return chi_peer_fail(client, -CHI_EPROTO, "the answer is of another game");
	}
	row->pgn = row->pgn != NULL ? row->pgn : "";
	if (game != NULL) {
		*game = response.u.get_game.game;
		game->head = row->head;
	}
	return CHI_OK;
}

/* The server leaves out what is not there. */
int chi_remote_game_heads(struct chi_client *client, const uint32_t *numbers, size_t n,
			  struct chi_game_row *rows)
{
	struct chi_request request = {.op = CHI_OP_GET_HEADS,
				      .u.get_heads = {.numbers = numbers, .n = n}};
	struct chi_response response;
	size_t at = 0;
	int status = chi_repeat_call(client, &request, &response);
	if (status != CHI_OK) {
		return status;
	}
	for (size_t i = 0; i < n && at < response.u.get_heads.n; i++) {
		const struct chi_game_row *row = &response.u.get_heads.rows[at];
		if (row->head.number == numbers[i]) {
			rows[i] = *row;
			rows[i].pgn = "";
			at++;
		}
	}
	return at == response.u.get_heads.n
		       ? CHI_OK
		       : chi_peer_fail(client, -CHI_EPROTO, "heads of other games");
}
