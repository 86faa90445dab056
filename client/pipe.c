/* SPDX-License-Identifier: MIT */
/*
 * Pipelines: a ring of slots, one a request. Answers may come in any order and are filed in their
 * slot; they are handed out in the order queued.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "client/core/client.h"

/* The slots keep their memory. Ids are never given twice, so a late answer to what was dropped
 * finds no slot. */
static void drop(struct chi_client *client)
{
	if (client->pipe != NULL) {
		client->pipe->first_number += client->pipe->queued;
		client->pipe->queued = 0;
	}
}

/* A free slot, emptied but for its memory. */
static int take_slot(struct chi_client *client, struct chi_slot **out)
{
	client->error.text[0] = '\0';
	/* Refuses, in the words that every other call has for it. */
	if (client->iter != NULL) {
		return chi_client_begin(client);
	}
	if (client->pipe == NULL) {
		client->pipe = calloc(1, sizeof(*client->pipe));
		if (client->pipe == NULL) {
			return -CHI_ENOMEM;
		}
	}
	if (client->pipe->queued == CHI_IN_FLIGHT_MAX) {
		return chi_fault(&client->error, -CHI_EBUSY,
				 "%d requests are unanswered; take answers first",
				 CHI_IN_FLIGHT_MAX);
	}
	/* It counts as queued only when the request is out: a failure leaves it where it is. */
	struct chi_slot *slot = chi_pipe_slot(client->pipe, client->pipe->queued);
	client->pipe->puts = client->pipe->puts && client->pipe->queued > 0;
	memset(slot, 0, offsetof(struct chi_slot, fault));
	*out = slot;
	return CHI_OK;
}

/* Room for the answer is taken before the request goes out: afterwards it is too late to fail. */
static int take_rows(struct chi_slot *slot, const struct chi_key *keys, size_t n)
{
	if (slot->capacity < n) {
		struct chi_row *rows = realloc(slot->rows, n * sizeof(*rows));
		if (rows == NULL) {
			return -CHI_ENOMEM;
		}
		slot->rows = rows;
		slot->capacity = n;
	}
	for (size_t i = 0; i < n; i++) {
		slot->rows[i] = (struct chi_row){.key = keys[i]};
	}
	slot->n = n;
	return CHI_OK;
}

static int queue_probe(struct chi_client *client, const struct chi_key *keys, size_t n)
{
	struct chi_slot *slot = NULL;
	int status = take_slot(client, &slot);
	if (status != CHI_OK) {
		return status;
	}
	if (n == 0 || n > CHI_PROBE_MAX) {
		return chi_fault(&client->error, n == 0 ? -CHI_EINVAL : -CHI_ETOOBIG,
				 "a queued probe takes 1 to %d positions, not %zu", CHI_PROBE_MAX,
				 n);
	}
	status = chi_client_check_keys(keys, n, &client->error);
	if (status == CHI_OK) {
		status = take_rows(slot, keys, n);
	}
	if (status == CHI_OK) {
		status = client->backend->pipe_probe(client, slot, keys);
	}
	return status;
}

static int queue_put(struct chi_client *client, const struct chi_put *entries, size_t n,
		     enum chi_durability durability)
{
	struct chi_slot *slot = NULL;
	int status = take_slot(client, &slot);
	if (status == CHI_OK) {
		status = chi_client_check_put(client, entries, n, durability);
	}
	if (status == CHI_OK) {
		slot->is_put = true;
		client->pipe->puts = true;
		slot->async = durability == CHI_ASYNC;
		status = client->backend->pipe_put(client, slot, entries, n, durability);
	}
	return status;
}

/* Counts a request that was queued. One that was not leaves the others as they are, also where the
 * connection broke: chi_pipe_next tells that. */
static int queued(struct chi_client *client, int status)
{
	if (status == CHI_OK) {
		client->pipe->queued++;
	}
	return chi_client_end(client, status);
}

int chi_pipe_probe(struct chi_client *client, const struct chi_key *keys, size_t n)
{
	return queued(client, queue_probe(client, keys, n));
}

int chi_pipe_put(struct chi_client *client, const struct chi_put *entries, size_t n,
		 enum chi_durability durability)
{
	return queued(client, queue_put(client, entries, n, durability));
}

/* An end of the connection that is noticed here is reported by chi_pipe_next, after the answers
 * that came before it. */
int chi_pipe_send(struct chi_client *client)
{
	client->error.text[0] = '\0';
	struct chi_pipe *pipe = client->pipe;
	if (pipe == NULL || pipe->queued == 0) {
		return CHI_OK;
	}
	return chi_client_end(client, client->backend->pipe_send(client));
}

static int wait_for_answer(struct chi_client *client)
{
	if (client->backend->pipe_wait == NULL) {
		return chi_fault(&client->error, -CHI_EINTERNAL, "an answer was never filed");
	}
	return client->backend->pipe_wait(client);
}

int chi_pipe_next(struct chi_client *client, struct chi_answer *out)
{
	*out = (struct chi_answer){0};
	client->error.text[0] = '\0';
	struct chi_pipe *pipe = client->pipe;
	if (pipe == NULL || pipe->queued == 0) {
		return CHI_NONE;
	}
	struct chi_slot *slot = chi_pipe_slot(pipe, 0);
	out->number = pipe->first_number;
	/* Answers to later requests that come first wait in their slots. */
	while (!slot->done) {
		int status = wait_for_answer(client);
		if (status < 0) {
			drop(client);
			return chi_client_end(client, status);
		}
	}
	pipe->first = (pipe->first + 1) % CHI_IN_FLIGHT_MAX;
	pipe->queued--;
	pipe->first_number++;
	out->status = slot->status;
	if (slot->status < 0) {
		client->error = slot->fault;
	} else if (slot->is_put) {
		out->put = slot->put;
	} else {
		out->rows = slot->rows;
		out->n_rows = slot->n;
	}
	/* The request's failure is not this call's, but chi_error describes it. */
	(void)chi_client_end(client, slot->status);
	return CHI_OK;
}
