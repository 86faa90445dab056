/* SPDX-License-Identifier: MIT */
/* Reading over a socket: probes of any size, whole records, and explorations. */
#include "client/remote/remote.h"

#include <string.h>

#include "base/fault.h"
#include "client/remote/repeat.h"

/* Requests that a large probe keeps on the way: enough to hide the time between, few enough that
 * other clients are served meanwhile. */
#define PROBE_WINDOW 8

/* Positions of a Get. */
#define GET_CHUNK 256

/* The answer names its keys: a mix-up on either side shows here and not in a wrong evaluation. */
static int copy_rows(struct chi_client *client, const struct chi_response *response,
		     struct chi_row *out, size_t n)
{
	const struct chi_probed *probed = response->body;
	if (probed->n != n) {
		return chi_peer_fail(client, -CHI_EPROTO, "asked for %zu positions, got %zu", n,
				     probed->n);
	}
	for (size_t i = 0; i < n; i++) {
		struct chi_key key = out[i].key;
		out[i] = probed->rows[i];
		if (out[i].key.len != 0 && memcmp(&out[i].key, &key, sizeof(key)) != 0) {
			return chi_peer_fail(client, -CHI_EPROTO, "row %zu is of another position",
					     i);
		}
		out[i].key = key;
	}
	return CHI_OK;
}

/* A large probe under way. Chunk i has id first_id + i. */
struct probe {
	const struct chi_key *keys;
	struct chi_row *rows;
	size_t n;
	size_t chunk; /* positions of a request */
	size_t chunks;
	size_t sent;	 /* chunks asked for */
	size_t low;	 /* every chunk before this one is answered */
	uint64_t beyond; /* bit i: chunk low + i is answered, too */
	uint64_t first_id;
	int status; /* of the first chunk that was refused */
	struct chi_fault fault;
};

static size_t chunk_size(const struct probe *probe, size_t i)
{
	size_t start = i * probe->chunk;
	return probe->n - start < probe->chunk ? probe->n - start : probe->chunk;
}

/* Ids are given out here only while a probe runs, which makes them consecutive. */
static int send_chunk(struct chi_client *client, struct probe *probe)
{
	size_t i = probe->sent;
	const struct chi_positions asked =
		chi_positions_of(probe->keys + i * probe->chunk, chunk_size(probe, i));
	struct chi_request request = {
		.op = CHI_OP_PROBE, .id = chi_peer_next_id(client), .body = &asked};
	if (i == 0) {
		probe->first_id = request.id;
	}
	probe->sent++;
	return chi_peer_send(client, &request);
}

/* Takes the chunk that is answered next. Ids are consecutive, so an answer's place follows from
 * its id alone; window <= 64 keeps the chunks ahead of `low` within the bits of `beyond`. */
static int receive_chunk(struct chi_client *client, struct probe *probe)
{
	struct chi_response response;
	int status = chi_peer_receive(client, &response);
	if (status != CHI_OK) {
		return status;
	}
	uint64_t ahead = response.id - probe->first_id - probe->low;
	if (response.id < probe->first_id + probe->low || ahead >= probe->sent - probe->low ||
	    (probe->beyond >> ahead & 1) != 0) {
		return chi_peer_fail(client, -CHI_EPROTO, "response with unknown request id");
	}
	size_t i = probe->low + (size_t)ahead;
	probe->beyond |= UINT64_C(1) << ahead;
	while ((probe->beyond & 1) != 0) {
		probe->beyond >>= 1;
		probe->low++;
	}
	if (response.status < 0) {
		if (probe->status == CHI_OK) {
			probe->status = chi_peer_refusal(&response, &probe->fault);
		}
		return CHI_OK;
	}
	if (response.op != CHI_OP_PROBE) {
		return chi_peer_fail(client, -CHI_EPROTO, "the answer to probe is of another kind");
	}
	return copy_rows(client, &response, probe->rows + i * probe->chunk, chunk_size(probe, i));
}

static int run_probe(struct chi_client *client, struct probe *probe)
{
	uint32_t window = client->peer->limits.requests_in_flight;
	if (window > PROBE_WINDOW) {
		window = PROBE_WINDOW;
	}
	/* After a refusal nothing more is asked, but what was asked is still answered. */
	while (probe->low < (probe->status == CHI_OK ? probe->chunks : probe->sent)) {
		int status = CHI_OK;
		if (probe->status == CHI_OK && probe->sent < probe->chunks &&
		    probe->sent - probe->low < window) {
			status = send_chunk(client, probe);
		} else {
			status = receive_chunk(client, probe);
		}
		if (status != CHI_OK) {
			return status;
		}
	}
	if (probe->status != CHI_OK) {
		client->error = probe->fault;
	}
	return probe->status;
}

/* The keys are in the rows before anything is sent: answers are compared with them. */
static int try_probe(struct chi_client *client, const struct chi_key *keys, size_t n,
		     struct chi_row *rows)
{
	int status = chi_peer_ready(client);
	if (status != CHI_OK) {
		return status;
	}
	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct chi_row){.key = keys[i]};
	}
	struct probe probe = {
		.keys = keys, .rows = rows, .n = n, .chunk = client->peer->limits.probe_positions};
	/* Not n + chunk - 1: n may be anything a caller has memory for. */
	probe.chunks = n / probe.chunk + (n % probe.chunk != 0);
	status = run_probe(client, &probe);
	if (status < 0 && probe.low < probe.sent) {
		/* Answers are still on the way that no one will wait for. */
		chi_peer_close(client);
	}
	return status;
}

int chi_remote_probe(struct chi_client *client, const struct chi_key *keys, size_t n,
		     struct chi_row *rows)
{
	struct chi_repeat repeat = {0};
	int status = CHI_OK;
	do {
		status = try_probe(client, keys, n, rows);
	} while (chi_repeat_again(client, &repeat, status));
	return status;
}

/* One request; the records lie in the client's arena, where the answer was unpacked. */
static int get_some(struct chi_client *client, const struct chi_key *keys, size_t n,
		    const struct chi_entry **out)
{
	const struct chi_positions asked = chi_positions_of(keys, n);
	const struct chi_request request = {.op = CHI_OP_GET, .body = &asked};
	struct chi_got got = {.n = 0};
	int status = chi_remote_call(client, &request, &got);
	*out = got.entries;
	return status;
}

int chi_remote_get(struct chi_client *client, const struct chi_key *key, struct chi_record *out)
{
	const struct chi_entry *entry = NULL;
	int status = get_some(client, key, 1, &entry);
	if (status != CHI_OK) {
		return status;
	}
	*out = entry->record;
	return entry->found ? CHI_OK : CHI_NONE;
}

/* Records may be large: an answer that is too long is asked for in halves. So is one that a damaged
 * record prevents, until the records before it have come. */
int chi_remote_get_many(struct chi_client *client, const struct chi_key *keys, size_t n,
			chi_get_each *each, void *context)
{
	size_t chunk = GET_CHUNK;
	int status = CHI_OK;
	for (size_t at = 0; status == CHI_OK && at < n;) {
		const struct chi_entry *entries = NULL;
		chunk = chunk < n - at ? chunk : n - at;
		chi_arena_reset(&client->answer->arena);
		status = get_some(client, keys + at, chunk, &entries);
		if ((status == -CHI_ETOOBIG || status == -CHI_ECORRUPT) && chunk > 1) {
			chunk /= 2;
			client->error.text[0] = '\0';
			status = CHI_OK;
			continue;
		}
		for (size_t i = 0; status == CHI_OK && i < chunk; i++) {
			status =
				each(context, at + i, entries[i].found ? &entries[i].record : NULL);
		}
		at += chunk;
	}
	return status;
}
