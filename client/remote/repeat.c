/* SPDX-License-Identifier: MIT */
/* The waits between attempts, and the marks of writes. */
#include "client/remote/repeat.h"

#include <poll.h>
#include <string.h>
#include <sys/random.h>

#include "base/fault.h"
#include "client/core/client.h"
#include "client/remote/peer.h"
#include "client/remote/connect.h"
#include "ops/op.h"

/* A request that brings every server down must not do so for ever. */
#define SENDS_MAX 10

/* The first wait that is one, and the longest. */
#define WAIT_FIRST_MS 20
#define WAIT_MAX_MS   1000

/* ---- Attempts ---------------------------------------------------------------------------- */

/* The connection broke or could not be made; or, for what was sent before, it was denied access or
 * not taken for now: to hand that on would deny what may have happened. */
static bool is_lost(const struct chi_client *client, const struct chi_repeat *repeat, int status)
{
	if (status == -CHI_ECONNECT) {
		return client->peer->fd < 0;
	}
	bool later = status == -CHI_EBUSY || (status == -CHI_ETIMEOUT && !client->peer->sent);
	return later && repeat->by != 0;
}

/* Between half and all of the wait, so that the clients of a server do not all come at once. */
static int jitter(uint32_t ms)
{
	uint16_t chance = 0;
	(void)!getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
	return (int)(ms / 2 + (uint64_t)(ms - ms / 2) * chance / UINT16_MAX);
}

/* True if there is time for another attempt, which begins now. */
static bool wait_turn(struct chi_client *client, struct chi_repeat *repeat)
{
	int64_t now = chi_now_ms();
	if (repeat->by == 0) {
		repeat->by = now + client->options.repeat_ms;
	}
	int ms = jitter(repeat->wait_ms);
	repeat->wait_ms = repeat->wait_ms == 0		      ? WAIT_FIRST_MS
			  : repeat->wait_ms < WAIT_MAX_MS / 2 ? repeat->wait_ms * 2
							      : WAIT_MAX_MS;
	if (now + ms >= repeat->by) {
		return false;
	}
	(void)poll(NULL, 0, ms);
	return true;
}

/* The last failure, and what was tried before it. */
static void tell_failure(struct chi_client *client, const struct chi_repeat *repeat, int status)
{
	struct chi_fault fault = client->error;
	if (repeat->lost < 2) {
		return;
	}
	if (fault.text[0] == '\0') {
		(void)chi_fault_plain(&fault, status);
	}
	(void)chi_fail(&client->error, status, "%.160s; sent %u times without an answer",
		       fault.text, repeat->lost);
}

bool chi_repeat_again(struct chi_client *client, struct chi_repeat *repeat, int status)
{
	bool lost = is_lost(client, repeat, status);
	repeat->lost += lost && status == -CHI_ECONNECT && client->peer->sent;
	if (lost && client->options.repeat_ms != CHI_NO_REPEAT && repeat->lost < SENDS_MAX &&
	    wait_turn(client, repeat)) {
		client->error.text[0] = '\0';
		return true;
	}
	if (status < 0) {
		tell_failure(client, repeat, status);
	}
	client->peer->unanswered = repeat->lost > 0;
	return false;
}

/* ---- Marks ------------------------------------------------------------------------------- */

int chi_repeat_choose(struct chi_client *client, uint64_t since)
{
	struct chi_identity *identity = &client->peer->identity;
	struct chi_idempotency_key *idempotency_key = &identity->last;
	*idempotency_key = (struct chi_idempotency_key){.since = since};
	memcpy(idempotency_key->store, client->peer->uuid, sizeof(idempotency_key->store));
	if (getrandom(idempotency_key->client, sizeof(idempotency_key->client), 0) !=
	    (ssize_t)sizeof(idempotency_key->client)) {
		return chi_fail(&client->error, -CHI_EIO,
				"no random numbers for the client's identity");
	}
	identity->chosen = true;
	return CHI_OK;
}

int chi_repeat_key(struct chi_client *client, struct chi_idempotency_key *idempotency_key)
{
	struct chi_identity *identity = &client->peer->identity;
	if (idempotency_key->sequence != 0 || client->options.repeat_ms == CHI_NO_REPEAT) {
		return CHI_OK;
	}
	/* Another store may have taken the place of the one that knows this client. */
	if (!identity->chosen ||
	    memcmp(identity->last.store, client->peer->uuid, sizeof(identity->last.store)) != 0) {
		int status = chi_repeat_choose(client, client->peer->sequence);
		if (status != CHI_OK) {
			return status;
		}
	}
	/* Every write before it has been answered or given up. */
	identity->last.sequence++;
	identity->last.unanswered = identity->last.sequence;
	*idempotency_key = identity->last;
	return CHI_OK;
}

int chi_repeat_call(struct chi_client *client, struct chi_request *request,
		    struct chi_response *response)
{
	struct chi_repeat repeat = {0};
	int status = CHI_OK;
	do {
		status = chi_peer_ready(client);
		client->peer->patient = (chi_op_row_of(request->op)->flags & CHI_IS_LONG) != 0;
		if (status == CHI_OK) {
			status = chi_peer_ask(client, request, response);
		}
	} while (chi_repeat_again(client, &repeat, status));
	return status;
}
