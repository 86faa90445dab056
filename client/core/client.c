/* SPDX-License-Identifier: MIT */
/* Where every public call begins and ends, and the slots of a pipeline. */
#include "client/core/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "chess/key.h"
#include "search/filter/terms.h"

int chi_client_begin(struct chi_client *client)
{
	client->error.text[0] = '\0';
	if (CHI_UNLIKELY(client->iter != NULL)) {
		return chi_fault(&client->error, -CHI_EBUSY,
				 "a scan is open on this client; close it first");
	}
	if (CHI_UNLIKELY(client->query != NULL)) {
		return chi_fault(&client->error, -CHI_EBUSY,
				 "a query of games is open on this client; close it first");
	}
	if (CHI_UNLIKELY(client->pipe != NULL && client->pipe->queued > 0)) {
		return chi_fault(&client->error, -CHI_EBUSY,
				 "%zu answers are still to be taken from this client",
				 client->pipe->queued);
	}
	chi_arena_reset(&client->arena);
	chi_arena_reset(&client->gathered);
	chi_client_tell_unknown(client, NULL);
	return CHI_OK;
}

void chi_client_tell_unknown(struct chi_client *client, const char *name)
{
	struct chi_unknown *unknown = &client->unknown;
	size_t size = name != NULL ? strlen(name) + 1 : 0;
	if (name == NULL) {
		unknown->n = 0;
		unknown->used = 0;
	} else if (unknown->n < CHI_UNKNOWN_MAX && size <= sizeof(unknown->texts) - unknown->used) {
		unknown->names[unknown->n++] = memcpy(unknown->texts + unknown->used, name, size);
		unknown->used += size;
	}
}

int chi_client_settle(struct chi_client *client, int status)
{
	return CHI_LIKELY(status == CHI_OK) ? client->backend->settle(client) : status;
}

int chi_client_end(struct chi_client *client, int status)
{
	if (CHI_UNLIKELY(status < 0) && client->error.text[0] == '\0') {
		return chi_fault_plain(&client->error, status);
	}
	return status;
}

/* Shape only (length, padding): cheap enough for probes, and all that the rooms below rely on. A
 * well-shaped key of no possible position is simply not stored. */
int chi_client_check_keys(const struct chi_key *keys, size_t n, struct chi_fault *fault)
{
	for (size_t i = 0; i < n; i++) {
		if (CHI_UNLIKELY(keys[i].len > CHI_KEY_MAX ||
				 !chi_key_shape_ok(keys[i].bytes, keys[i].len))) {
			return chi_fault(fault, -CHI_EKEY,
					 "entry %zu: the bytes are not a position key", i);
		}
	}
	return CHI_OK;
}

/* The limits of a server hold in-process, too: a program must not find them only when it moves. */
int chi_client_check_batch(struct chi_client *client, size_t n, enum chi_durability durability)
{
	if (n > CHI_PUT_MAX) {
		return chi_fault(&client->error, -CHI_ETOOBIG,
				 "%zu entries in one batch, at most %d are allowed", n,
				 CHI_PUT_MAX);
	}
	if (durability != CHI_SYNC && durability != CHI_ASYNC) {
		return chi_fault(&client->error, -CHI_EINVAL, "durability %d is unknown",
				 (int)durability);
	}
	return CHI_OK;
}

int chi_client_check_games(struct chi_client *client, const char *filter)
{
	struct chi_terms terms;
	return filter != NULL ? chi_terms_parse(filter, strlen(filter), &terms, &client->error)
			      : CHI_OK;
}

/* The rest of a put is checked where it is applied: in-process by the store, else by the server,
 * with the same rules. */
int chi_client_check_put(struct chi_client *client, const struct chi_put *entries, size_t n,
			 enum chi_durability durability)
{
	int status = chi_client_check_batch(client, n, durability);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		const struct chi_key *key = &entries[i].key;
		if (key->len > CHI_KEY_MAX || !chi_key_shape_ok(key->bytes, key->len)) {
			status = chi_fault(&client->error, -CHI_EKEY,
					   "entry %zu: the bytes are not a position key", i);
		}
	}
	return status;
}

struct chi_slot *chi_pipe_find(struct chi_pipe *pipe, uint64_t id)
{
	for (size_t i = 0; i < pipe->queued; i++) {
		struct chi_slot *slot = chi_pipe_slot(pipe, i);
		if (slot->id == id && !slot->done) {
			return slot;
		}
	}
	return NULL;
}

uint64_t chi_pipe_async_after(struct chi_pipe *pipe, const struct chi_slot *slot)
{
	uint64_t n = 0;
	for (size_t i = pipe->queued; i-- > 0 && chi_pipe_slot(pipe, i) != slot;) {
		const struct chi_slot *later = chi_pipe_slot(pipe, i);
		n += later->is_put && later->async && later->done && later->status == CHI_OK
			     ? later->n
			     : 0;
	}
	return n;
}

void chi_pipe_free(struct chi_client *client)
{
	if (client->pipe == NULL) {
		return;
	}
	for (size_t i = 0; i < CHI_IN_FLIGHT_MAX; i++) {
		free(client->pipe->slots[i].rows);
	}
	free(client->pipe);
	client->pipe = NULL;
}
