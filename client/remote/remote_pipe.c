/* SPDX-License-Identifier: MIT */
/*
 * Pipelines over a socket. Their requests go out once: when the connection breaks, the pipeline
 * fails with the number of the first request that has no answer, and the caller decides what to do
 * again. (Single calls and batches repeat by themselves, see repeat.h.) So nothing is kept for a
 * second sending, and puts carry no mark.
 */
#include "client/remote/remote.h"

#include <inttypes.h>

#include "base/fault.h"
#include "client/remote/repeat.h"

/* The first request of a pipeline looks after the connection. Later ones must not, since answers
 * may be there already. Nothing was sent yet, so a new connection is tried as for a single call. */
static int begin(struct chi_client *client, const struct chi_slot *slot)
{
	struct chi_repeat repeat = {0};
	int status = slot->is_put ? CHI_OK : chi_remote_settle(client);
	if (status != CHI_OK) {
		return status;
	}
	do {
		status = chi_peer_ready(client);
	} while (chi_repeat_again(client, &repeat, status));
	return status;
}

/* Makes ready for one more request. */
static int prepare(struct chi_client *client, struct chi_slot *slot)
{
	struct chi_peer *peer = client->peer;
	size_t queued = client->pipe->queued;
	int status = queued == 0 ? begin(client, slot) : CHI_OK;
	if (status == CHI_OK && slot->is_put) {
		status = chi_remote_may_vouch(client, slot->async ? CHI_ASYNC : CHI_SYNC, true);
	}
	if (status != CHI_OK) {
		return status;
	}
	if (peer->fd < 0) {
		return chi_fault(&client->error, -CHI_ECONNECT,
				 "'%.140s': the connection is lost; take the answers first",
				 client->text);
	}
	if (queued >= peer->limits.requests_in_flight) {
		return chi_fault(&client->error, -CHI_EBUSY,
				 "%zu requests are unanswered, the server takes no more; take "
				 "answers first",
				 queued);
	}
	/* It may wait for other clients' writes, of which one may be an import of minutes. */
	peer->patient = peer->patient || slot->is_put;
	slot->id = chi_peer_next_id(client);
	return CHI_OK;
}

int chi_remote_pipe_probe(struct chi_client *client, struct chi_slot *slot,
			  const struct chi_key *keys)
{
	int status = prepare(client, slot);
	if (status != CHI_OK) {
		return status;
	}
	struct chi_request request = {
		.op = CHI_OP_PROBE,
		.id = slot->id,
		.u.positions = chi_remote_positions(keys, slot->n),
	};
	return chi_peer_queue(client, &request);
}

int chi_remote_pipe_put(struct chi_client *client, struct chi_slot *slot,
			const struct chi_put *entries, size_t n, enum chi_durability durability)
{
	int status = prepare(client, slot);
	if (status != CHI_OK) {
		return status;
	}
	struct chi_request request = chi_remote_put_request(entries, n, durability);
	request.id = slot->id;
	slot->n = n;
	return chi_peer_queue(client, &request);
}

/* Files the answer in its slot. */
static int file_answer(struct chi_client *client, struct chi_slot *slot,
		       const struct chi_response *response)
{
	slot->done = true;
	slot->status = response->status;
	if (response->status < 0) {
		slot->status = chi_peer_refusal(response, &slot->fault);
		return CHI_OK;
	}
	if (response->op != (slot->is_put ? CHI_OP_PUT : CHI_OP_PROBE)) {
		return chi_peer_fail(client, -CHI_EPROTO, "an answer of another kind came");
	}
	if (!slot->is_put) {
		return chi_remote_copy_rows(client, response, slot->rows, slot->n);
	}
	slot->put = response->u.outcome.put;
	chi_remote_written(client->peer, slot->n, slot->async);
	if (!slot->async) {
		/* What was sent after it may have been answered before it. */
		client->peer->async_open = chi_pipe_async_after(client->pipe, slot);
	}
	return CHI_OK;
}

static int take_answer(struct chi_client *client)
{
	struct chi_response response;
	int status = chi_peer_receive(client, &response);
	if (status != CHI_OK) {
		return status;
	}
	struct chi_slot *slot = chi_pipe_find(client->pipe, response.id);
	return slot != NULL
		       ? file_answer(client, slot, &response)
		       : chi_peer_fail(client, -CHI_EPROTO, "response with unknown request id");
}

/* Writes among those dropped may have happened; of a pipeline that only asks nothing is in doubt.
 */
int chi_remote_pipe_wait(struct chi_client *client)
{
	const struct chi_pipe *pipe = client->pipe;
	int status = take_answer(client);
	if (status == CHI_OK) {
		return CHI_OK;
	}
	struct chi_fault why = client->error;
	if (why.text[0] == '\0') {
		(void)chi_fault_plain(&why, status);
	}
	/* Answers to what is dropped could still come. */
	chi_peer_close(client);
	return chi_fault(&client->error, status, "%.160s; request %" PRIu64 " and later ones %s",
			 why.text, pipe->first_number,
			 pipe->puts && client->peer->sent ? "may or may not have happened"
							  : "have no answer");
}
