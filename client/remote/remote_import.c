/* SPDX-License-Identifier: MIT */
/*
 * An import over a socket: as much is sent as the server has granted, then its answers are waited
 * for. They bring more room, notes for the caller, or the reason why it is over.
 */
#include <poll.h>
#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "client/remote/remote.h"
#include "client/remote/connect.h"
#include "client/core/import.h"
#include "client/remote/repeat.h"

/* Data of one request, and its framing at most. */
#define CHUNK	 ((size_t)256 << 10)
#define ENVELOPE ((size_t)512)

/* Waits between questions for an import that goes on. */
#define ASK_FIRST_MS 20
#define ASK_MAX_MS   1000

static bool is_canceled(const struct chi_import *games)
{
	return games->options.cancel != NULL &&
	       __atomic_load_n(games->options.cancel, __ATOMIC_RELAXED) != 0;
}

/* What an answer says, but for the totals. */
static int take_answer(struct chi_import *games, const struct chi_response *response)
{
	struct chi_client *client = games->client;
	if (response->id != games->id) {
		return chi_peer_fail(client, -CHI_EPROTO, "response with unknown request id");
	}
	if (response->status < 0) {
		games->over = true;
		int status = chi_peer_refusal(response, &client->error);
		/* Its "canceled" says little to someone who did not ask for it. */
		return status != -CHI_ECANCELED || is_canceled(games)
			       ? status
			       : chi_fail(&client->error, status,
					  "the server stopped the import; nothing was stored");
	}
	if (response->status != CHI_OK || response->op != CHI_OP_IMPORT) {
		return chi_peer_fail(client, -CHI_EPROTO,
				     "the answer to the import is of another kind");
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

/* The same while nothing is to be stored yet. */
static int take_early(struct chi_import *games, const struct chi_response *response)
{
	int status = take_answer(games, response);
	return status == CHI_OK && games->over
		       ? chi_peer_fail(games->client, -CHI_EPROTO,
				       "the server ended the import by itself")
		       : status;
}

static int receive(struct chi_import *games)
{
	struct chi_response response;
	int status = chi_peer_receive(games->client, &response);
	return status == CHI_OK ? take_early(games, &response) : status;
}

/* The connection is this import's alone from here on. */
int chi_remote_import_open(struct chi_import *games)
{
	struct chi_client *client = games->client;
	struct chi_request request = {
		.op = CHI_OP_IMPORT,
		.u.import = games->options,
	};
	int status = chi_peer_ready(client);
	if (status != CHI_OK) {
		return status;
	}
	client->peer->patient = true;
	client->peer->cancel = games->options.cancel;
	games->id = chi_peer_next_id(client);
	request.id = games->id;
	status = chi_peer_send(client, &request);
	return status == CHI_OK ? receive(games) : status;
}

void chi_remote_import_file(struct chi_import *games, const char *name)
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
static int send_piece(struct chi_import *games, const uint8_t *bytes, size_t *len)
{
	struct chi_client *client = games->client;
	uint32_t frame = client->peer->limits.request_bytes;
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

static int tell_nothing(const struct chi_import *games, int status)
{
	struct chi_fault why = games->client->error;
	return chi_fail(&games->client->error, status, "%.200s; nothing was stored", why.text);
}

/* Before the commit nothing happens in the store. */
static int nothing_stored(const struct chi_import *games, int status)
{
	return status == -CHI_ECONNECT && games->client->peer->fd < 0 ? tell_nothing(games, status)
								      : status;
}

int chi_remote_import_feed(struct chi_import *games, const uint8_t *bytes, size_t len)
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
	return nothing_stored(games, status);
}

/* Asks the server to stop, once; what became of the import its last answer tells. */
static int stop_import(struct chi_import *games)
{
	struct chi_request request = {.op = CHI_OP_CANCEL, .id = games->id};
	games->client->peer->cancel = NULL;
	return chi_peer_send(games->client, &request);
}

/* Without the last answer the outcome is unknown. Games that are counted are not counted again;
 * of a merge only games tell that it was done. */
static int doubt(struct chi_import *games, int status)
{
	if (!games->over) {
		struct chi_client *client = games->client;
		bool merge = games->options.kind == CHI_IMPORT_MERGE;
		struct chi_fault fault = client->error;
		if (fault.text[0] == '\0') {
			(void)chi_fault_plain(&fault, status);
		}
		(void)chi_fail(
			&client->error, status,
			merge ? "%.130s; it is not known whether the other store was added: "
				"check before you try again"
			: games->options.kind == CHI_IMPORT_LOAD
				? "%.130s; it is not known whether the dump was loaded, and "
				  "loading it again is harmless"
			: games->options.kind == CHI_IMPORT_PUT
				? "%.130s; it is not known whether the positions were stored: "
				  "putting them again is harmless, but adding is not"
				: "%.130s; it is not known whether the games were stored, and "
				  "importing them again is harmless",
			fault.text);
		chi_peer_close(client);
	}
	return status;
}

/* Over a new connection, as often as it takes; while the import goes on there is no end to it but
 * the caller's. */
static int ask_outcome(struct chi_import *games, struct chi_outcome *outcome)
{
	struct chi_response response;
	struct chi_client *client = games->client;
	struct chi_request request = {.op = CHI_OP_OUTCOME,
				      .idempotency_key = games->idempotency_key};
	/* The import was lost already: a server that takes nothing for now is asked again, too. */
	struct chi_repeat repeat = {.by = chi_now_ms() + client->options.repeat_ms};
	int status = CHI_OK;
	do {
		status = chi_peer_ready(client);
		client->peer->patient = true;
		client->peer->cancel = games->options.cancel;
		if (status == CHI_OK) {
			status = chi_peer_ask(client, &request, &response);
		}
	} while (chi_repeat_again(client, &repeat, status));
	if (status == CHI_OK) {
		memcpy(outcome, response.body, sizeof(*outcome));
	}
	return status;
}

/* The connection broke before the last answer came. The server knows by the mark what became of the
 * import; one not stored by then is never stored, once the server was asked. */
static int find_outcome(struct chi_import *games, int status, struct chi_import_result *result)
{
	struct chi_client *client = games->client;
	struct chi_fault why = client->error;
	struct chi_outcome outcome;
	int ms = ASK_FIRST_MS;
	client->error.text[0] = '\0';
	int asked = ask_outcome(games, &outcome);
	while (asked == CHI_OK && outcome.running && !is_canceled(games)) {
		(void)poll(NULL, 0, ms);
		ms = ms < ASK_MAX_MS / 2 ? ms * 2 : ASK_MAX_MS;
		asked = ask_outcome(games, &outcome);
	}
	bool known = asked == CHI_OK && !outcome.running;
	if (known && outcome.kind == CHI_IDEMPOTENCY_IMPORT) {
		games->over = true;
		*result = outcome.import;
		return CHI_OK;
	}
	client->error = why;
	return known ? tell_nothing(games, status) : doubt(games, status);
}

static int ask_sequence(struct chi_import *games, uint64_t *sequence)
{
	struct chi_client *client = games->client;
	struct chi_request info = {.op = CHI_OP_INFO, .id = chi_peer_next_id(client)};
	struct chi_response response;
	int status = chi_peer_send(client, &info);
	while (status == CHI_OK) {
		status = chi_peer_receive(client, &response);
		if (status == CHI_OK && response.id == info.id) {
			break;
		}
		status = status == CHI_OK ? take_early(games, &response) : status;
	}
	if (status == CHI_OK && response.status < 0) {
		return chi_peer_refusal(&response, &client->error);
	}
	if (status == CHI_OK && response.op != CHI_OP_INFO) {
		return chi_peer_fail(client, -CHI_EPROTO, "an answer of another kind came");
	}
	*sequence = status == CHI_OK ? ((const struct chi_info *)response.body)->sequence : 0;
	return status;
}

/* Sending may have taken hours, in which any number of clients have written, and one who has not is
 * forgotten. So its identity is chosen only now, when it is about to write. */
static int mark_end(struct chi_import *games, struct chi_request *end)
{
	struct chi_client *client = games->client;
	uint64_t sequence = 0;
	if (client->options.repeat_ms == CHI_NO_REPEAT) {
		return CHI_OK;
	}
	int status = ask_sequence(games, &sequence);
	if (status == CHI_OK) {
		status = chi_repeat_choose(client, sequence);
	}
	if (status == CHI_OK) {
		status = chi_repeat_key(client, &end->idempotency_key);
	}
	games->idempotency_key = end->idempotency_key;
	return nothing_stored(games, status);
}

int chi_remote_import_commit(struct chi_import *games, struct chi_import_result *result)
{
	struct chi_response response;
	struct chi_request request = {.op = CHI_OP_IMPORT_END, .id = games->id};
	if (is_canceled(games)) {
		return -CHI_ECANCELED;
	}
	int marked = mark_end(games, &request);
	if (marked != CHI_OK) {
		return marked;
	}
	games->client->peer->sent = false;
	int status = chi_peer_send(games->client, &request);
	bool asked = games->client->peer->sent;
	while (status == CHI_OK && !games->over) {
		status = chi_peer_receive(games->client, &response);
		if (status == CHI_OK) {
			status = take_answer(games, &response);
		} else if (status == -CHI_ECANCELED) {
			status = stop_import(games);
		}
	}
	bool lost = status == -CHI_ECONNECT && games->client->peer->fd < 0 && !games->over;
	if (lost && !asked) {
		return tell_nothing(games, status);
	}
	if (lost && games->idempotency_key.sequence != 0) {
		return find_outcome(games, status, result);
	}
	if (status < 0) {
		return doubt(games, status);
	}
	*result = response.u.import.result;
	return CHI_OK;
}
