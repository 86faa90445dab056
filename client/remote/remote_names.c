/* SPDX-License-Identifier: MIT */
/* Changes of names over a socket. */
#include "client/remote/remote.h"

#include "base/fault.h"
#include "client/remote/repeat.h"

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
