/* SPDX-License-Identifier: MIT */
/*
 * Walks over a socket. The server sends a window of responses ahead and waits for credit, so at
 * most that much lies in memory however slow the caller is; credit goes back half a window at a
 * time, which halves the messages and never lets the server run dry.
 */
#include "client/remote/remote.h"

#include "base/fault.h"
#include "client/remote/repeat.h"

#define CREDIT_BATCH (CHI_WINDOW_DEFAULT / 2)

void chi_remote_set_spec(struct chi_request *request, const struct chi_scan_spec *spec,
			 char material[CHI_MATERIAL_TEXT_SIZE])
{
	request->u.scan.spec = *spec;
	if (spec->filter.has_material) {
		size_t len = chi_material_print(&spec->filter.material, material);
		request->u.scan.spec.filter.has_material = false;
		request->u.scan.material = (struct chi_text){.bytes = material, .len = len};
	}
}

int chi_remote_credit(struct chi_client *client, uint64_t id, uint32_t responses)
{
	struct chi_request credit = {.op = CHI_OP_CREDIT, .id = id, .u.credit = {responses}};
	return chi_peer_send(client, &credit);
}

/* Asks for the rows after those that were delivered. */
static int ask(struct chi_client *client, struct chi_iter *iter)
{
	struct chi_request request = {.op = CHI_OP_SCAN};
	struct chi_scan_spec spec = iter->spec;
	char material[CHI_MATERIAL_TEXT_SIZE];
	if (iter->delivered > 0) {
		spec.after = iter->cursor;
		spec.limit -= spec.limit > 0 ? iter->delivered : 0;
	}
	chi_remote_set_spec(&request, &spec, material);
	request.u.scan.window = CHI_WINDOW_DEFAULT;
	int status = chi_peer_ready(client);
	if (status != CHI_OK) {
		return status;
	}
	/* A filter that matches little lets the server search for long. */
	client->peer->patient = true;
	request.id = chi_peer_next_id(client);
	status = chi_peer_send(client, &request);
	if (status == CHI_OK) {
		iter->id = request.id;
		iter->consumed = 0;
		iter->held = false;
	}
	return status;
}

int chi_remote_scan_open(struct chi_client *client, struct chi_iter *iter)
{
	struct chi_repeat repeat = {0};
	int status = CHI_OK;
	do {
		status = ask(client, iter);
	} while (chi_repeat_again(client, &repeat, status));
	return status;
}

/* The block is used up: it counts as credit, returned once enough has gathered. */
static int release_block(struct chi_client *client, struct chi_iter *iter)
{
	if (!iter->held) {
		return CHI_OK;
	}
	iter->held = false;
	iter->consumed++;
	if (iter->consumed < CREDIT_BATCH) {
		return CHI_OK;
	}
	uint32_t responses = iter->consumed;
	iter->consumed = 0;
	return chi_remote_credit(client, iter->id, responses);
}

static int receive_block(struct chi_client *client, struct chi_iter *iter)
{
	struct chi_response response;
	int status = chi_peer_answer(client, iter->id, CHI_OP_SCAN, &response);
	if (status < 0) {
		/* Refused or broken: either way nothing more comes for this id. */
		iter->id = 0;
		return status;
	}
	/* An empty block need not have the kind. */
	if (response.u.scan.want != iter->spec.want && response.u.scan.n > 0) {
		iter->id = 0;
		return chi_peer_fail(client, -CHI_EPROTO, "rows of another kind came");
	}
	iter->n = response.u.scan.n;
	bool records = iter->spec.want == CHI_WANT_RECORDS;
	iter->entries = records ? response.u.scan.entries : NULL;
	iter->rows = records ? NULL : response.u.scan.rows;
	iter->mixed = iter->mixed || response.u.scan.mixed;
	iter->held = !response.last;
	if (response.last) {
		iter->id = 0;
		return CHI_NONE;
	}
	return CHI_OK;
}

/* Over a new connection the walk goes on from another snapshot than it began with, and says so. */
static int resume(struct chi_client *client, struct chi_iter *iter)
{
	/* All were delivered, and only word of it was lost. */
	if (iter->spec.limit > 0 && iter->delivered == iter->spec.limit) {
		return CHI_NONE;
	}
	int status = ask(client, iter);
	if (status == CHI_OK) {
		iter->mixed = iter->mixed || iter->delivered > 0;
		status = receive_block(client, iter);
	}
	return status;
}

int chi_remote_scan_more(struct chi_client *client, struct chi_iter *iter)
{
	struct chi_repeat repeat = {0};
	int status = release_block(client, iter);
	if (status == CHI_OK) {
		status = receive_block(client, iter);
	}
	/* No cursor goes on after the rows of a sorted walk. */
	bool resumable = iter->spec.sort == CHI_SORT_NONE || iter->delivered == 0;
	while (resumable && chi_repeat_again(client, &repeat, status)) {
		status = resume(client, iter);
	}
	return status;
}

/* Abandoned before its end: says so, and reads on to the last response, so that the connection
 * serves the next call. After the window there can be no more than that one; a server that goes on
 * all the same is left. */
void chi_remote_scan_close(struct chi_client *client, struct chi_iter *iter)
{
	if (iter->id == 0 || client->peer->fd < 0) {
		return;
	}
	struct chi_fault kept = client->error;
	struct chi_request cancel = {.op = CHI_OP_CANCEL, .id = iter->id};
	struct chi_response response = {.last = false};
	int status = chi_peer_send(client, &cancel);
	unsigned left = CHI_WINDOW_DEFAULT + 1;
	while (status == CHI_OK && !response.last && response.status >= 0) {
		status = left-- > 0 ? chi_peer_receive(client, &response) : -CHI_EPROTO;
		if (status == CHI_OK && response.id != iter->id) {
			status = -CHI_EPROTO;
		}
	}
	if (status != CHI_OK) {
		chi_peer_close(client);
	}
	client->error = kept;
}
