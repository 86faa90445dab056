/* SPDX-License-Identifier: MIT */
/*
 * Writing over a socket. A write whose answer did not come may or may not have
 * happened, and the error says so. CHI_ASYNC writes that were answered are durable once any later
 * synced write is, because a server commits in order; if the connection breaks before, no one can
 * tell, and the next chi_flush or synced write says so instead of confirming them; so a synced
 * write is not repeated over a connection that such writes were lost with. A read on the
 * client that wrote them flushes first, as in-process: it must see them.
 */
#include "client/remote/remote.h"

#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "client/remote/repeat.h"

void chi_remote_written(struct chi_peer *peer, size_t n, bool async)
{
	peer->async_open = async ? peer->async_open + n : 0;
}

/* Tells, once, of unsynced writes whose connection broke. */
static int tell_lost(struct chi_client *client, const char *then)
{
	uint64_t lost = client->peer->async_lost;
	if (lost == 0) {
		return CHI_OK;
	}
	client->peer->async_lost = 0;
	return chi_fail(&client->error, -CHI_ECONNECT,
			"'%.110s': the connection broke before %" PRIu64
			" written records were synced; they may or may not be stored%s",
			client->text, lost, then);
}

static int try_write(struct chi_client *client, struct chi_request *request,
		     enum chi_durability durability, bool first, struct chi_response *response)
{
	int status = chi_peer_ready(client);
	if (status == CHI_OK && durability == CHI_SYNC) {
		/* It would vouch for them. */
		status = tell_lost(client, first ? ", and this write was not sent"
						 : ", and so may this write");
	}
	if (status == CHI_OK) {
		status = chi_repeat_key(client, &request->idempotency_key);
	}
	/* Other clients' writes may come first, among them an import of minutes. */
	client->peer->patient = true;
	return status == CHI_OK ? chi_peer_ask(client, request, response) : status;
}

/* The server has forgotten the client before a write was first sent: takes another identity. The
 * write needs a new mark. */
static int renew(struct chi_client *client)
{
	struct chi_request info = {.op = CHI_OP_INFO};
	struct chi_response response;
	int status = chi_peer_ask(client, &info, &response);
	return status == CHI_OK
		       ? chi_repeat_choose(client,
					   ((const struct chi_info *)response.body)->sequence)
		       : status;
}

int chi_remote_repeat_write(struct chi_client *client, struct chi_request *request,
			    enum chi_durability durability, struct chi_response *response)
{
	struct chi_repeat repeat = {0};
	bool renewed = false;
	for (;;) {
		int status = try_write(client, request, durability, repeat.lost == 0, response);
		if (status == -CHI_EFORGOTTEN && repeat.lost == 0 && !renewed) {
			/* It has not been done, and never will be under the old mark. */
			renewed = true;
			client->error.text[0] = '\0';
			request->idempotency_key = (struct chi_idempotency_key){0};
			status = renew(client);
			if (status == CHI_OK) {
				continue;
			}
		}
		/* Sent without a mark it may not be remembered. */
		bool again = request->idempotency_key.sequence != 0 || !client->peer->sent;
		if (!again || !chi_repeat_again(client, &repeat, status)) {
			if (status == CHI_OK && durability == CHI_SYNC) {
				chi_remote_written(client->peer, 0, false);
			}
			return chi_peer_doubt(client, status);
		}
	}
}

struct chi_put_request chi_remote_put_request(const struct chi_put_entry *entries, size_t n,
					      enum chi_durability durability)
{
	struct chi_put_request asked = {.durability = durability, .n = n};
	/* Packing only reads them (see chi_positions_of). */
	memcpy(&asked.entries, &entries, sizeof(entries));
	return asked;
}

/* The server's limit may be below ours: it is known before anything is sent, so the refusal can say
 * what the limit is and leaves the connection alone. */
static int call_batch(struct chi_client *client, enum chi_op op, const void *asked, size_t n,
		      void *out)
{
	const struct chi_request request = {.op = op, .body = asked};
	return n <= client->peer->limits.put_entries
		       ? chi_remote_call(client, &request, out)
		       : chi_fail(&client->error, -CHI_ETOOBIG,
				  "%zu entries in one batch, the server takes at most %u", n,
				  client->peer->limits.put_entries);
}

int chi_remote_put(struct chi_client *client, const struct chi_put_entry *entries, size_t n,
		   enum chi_durability durability, struct chi_put_result *result)
{
	const struct chi_put_request asked = chi_remote_put_request(entries, n, durability);
	return n == 0 && durability == CHI_ASYNC
		       ? CHI_OK
		       : call_batch(client, CHI_OP_PUT, &asked, n, result);
}

int chi_remote_del(struct chi_client *client, const struct chi_key *keys, size_t n,
		   enum chi_durability durability, uint64_t *deleted)
{
	const struct chi_delete_request asked = {chi_positions_of(keys, n), durability};
	struct chi_affected did = {0};
	int status = call_batch(client, CHI_OP_DELETE, &asked, n, &did);
	*deleted = did.n;
	return status;
}

int chi_remote_settle(struct chi_client *client)
{
	struct chi_peer *peer = client->peer;
	if (peer->async_open == 0) {
		return CHI_OK;
	}
	/* Looks whether the connection is still open, which moves open writes to the lost ones. */
	int status = chi_peer_ready(client);
	if (status != CHI_OK || peer->async_open == 0) {
		return status;
	}
	/* An empty synced batch queues after them. */
	const struct chi_put_request nothing = {.durability = CHI_SYNC};
	struct chi_request request = {.op = CHI_OP_PUT, .body = &nothing};
	struct chi_response response;
	peer->patient = true;
	status = chi_peer_ask(client, &request, &response);
	if (status == CHI_OK) {
		chi_remote_written(peer, 0, false);
	}
	if (status == -CHI_ECONNECT && client->options.repeat_ms != CHI_NO_REPEAT) {
		/* They are among the lost ones now, and what follows gets over it. */
		client->error.text[0] = '\0';
		return CHI_OK;
	}
	return chi_peer_doubt(client, status);
}

/* Settling may find the connection broken, so the lost ones are asked for after it; telling of
 * them goes before any other failure, because it is said only once. */
int chi_remote_flush(struct chi_client *client)
{
	int status = chi_remote_settle(client);
	int lost = tell_lost(client, "");
	return lost != CHI_OK ? lost : status;
}
