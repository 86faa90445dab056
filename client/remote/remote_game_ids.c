/* SPDX-License-Identifier: MIT */
/* The games of a store behind a socket, asked for in pieces that fit an answer. */
#include <string.h>

#include "client/remote/remote.h"
#include "client/remote/repeat.h"

/* One answer's worth. */
static int ask(struct chi_client *client, const uint8_t *after, struct chi_game_id *out, size_t max,
	       size_t *n)
{
	struct chi_request request = {
		.op = CHI_OP_GAME_IDS,
		.u.games = {.after_set = after != NULL, .limit = (uint32_t)max},
	};
	struct chi_response response;
	if (after != NULL) {
		memcpy(request.u.games.after, after, CHI_GAME_ID_SIZE);
	}
	int status = chi_repeat_call(client, &request, &response);
	if (status != CHI_OK) {
		return status;
	}
	*n = response.u.games.n;
	if (*n > max) {
		return chi_peer_fail(client, -CHI_EPROTO, "asked for %zu games, told of %zu", max,
				     *n);
	}
	if (*n > 0) {
		memcpy(out, response.u.games.games, *n * sizeof(*out));
	}
	return CHI_OK;
}

/* Each piece is asked for behind the last game of the one before. */
int chi_remote_get_game_ids(struct chi_client *client, const uint8_t *after,
			    struct chi_game_id *out, size_t max, size_t *n)
{
	int status = chi_remote_settle(client);
	*n = 0;
	while (status == CHI_OK && *n < max) {
		size_t got = 0;
		size_t wanted = max - *n < CHI_GAME_IDS_MAX ? max - *n : CHI_GAME_IDS_MAX;
		status = ask(client, after, out + *n, wanted, &got);
		if (status != CHI_OK || got == 0) {
			break;
		}
		*n += got;
		after = out[*n - 1].id;
		if (got < wanted) {
			break;
		}
	}
	return status;
}
