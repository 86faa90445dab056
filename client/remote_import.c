/* SPDX-License-Identifier: MIT */
/*
 * An import over a socket: as much is sent as the server has granted, then its answers are waited
 * for. They bring more room, notes for the caller, or the reason why it is over.
 */
#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "client/client_priv.h"
#include "client/games.h"

/* Data of one request, and what stands around it at most. */
#define CHUNK	 ((size_t)256 << 10)
#define ENVELOPE ((size_t)512)

static bool is_canceled(const struct chi_games *games)
{
	return games->options.cancel != NULL &&
	       __atomic_load_n(games->options.cancel, __ATOMIC_RELAXED) != 0;
}

/* What an answer says, but for the totals. */
static int take(struct chi_games *games, const struct chi_response *response)
{
	struct chi_client *client = games->client;
	if (response->id != games->id) {
		return chi_peer_fail(client, -CHI_EPROTO, "an answer to no question");
	}
	if (response->status < 0) {
		games->over = true;
		int status = chi_peer_refusal(response, &client->error);
		/* Its "canceled" says little to somebody who did not ask for it. */
		return status != -CHI_ECANCELED || is_canceled(games)
			       ? status
			       : chi_fault(&client->error, status,
					   "the server stopped the import; nothing was stored");
	}
	if (response->status != CHI_OK || response->op != CHI_OP_IMPORT) {
		return chi_peer_fail(client, -CHI_EPROTO, "the answer to the import is another's");
	}
	for (size_t i = 0; i < response->u.import.n_notes; i++) {
		if (games->options.report != NULL) {
			games->options.report(games->options.context, &response->u.import.notes[i]);
		}
	}
	if (games->options.progress != NULL && response->u.import.phase != NULL) {
		games->options.progress(games->options.context, response->u.import.phase,
					response->u.import.done, response->u.import.total);
	}
	uint64_t more = response->u.import.credit;
	games->credit = more <= UINT64_MAX - games->credit ? games->credit + more : UINT64_MAX;
	games->over = response->last;
	return CHI_OK;
}

/* The next answer, while nothing is to be stored yet. */
static int receive(struct chi_games *games)
{
	struct chi_response response;
	int status = chi_peer_receive(games->client, &response);
	if (status == CHI_OK) {
		status = take(games, &response);
	}
	if (status == CHI_OK && games->over) {
		status = chi_peer_fail(games->client, -CHI_EPROTO,
				       "the server ended the import by itself");
	}
	return status;
}

/* The connection is this import's alone from here on. */
int chi_remote_import_open(struct chi_games *games)
{
	struct chi_client *client = games->client;
	struct chi_request request = {
		.op = CHI_OP_IMPORT,
		.u.import = {.kind = games->options.kind,
			     .max_ply = games->options.max_ply,
			     .games_min = games->options.games_min,
			     .strict = games->options.strict},
	};
	int status = chi_peer_ready(client);
	if (status != CHI_OK) {
		return status;
	}
	client->peer.patient = true;
	client->peer.cancel = games->options.cancel;
	games->id = chi_peer_next_id(client);
	request.id = games->id;
	status = chi_peer_send(client, &request);
	return status == CHI_OK ? receive(games) : status;
}

void chi_remote_import_file(struct chi_games *games, const char *name)
{
	size_t len = strnlen(name, CHI_IMPORT_FILE_MAX);
	memcpy(games->file, name, len);
	games->file[len] = '\0';
	/* A path may be any bytes, and a cut may go through a letter. */
	if (!chi_utf8_valid(games->file, len)) {
		for (size_t i = 0; i < len; i++) {
			games->file[i] =
				(unsigned char)games->file[i] < 0x80 ? games->file[i] : '?';
		}
	}
}

/* One piece, as large as it may be; *len is what of it was sent. */
static int send_piece(struct chi_games *games, const uint8_t *bytes, size_t *len)
{
	struct chi_client *client = games->client;
	uint32_t frame = client->peer.limits.request_bytes;
	uint64_t granted = games->credit - CHI_IMPORT_OVERHEAD;
	size_t most = frame > 2 * ENVELOPE ? frame - ENVELOPE : ENVELOPE;
	most = most < CHUNK ? most : CHUNK;
	most = most < granted ? most : (size_t)granted;
	*len = *len < most ? *len : most;
	struct chi_request request = {
		.op = CHI_OP_IMPORT_DATA,
		.id = games->id,
		.u.import_data = {.file = {games->file, strlen(games->file)},
				  .bytes = bytes,
				  .len = *len},
	};
	int status = chi_peer_send(client, &request);
	games->credit -= CHI_IMPORT_OVERHEAD + *len;
	games->file[0] = '\0';
	return status;
}

int chi_remote_import_feed(struct chi_games *games, const uint8_t *bytes, size_t len)
{
	int status = CHI_OK;
	while (status == CHI_OK && len > 0) {
		if (is_canceled(games)) {
			return -CHI_ECANCELED;
		}
		if (games->credit <= CHI_IMPORT_OVERHEAD) {
			status = receive(games);
			continue;
		}
		size_t sent = len;
		status = send_piece(games, bytes, &sent);
		bytes += sent;
		len -= sent;
	}
	return status;
}

/* Asks the server to stop, once; what became of the import its last answer tells. */
static int stop(struct chi_games *games)
{
	struct chi_request request = {.op = CHI_OP_CANCEL, .id = games->id};
	games->client->peer.cancel = NULL;
	return chi_peer_send(games->client, &request);
}

/* Without the last answer nobody knows what happened. Games that are counted are not counted again;
 * of a merge only games tell that it was done. */
static int doubt(struct chi_games *games, int status)
{
	if (!games->over) {
		struct chi_client *client = games->client;
		bool merge = games->options.kind == CHI_GAMES_MERGE;
		struct chi_fault fault = client->error;
		if (fault.text[0] == '\0') {
			(void)chi_fault_plain(&fault, status);
		}
		(void)chi_fault(&client->error, status,
				merge ? "%.130s; nobody knows whether the other store was added: "
					"look before you try again"
				      : "%.130s; nobody knows whether the games were stored, and "
					"importing them again is harmless",
				fault.text);
		chi_peer_close(client);
	}
	return status;
}

int chi_remote_import_commit(struct chi_games *games, struct chi_games_result *result)
{
	struct chi_response response;
	struct chi_request request = {.op = CHI_OP_IMPORT_END, .id = games->id};
	if (is_canceled(games)) {
		return -CHI_ECANCELED;
	}
	int status = chi_peer_send(games->client, &request);
	while (status == CHI_OK && !games->over) {
		status = chi_peer_receive(games->client, &response);
		if (status == CHI_OK) {
			status = take(games, &response);
		} else if (status == -CHI_ECANCELED) {
			status = stop(games);
		}
	}
	if (status < 0) {
		return doubt(games, status);
	}
	*result = response.u.import.result;
	return CHI_OK;
}
