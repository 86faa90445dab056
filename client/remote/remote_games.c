/* SPDX-License-Identifier: MIT */
/* Games over a socket. A query is one answer in many responses; where the connection breaks it goes
 * on, over another, after the row delivered last. */
#include "client/core/games.h"

#include <string.h>

#include "base/fault.h"
#include "client/remote/remote.h"
#include "client/remote/repeat.h"
#include "client/remote/stream.h"
#include "search/games.h"

static bool is_full(const struct chi_game_query *query)
{
	return query->spec.limit > 0 && query->delivered >= query->spec.limit;
}

/* Asks for the rows after those that were delivered. Where only the total is wanted of the server
 * it sends a row, since no limit would be none; that one is not delivered. */
static int ask(struct chi_client *client, struct chi_game_query *query)
{
	struct chi_request request = {.op = CHI_OP_GAME_QUERY};
	uint64_t limit = query->spec.limit;
	query->n = 0;
	query->at = 0;
	query->last = false;
	request.u.game_query.filter = (struct chi_text){query->filter, strlen(query->filter)};
	request.u.game_query.cursor = (struct chi_text){query->cursor, strlen(query->cursor)};
	request.u.game_query.sort = query->spec.sort;
	request.u.game_query.descending = query->spec.descending;
	request.u.game_query.want = is_full(query) ? CHI_GAMES_HEADS : query->spec.want;
	request.u.game_query.want_total = query->spec.want_total;
	request.u.game_query.skip_ply = query->spec.skip_ply;
	request.u.game_query.limit = is_full(query) ? 1 : limit > 0 ? limit - query->delivered : 0;
	request.u.game_query.window = CHI_WINDOW_DEFAULT;
	return chi_stream_begin(client, &query->stream, &request);
}

static int receive(struct chi_client *client, struct chi_game_query *query)
{
	struct chi_response response;
	int status = chi_stream_next(client, &query->stream, CHI_OP_GAME_QUERY, &response);
	if (status < 0) {
		return status;
	}
	query->rows = response.u.game_query.games;
	query->n = response.u.game_query.n;
	query->at = 0;
	query->last = response.last;
	query->has_total = response.u.game_query.has_total;
	query->total = response.u.game_query.total;
	return CHI_OK;
}

/* The next response, if need be over a new connection. */
static int receive_again(struct chi_client *client, struct chi_game_query *query)
{
	struct chi_repeat repeat = {0};
	int status = query->stream.id != 0 ? receive(client, query) : -CHI_EINTERNAL;
	while (chi_repeat_again(client, &repeat, status)) {
		status = ask(client, query);
		status = status == CHI_OK ? receive(client, query) : status;
	}
	return status;
}

/* The first response is waited for: it says what is wrong with the filter. */
int chi_remote_games_open(struct chi_client *client, struct chi_game_query *query)
{
	struct chi_repeat repeat = {0};
	int status = CHI_OK;
	do {
		status = ask(client, query);
		status = status == CHI_OK ? receive(client, query) : status;
	} while (chi_repeat_again(client, &repeat, status));
	return status;
}

int chi_remote_games_next(struct chi_client *client, struct chi_game_query *query)
{
	int status = CHI_OK;
	while (query->at == query->n || is_full(query)) {
		if (query->last) {
			return CHI_NONE;
		}
		status = receive_again(client, query);
		if (status < 0) {
			return status;
		}
	}
	query->row = query->rows[query->at++];
	query->row.pgn = query->row.pgn != NULL ? query->row.pgn : "";
	query->delivered++;
	size_t len = chi_games_cursor_of(&query->row.head, query->spec.sort, query->spec.descending,
					 query->cursor);
	query->cursor[len] = '\0';
	return CHI_OK;
}

void chi_remote_games_close(struct chi_client *client, struct chi_game_query *query)
{
	chi_stream_cancel(client, &query->stream);
}

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
