/* SPDX-License-Identifier: MIT */
#include "cli/bench/pipeline.h"

#include "base/fault.h"
#include "client/core/client.h"
#include "client/remote/peer.h"
#include "client/remote/remote.h"

uint32_t pipeline_room(const struct chi_client *client)
{
	return client->peer != NULL ? client->peer->limits.requests_in_flight : 0;
}

static int queue(struct chi_client *client, bool first, struct chi_request *request, uint64_t *id)
{
	client->error.text[0] = '\0';
	int status = first ? chi_peer_ready(client) : CHI_OK;
	if (status == CHI_OK && client->peer->fd < 0) {
		status = chi_fail(&client->error, -CHI_ECONNECT, "'%.140s': the connection is lost",
				  client->text);
	}
	if (status != CHI_OK) {
		return status;
	}
	/* Other clients' writes may come first, among them an import of minutes. */
	client->peer->patient = client->peer->patient || request->op == CHI_OP_PUT;
	*id = chi_peer_next_id(client);
	request->id = *id;
	return chi_peer_queue(client, request);
}

int pipeline_probe(struct chi_client *client, bool first, const struct chi_key *keys, size_t n,
		   uint64_t *id)
{
	const struct chi_positions asked = chi_positions_of(keys, n);
	struct chi_request request = {.op = CHI_OP_PROBE, .body = &asked};
	return queue(client, first, &request, id);
}

int pipeline_put(struct chi_client *client, bool first, const struct chi_put_entry *entries,
		 size_t n, enum chi_durability durability, uint64_t *id)
{
	const struct chi_put_request asked = chi_remote_put_request(entries, n, durability);
	struct chi_request request = {.op = CHI_OP_PUT, .body = &asked};
	int status = queue(client, first, &request, id);
	if (status == CHI_OK) {
		/* Also where it is refused: chi_flush then waits for nothing, and says so. */
		chi_remote_written(client->peer, n, durability == CHI_ASYNC);
	}
	return status;
}

int pipeline_next(struct chi_client *client, struct pipeline_answer *out)
{
	struct chi_response response;
	*out = (struct pipeline_answer){0};
	client->error.text[0] = '\0';
	int status = chi_peer_receive(client, &response);
	if (status != CHI_OK) {
		/* Answers to what is given up could still come. */
		chi_peer_close(client);
		return status;
	}
	out->id = response.id;
	out->status = response.status < 0 ? chi_peer_refusal(&response, &client->error) : CHI_OK;
	const struct chi_probed *probed = response.op == CHI_OP_PROBE ? response.body : NULL;
	for (size_t i = 0; probed != NULL && i < probed->n; i++) {
		out->found += probed->rows[i].found;
	}
	return CHI_OK;
}
