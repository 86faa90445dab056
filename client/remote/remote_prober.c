/* SPDX-License-Identifier: MIT */
/* Probes with evaluations over a socket: whole records are asked for, and looked through here. */
#include "client/client_priv.h"

#include <string.h>

/* Positions of a request. Their records may be large: too many of them do not fit an answer. */
#define CHUNK 256

/* As chi_strength says; the store's chi_record_decode_strength chooses alike. */
static void take_eval(const struct chi_eval *eval, uint64_t *date, struct chi_strength *out)
{
	if (out->has_eval &&
	    (eval->depth < out->depth || (eval->depth == out->depth && eval->date <= *date))) {
		return;
	}
	out->has_eval = true;
	out->is_mate = eval->is_mate;
	out->depth = (uint16_t)eval->depth;
	out->score = eval->score;
	*date = eval->date;
}

static void take_entry(const struct chi_entry *entry, struct chi_strength *out)
{
	uint64_t date = 0;
	*out = (struct chi_strength){.found = entry->found};
	if (!entry->found) {
		return;
	}
	out->chi2 = entry->record.chi2;
	out->counts = entry->record.counts;
	for (size_t i = 0; i < entry->record.n_evals; i++) {
		take_eval(&entry->record.evals[i], &date, out);
	}
}

static int ask(struct chi_client *client, const struct chi_key *keys, size_t n,
	       struct chi_strength *out)
{
	struct chi_request request = {
		.op = CHI_OP_GET,
		.u.positions = chi_remote_positions(keys, n),
	};
	struct chi_response response;
	chi_arena_reset(&client->arena);
	int status = chi_peer_call(client, &request, &response);
	if (status != CHI_OK) {
		return status;
	}
	if (response.u.get.n != n) {
		return chi_peer_fail(client, -CHI_EPROTO, "asked for %zu records, told of %zu", n,
				     response.u.get.n);
	}
	for (size_t i = 0; i < n; i++) {
		const struct chi_entry *entry = &response.u.get.entries[i];
		if (entry->key.len != 0 && memcmp(&entry->key, &keys[i], sizeof(*keys)) != 0) {
			return chi_peer_fail(client, -CHI_EPROTO,
					     "record %zu is of another position", i);
		}
		take_entry(entry, &out[i]);
	}
	return CHI_OK;
}

int chi_remote_strengths(struct chi_client *client, const struct chi_key *keys, size_t n,
			 struct chi_strength *out)
{
	size_t chunk = CHUNK;
	int status = chi_client_begin(client);
	while (status == CHI_OK && n > 0) {
		chunk = chunk < n ? chunk : n;
		status = ask(client, keys, chunk, out);
		if (status == -CHI_ETOOBIG && chunk > 1) {
			/* The answer was too long; half of it may do. */
			chunk /= 2;
			client->error.text[0] = '\0';
			status = CHI_OK;
			continue;
		}
		keys += chunk;
		out += chunk;
		n -= chunk;
	}
	return chi_client_end(client, status);
}
