/* SPDX-License-Identifier: MIT */
/*
 * Pipelines over a socket, also over several one after the other: when a connection breaks, all
 * that has no answer goes out again over the next, in the order queued. Of a probe the slot has the
 * keys anyway; of a put its frame is kept, and the mark by which the server knows it again, so that
 * it is done once at most. The frames are put together anew each time, because an identity that the
 * server has forgotten is exchanged for another: what it refused for that reason was not done.
 *
 * Which number a put has among the client's says how long the server has to remember it: no more
 * than the slots of a pipeline are ever between the oldest that may come again and the newest.
 */
#include "client/client_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "client/remote/connect.h"
#include "proto/frame.h"

/* Memory for a frame that a slot keeps for its next use. */
#define KEEP_SIZE ((size_t)16 << 10)

/* Of chi_pipe.open: one for each slot. Numbers that are further behind, because others were given
 * twice, no server remembers. */
#define OPEN_BITS 64
_Static_assert(CHI_IN_FLIGHT_MAX <= OPEN_BITS, "more slots than bits");

/* Of a pipeline that only asks nothing is in doubt. A connection that is gone takes with it what is
 * not to be sent again. */
static int give_up(struct chi_client *client, int status)
{
	int told = client->pipe->puts ? chi_peer_doubt(client, status) : status;
	if (client->peer.fd < 0) {
		chi_pipe_drop(client);
	}
	return told;
}

static bool repeats(const struct chi_client *client)
{
	return client->options.repeat_ms != CHI_NO_REPEAT;
}

/* ---- Marks ------------------------------------------------------------------------------- */

/* The slot's number will not go out again. */
static void close_number(struct chi_client *client, const struct chi_slot *slot)
{
	const struct chi_idempotency_key *last = &client->identity.last;
	uint64_t below = last->sequence - slot->idempotency_key.sequence;
	if (slot->idempotency_key.sequence != 0 && below < OPEN_BITS &&
	    memcmp(slot->idempotency_key.client, last->client, sizeof(last->client)) == 0) {
		client->pipe->open &= ~((uint64_t)1 << below);
	}
}

/* Gives the slot a number, instead of the one it had. */
static int mark(struct chi_client *client, struct chi_slot *slot)
{
	uint64_t *open = &client->pipe->open;
	close_number(client, slot);
	slot->idempotency_key = (struct chi_idempotency_key){0};
	int status = chi_repeat_key(client, &slot->idempotency_key);
	if (slot->idempotency_key.sequence != 0) {
		/* The numbers of an identity begin with 1. */
		*open = slot->idempotency_key.sequence == 1 ? 1 : *open << 1 | 1;
		slot->idempotency_key.unanswered -=
			(OPEN_BITS - 1) - (unsigned)__builtin_clzll(*open);
	}
	return status;
}

static void empty(struct chi_slot *slot)
{
	chi_buffer_consume(&slot->frame, slot->frame.len);
	chi_buffer_trim(&slot->frame, KEEP_SIZE);
}

static void finish(struct chi_client *client, struct chi_slot *slot, int status)
{
	slot->done = true;
	slot->status = status;
	if (slot->is_put) {
		close_number(client, slot);
		empty(slot);
	}
}

/* ---- Sending ----------------------------------------------------------------------------- */

/* A put that is sent once only needs neither its mark nor its frame. */
static int send_put(struct chi_client *client, struct chi_slot *slot, struct chi_request *request)
{
	if (!repeats(client)) {
		return chi_peer_queue(client, request);
	}
	empty(slot);
	int status = chi_peer_pack(client, request, &slot->frame);
	if (status == CHI_OK) {
		status = mark(client, slot);
	}
	if (status == CHI_OK) {
		status = chi_peer_queue_packed(client, &slot->frame, &slot->idempotency_key);
	}
	if (status != CHI_OK) {
		close_number(client, slot);
	}
	return status;
}

static int send_probe(struct chi_client *client, const struct chi_slot *slot,
		      const struct chi_key *keys)
{
	struct chi_request request = {
		.op = CHI_OP_PROBE,
		.id = slot->id,
		.u.positions = chi_remote_positions(keys, slot->n),
	};
	return chi_peer_queue(client, &request);
}

/* How many requests there may be on the way. Of more writes than it says the server would forget
 * the first before the last is answered. */
static size_t room(const struct chi_client *client, const struct chi_slot *slot)
{
	const struct chi_hello_limits *limits = &client->peer.limits;
	bool marked = (slot->is_put || client->pipe->puts) && limits->remembered_writes > 0;
	return marked && limits->remembered_writes < limits->requests_in_flight
		       ? limits->remembered_writes
		       : limits->requests_in_flight;
}

/* The first of a pipeline looks after the connection; later ones must not, since answers may lie
 * there already. */
static int begin(struct chi_client *client, const struct chi_slot *slot)
{
	struct chi_repeat *repeat = &client->pipe->repeat;
	int status = slot->is_put ? CHI_OK : chi_remote_settle(client);
	if (status != CHI_OK) {
		return status;
	}
	*repeat = (struct chi_repeat){0};
	do {
		status = chi_peer_ready(client);
	} while (chi_repeat_again(client, repeat, status));
	return status;
}

/* Makes ready for one more request. */
static int prepare(struct chi_client *client, struct chi_slot *slot)
{
	struct chi_peer *peer = &client->peer;
	size_t queued = client->pipe->queued;
	int status = queued == 0 ? begin(client, slot) : CHI_OK;
	if (status == CHI_OK && slot->is_put) {
		status = chi_remote_may_vouch(client, slot->async ? CHI_ASYNC : CHI_SYNC, true);
	}
	if (status != CHI_OK) {
		return status;
	}
	if (queued >= room(client, slot)) {
		return chi_fault(&client->error, -CHI_EBUSY,
				 "%zu requests are unanswered, the server takes no more; take "
				 "answers first",
				 queued);
	}
	/* It may wait behind other clients' writes, of which one may be an import of minutes. */
	peer->patient = peer->patient || slot->is_put;
	slot->id = chi_peer_next_id(client);
	return CHI_OK;
}

int chi_remote_pipe_send(struct chi_client *client)
{
	return give_up(client, chi_peer_flush(client));
}

int chi_remote_pipe_probe(struct chi_client *client, struct chi_slot *slot,
			  const struct chi_key *keys)
{
	int status = prepare(client, slot);
	return status == CHI_OK ? give_up(client, send_probe(client, slot, keys)) : status;
}

int chi_remote_pipe_put(struct chi_client *client, struct chi_slot *slot,
			const struct chi_put *entries, size_t n, enum chi_durability durability)
{
	_cleanup_(chi_freep) struct chi_put *copy = NULL;
	int status = chi_remote_name_parts(&entries, n, &copy);
	if (status == CHI_OK) {
		status = prepare(client, slot);
	}
	if (status != CHI_OK) {
		return status;
	}
	struct chi_request request = chi_remote_put_request(entries, n, durability);
	request.id = slot->id;
	slot->n = n;
	return give_up(client, send_put(client, slot, &request));
}

/* ---- Sending again ----------------------------------------------------------------------- */

/* The keys stand in the rows, where the answer goes. */
static int probe_again(struct chi_client *client, const struct chi_slot *slot)
{
	_cleanup_(chi_freep) struct chi_key *keys = calloc(slot->n, sizeof(*keys));
	if (keys == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < slot->n; i++) {
		keys[i] = slot->rows[i].key;
	}
	return send_probe(client, slot, keys);
}

/* A put that is not to go out again is answered with why. */
static int refuse(struct chi_client *client, struct chi_slot *slot, int status)
{
	finish(client, slot, status);
	slot->fault = client->error;
	client->error.text[0] = '\0';
	return CHI_OK;
}

static int put_again(struct chi_client *client, struct chi_slot *slot)
{
	int status = chi_remote_may_vouch(client, slot->async ? CHI_ASYNC : CHI_SYNC, !slot->lost);
	if (status != CHI_OK) {
		return refuse(client, slot, status);
	}
	bool known = client->peer.limits.remembered_writes > 0;
	if (slot->lost && (slot->idempotency_key.sequence == 0 || !known)) {
		status =
			chi_fault(&client->error, -CHI_ECONNECT,
				  "'%.110s': the connection broke, and this server does not know a "
				  "repeated write; it may or may not have happened",
				  client->text);
		return refuse(client, slot, status);
	}
	/* What has never been done under its mark may get another. */
	if (!slot->lost) {
		status = mark(client, slot);
	}
	return status == CHI_OK
		       ? chi_peer_queue_packed(client, &slot->frame, &slot->idempotency_key)
		       : status;
}

static int send_again(struct chi_client *client)
{
	struct chi_pipe *pipe = client->pipe;
	int status = chi_peer_ready(client);
	client->peer.patient = pipe->puts;
	for (size_t i = 0; i < pipe->queued && status == CHI_OK; i++) {
		struct chi_slot *slot = chi_pipe_slot(pipe, i);
		if (!slot->done) {
			pipe->parked -= slot->parked;
			slot->parked = false;
			status = slot->is_put ? put_again(client, slot) : probe_again(client, slot);
		}
	}
	return status;
}

/* Of what was on the way when the connection broke nobody knows how far it came. */
static void note_loss(struct chi_client *client)
{
	struct chi_pipe *pipe = client->pipe;
	for (size_t i = 0; i < pipe->queued && client->peer.sent; i++) {
		struct chi_slot *slot = chi_pipe_slot(pipe, i);
		slot->lost = slot->lost || (!slot->done && !slot->parked);
	}
}

/* ---- Answers ----------------------------------------------------------------------------- */

/* True if the server is to be asked again, and the slot waits for that: of what was sent before, a
 * server that takes nothing for now says nothing; and what is forgotten may be done under another
 * identity, if it was sent once only. */
static bool park(struct chi_client *client, struct chi_slot *slot, int status)
{
	struct chi_repeat *repeat = &client->pipe->repeat;
	bool later = status == -CHI_EBUSY && slot->lost;
	bool stale = status == -CHI_EFORGOTTEN && !slot->lost && !slot->renewed &&
		     slot->idempotency_key.sequence != 0;
	if (!repeats(client) || (!later && !stale)) {
		return false;
	}
	if (repeat->by == 0) {
		repeat->by = chi_clock_ms() + client->options.repeat_ms;
	}
	slot->renewed = slot->renewed || stale;
	slot->parked = true;
	client->pipe->parked++;
	return true;
}

static void file_refusal(struct chi_slot *slot, const struct chi_response *response)
{
	struct chi_fault why;
	int status = chi_peer_refusal(response, &why);
	slot->status = status;
	slot->fault = why;
	if (slot->is_put && slot->lost && !chi_peer_is_definite(status)) {
		(void)chi_fault(&slot->fault, status,
				"%.200s; it was sent before, and may or may not have happened then",
				why.text);
	}
}

/* Files the answer in its slot. */
static int file_answer(struct chi_client *client, struct chi_slot *slot,
		       const struct chi_response *response)
{
	if (response->status < 0 && park(client, slot, response->status)) {
		return CHI_OK;
	}
	client->pipe->repeat = (struct chi_repeat){0};
	finish(client, slot, response->status);
	if (response->status < 0) {
		file_refusal(slot, response);
		return CHI_OK;
	}
	if (response->op != (slot->is_put ? CHI_OP_PUT : CHI_OP_PROBE)) {
		return chi_peer_fail(client, -CHI_EPROTO, "an answer of another kind came");
	}
	if (!slot->is_put) {
		return chi_remote_copy_rows(client, response, slot->rows, slot->n);
	}
	slot->put = response->u.put;
	chi_remote_written(&client->peer, slot->n, slot->async);
	if (!slot->async) {
		/* What was sent behind it may have been answered before it. */
		client->peer.async_open = chi_pipe_async_behind(client->pipe, slot);
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
	if (slot == NULL || slot->parked) {
		return chi_peer_fail(client, -CHI_EPROTO, "an answer to no question");
	}
	return file_answer(client, slot, &response);
}

/* True if none but parked ones have no answer. *stale: there is one that was forgotten. */
static bool only_parked(struct chi_pipe *pipe, bool *stale)
{
	*stale = false;
	for (size_t i = 0; i < pipe->queued; i++) {
		const struct chi_slot *slot = chi_pipe_slot(pipe, i);
		if (!slot->done && !slot->parked) {
			return false;
		}
		*stale = *stale || (!slot->done && !slot->lost);
	}
	return true;
}

/* Nothing else will come: what is parked goes out again, under a new identity if the old one is
 * forgotten. */
static int unpark(struct chi_client *client)
{
	bool stale = false;
	if (client->pipe->parked == 0 || !only_parked(client->pipe, &stale)) {
		return CHI_OK;
	}
	if (!stale) {
		return -CHI_EBUSY;
	}
	/* Should that fail, the next connection tells what a new one needs, too. */
	client->identity.chosen = false;
	int status = chi_repeat_renew(client);
	return status == CHI_OK ? send_again(client) : status;
}

int chi_remote_pipe_wait(struct chi_client *client)
{
	int status = take_answer(client);
	if (status == CHI_OK) {
		status = unpark(client);
	}
	if (status == CHI_OK) {
		return CHI_OK;
	}
	note_loss(client);
	while (chi_repeat_again(client, &client->pipe->repeat, status)) {
		status = send_again(client);
		if (status != CHI_OK) {
			note_loss(client);
		}
	}
	if (status == CHI_OK) {
		return CHI_OK;
	}
	/* Of what is dropped now some may be answered on a connection that still stands. */
	status = give_up(client, status);
	chi_peer_close(client);
	return status;
}
