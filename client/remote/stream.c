/* SPDX-License-Identifier: MIT */
#include "client/remote/stream.h"

#include <string.h>

#include "client/remote/peer.h"

#define CREDIT_BATCH (CHI_WINDOW_DEFAULT / 2)

int chi_stream_begin(struct chi_client *client, struct chi_stream *stream,
		     struct chi_request *request)
{
	*stream = (struct chi_stream){0};
	int status = chi_peer_ready(client);
	if (status != CHI_OK) {
		return status;
	}
	/* A filter that matches little lets the server search for long. */
	client->peer->patient = true;
	request->id = chi_peer_next_id(client);
	status = chi_peer_send(client, request);
	stream->id = status == CHI_OK ? request->id : 0;
	return status;
}

/* The response before is used up: it counts as credit, returned once enough has gathered. */
static int give_credit(struct chi_client *client, struct chi_stream *stream)
{
	uint32_t responses = stream->consumed + stream->held;
	bool due = responses >= CREDIT_BATCH;
	stream->held = false;
	stream->consumed = due ? 0 : responses;
	struct chi_request credit = {
		.op = CHI_OP_CREDIT, .id = stream->id, .u.credit = {responses}};
	return due ? chi_peer_send(client, &credit) : CHI_OK;
}

int chi_stream_next(struct chi_client *client, struct chi_stream *stream, enum chi_op op,
		    struct chi_response *response)
{
	int status = give_credit(client, stream);
	if (status == CHI_OK) {
		status = chi_peer_answer(client, stream->id, op, response);
	}
	if (status < 0 || response->last) {
		/* Refused, broken or over: nothing more comes for this id. */
		stream->id = 0;
		return status < 0 ? status : CHI_NONE;
	}
	stream->held = true;
	return CHI_OK;
}

/* After the window there can be no more than the last response; a server that goes on all the same
 * is left. */
void chi_stream_cancel(struct chi_client *client, struct chi_stream *stream)
{
	if (stream->id == 0 || client->peer->fd < 0) {
		return;
	}
	struct chi_fault kept = client->error;
	struct chi_request cancel = {.op = CHI_OP_CANCEL, .id = stream->id};
	struct chi_response response = {.last = false};
	int status = chi_peer_send(client, &cancel);
	unsigned left = CHI_WINDOW_DEFAULT + 1;
	while (status == CHI_OK && !response.last && response.status >= 0) {
		status = left-- > 0 ? chi_peer_receive(client, &response) : -CHI_EPROTO;
		if (status == CHI_OK && response.id != stream->id) {
			status = -CHI_EPROTO;
		}
	}
	if (status != CHI_OK) {
		chi_peer_close(client);
	}
	stream->id = 0;
	client->error = kept;
}
