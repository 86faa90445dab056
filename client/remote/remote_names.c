/* SPDX-License-Identifier: MIT */
/* Names over a socket. Lists of several responses become one. */
#include "client/remote/remote.h"

#include <string.h>

#include "base/fault.h"
#include "client/remote/repeat.h"
#include "client/remote/stream.h"

/* ---- Lists -------------------------------------------------------------------------------- */

/* In client->gathered. */
struct gathered {
	struct chi_name_entry *entries;
	size_t n;
	size_t room;
	uint64_t total;
};

static int make_room(struct chi_arena *arena, struct gathered *all, size_t n)
{
	if (n <= all->room - all->n) {
		return CHI_OK;
	}
	size_t room = 2 * (all->n + n);
	struct chi_name_entry *entries = chi_arena_array(arena, room, sizeof(*entries));
	if (entries == NULL) {
		return -CHI_ENOMEM;
	}
	if (all->n > 0) {
		memcpy(entries, all->entries, all->n * sizeof(*entries));
	}
	all->entries = entries;
	all->room = room;
	return CHI_OK;
}

static int append(struct chi_arena *arena, struct gathered *all,
		  const struct chi_response *response)
{
	size_t n = response->u.names.n;
	int status = make_room(arena, all, n);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		struct chi_name_entry *kept = &all->entries[all->n + i];
		*kept = response->u.names.entries[i];
		kept->row.text = chi_arena_text(arena, kept->row.text, strlen(kept->row.text));
		status = kept->row.text != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	all->n += status == CHI_OK ? n : 0;
	all->total = response->u.names.total;
	return status;
}

static int ask(struct chi_client *client, struct chi_request *request, struct gathered *all)
{
	struct chi_stream stream;
	struct chi_response response = {.last = false};
	*all = (struct gathered){0};
	chi_arena_reset(&client->gathered);
	int status = chi_stream_begin(client, &stream, request);
	while (status == CHI_OK) {
		status = chi_stream_next(client, &stream, request->op, &response);
		int kept = status >= 0 ? append(&client->gathered, all, &response) : CHI_OK;
		status = kept < 0 ? kept : status;
	}
	chi_stream_cancel(client, &stream);
	return status == CHI_NONE ? CHI_OK : status;
}

/* All of a list, of one snapshot mostly: after a break from the beginning. */
static int gather(struct chi_client *client, struct chi_request *request, struct gathered *all)
{
	struct chi_repeat repeat = {0};
	int status = CHI_OK;
	do {
		status = ask(client, request, all);
	} while (chi_repeat_again(client, &repeat, status));
	return status;
}

static struct chi_name_row *rows_of(struct chi_client *client, const struct gathered *gathered)
{
	struct chi_name_row *rows = chi_arena_array(&client->gathered, gathered->n, sizeof(*rows));
	for (size_t i = 0; rows != NULL && i < gathered->n; i++) {
		rows[i] = gathered->entries[i].row;
	}
	return rows;
}

int chi_remote_names(struct chi_client *client, const struct chi_names_spec *spec,
		     struct chi_names *out)
{
	struct gathered gathered;
	struct chi_request request = {
		.op = CHI_OP_NAMES,
		.u.names = {.spec = *spec, .every = spec->wanted == NULL},
	};
	if (spec->wanted != NULL && strlen(spec->wanted) > CHI_NAME_WANTED_MAX) {
		return chi_fault(&client->error, -CHI_EINVAL, "a name has at most %d bytes",
				 CHI_NAME_TEXT_MAX);
	}
	int status = gather(client, &request, &gathered);
	if (status != CHI_OK) {
		return status;
	}
	if (gathered.n > spec->limit) {
		return chi_peer_fail(client, -CHI_EPROTO, "asked for %u names, got %zu",
				     spec->limit, gathered.n);
	}
	*out = (struct chi_names){
		.rows = rows_of(client, &gathered), .n = gathered.n, .total = gathered.total};
	return out->rows != NULL ? CHI_OK : -CHI_ENOMEM;
}

/* The names of a group follow each other, and groups have numbers from 1. */
static int make_groups(struct chi_client *client, const struct gathered *gathered,
		       struct chi_suspect_groups *out)
{
	const struct chi_name_entry *entries = gathered->entries;
	size_t n = gathered->n > 0 ? entries[gathered->n - 1].group : 0;
	if (n > gathered->n) {
		return chi_peer_fail(client, -CHI_EPROTO, "groups of names without names");
	}
	struct chi_name_row *rows = rows_of(client, gathered);
	struct chi_name_suspects *groups = chi_arena_array(&client->gathered, n, sizeof(*groups));
	if (rows == NULL || groups == NULL) {
		return -CHI_ENOMEM;
	}
	size_t group = 0;
	for (size_t i = 0; i < gathered->n; i++) {
		bool first = entries[i].group == group + 1 && group < n;
		if (!first && (entries[i].group != group || group == 0)) {
			return chi_peer_fail(client, -CHI_EPROTO, "groups of names out of order");
		}
		group += first;
		if (first) {
			groups[group - 1] = (struct chi_name_suspects){.score = entries[i].score,
								       .names = &rows[i]};
		}
		groups[group - 1].n++;
	}
	*out = (struct chi_suspect_groups){.groups = groups, .n = n, .total = gathered->total};
	return CHI_OK;
}

int chi_remote_suspects(struct chi_client *client, uint8_t kind, uint8_t least, uint32_t limit,
			struct chi_suspect_groups *out)
{
	struct gathered gathered;
	struct chi_request request = {
		.op = CHI_OP_SUSPECTS,
		.u.suspects = {.kind = kind, .least = least, .limit = limit},
	};
	int status = gather(client, &request, &gathered);
	return status == CHI_OK ? make_groups(client, &gathered, out) : status;
}

/* ---- Changes ------------------------------------------------------------------------------ */

static int tell_refusals(struct chi_client *client, const struct chi_response *response, size_t n,
			 chi_name_conflict *conflict, void *context)
{
	const struct chi_change_names_result *result = &response->u.change_names;
	for (size_t i = 0; i < result->n_refused; i++) {
		if (result->refused[i].entry >= n) {
			return chi_peer_fail(client, -CHI_EPROTO,
					     "refused is change %u, of %zu that were sent",
					     result->refused[i].entry, n);
		}
	}
	for (size_t i = 0; i < result->n_refused; i++) {
		conflict(context, result->refused[i].entry, result->refused[i].reason);
	}
	return CHI_OK;
}

/* Of a list that was done when it was sent before the server knows but the counts: what conflicted
 * then does so still, unless names have changed meanwhile. */
static int ask_refusals(struct chi_client *client, struct chi_request *request,
			chi_name_conflict *conflict, void *context)
{
	struct chi_response response;
	request->u.change_names.dry_run = true;
	request->idempotency_key = (struct chi_idempotency_key){0};
	int status = chi_repeat_call(client, request, &response);
	return status == CHI_OK ? tell_refusals(client, &response, request->u.change_names.n,
						conflict, context)
				: status;
}

int chi_remote_change_names(struct chi_client *client, const struct chi_name_change *changes,
			    size_t n, bool dry_run, chi_name_conflict *conflict, void *context,
			    struct chi_names_changed *result)
{
	struct chi_response response;
	struct chi_request request = {
		.op = CHI_OP_CHANGE_NAMES,
		.u.change_names = {.changes = changes, .n = n, .dry_run = dry_run},
	};
	int status = dry_run ? chi_repeat_call(client, &request, &response)
			     : chi_remote_repeat_write(client, &request, CHI_SYNC, &response);
	if (status != CHI_OK) {
		return status;
	}
	if (!dry_run) {
		chi_remote_written(client->peer, 0, false);
	}
	*result = response.u.change_names.outcome.names;
	bool told = response.u.change_names.n_refused >= result->conflicts;
	return told ? tell_refusals(client, &response, n, conflict, context)
		    : ask_refusals(client, &request, conflict, context);
}
