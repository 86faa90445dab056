/* SPDX-License-Identifier: MIT */
/* Names over a socket. Lists of several responses become one. */
#include "client/remote/remote.h"

#include <string.h>

#include "base/fault.h"
#include "client/remote/repeat.h"
#include "client/remote/stream.h"

/* ---- Lists -------------------------------------------------------------------------------- */

/* What came beside the names is told at the end. */
struct gathered {
	struct chi_gather all;
	uint64_t total;
};

static int take_names(struct chi_client *client, struct chi_gather *all,
		      const struct chi_response *response)
{
	size_t n = response->u.names.n;
	int status = chi_gather_room(client, all, n);
	struct chi_name_entry *entries = all->items;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		struct chi_name_entry *kept = &entries[all->n + i];
		*kept = response->u.names.entries[i];
		kept->row.text = chi_gather_text(client, kept->row.text);
		status = kept->row.text != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	all->n += status == CHI_OK ? n : 0;
	((struct gathered *)all)->total = response->u.names.total;
	return status;
}

static int gather(struct chi_client *client, struct chi_request *request, struct gathered *out)
{
	*out = (struct gathered){.all.size = sizeof(struct chi_name_entry)};
	return chi_gather_all(client, request, &out->all, take_names);
}

static struct chi_name_row *rows_of(struct chi_client *client, const struct gathered *gathered)
{
	const struct chi_name_entry *entries = gathered->all.items;
	size_t n = gathered->all.n;
	struct chi_name_row *rows = chi_arena_array(&client->answer->gathered, n, sizeof(*rows));
	for (size_t i = 0; rows != NULL && i < n; i++) {
		rows[i] = entries[i].row;
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
	if (gathered.all.n > spec->limit) {
		return chi_peer_fail(client, -CHI_EPROTO, "asked for %u names, got %zu",
				     spec->limit, gathered.all.n);
	}
	*out = (struct chi_names){
		.rows = rows_of(client, &gathered), .n = gathered.all.n, .total = gathered.total};
	return out->rows != NULL ? CHI_OK : -CHI_ENOMEM;
}

/* The names of a group follow each other, and groups have numbers from 1. */
static int make_groups(struct chi_client *client, const struct gathered *gathered,
		       struct chi_suspect_groups *out)
{
	const struct chi_name_entry *entries = gathered->all.items;
	size_t n_entries = gathered->all.n;
	size_t n = n_entries > 0 ? entries[n_entries - 1].group : 0;
	if (n > n_entries) {
		return chi_peer_fail(client, -CHI_EPROTO, "groups of names without names");
	}
	struct chi_name_row *rows = rows_of(client, gathered);
	struct chi_name_suspects *groups =
		chi_arena_array(&client->answer->gathered, n, sizeof(*groups));
	if (rows == NULL || groups == NULL) {
		return -CHI_ENOMEM;
	}
	size_t group = 0;
	for (size_t i = 0; i < n_entries; i++) {
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
