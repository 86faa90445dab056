/* SPDX-License-Identifier: MIT */
/* The public calls on the queue of positions (chistore/queue.h). */
#include "client/core/pages.h"

#include <string.h>

#include "base/fault.h"
#include "store/queue.h"

static int check_keys(struct chi_client *client, const struct chi_key *keys, size_t n)
{
	int status = chi_queue_batch_check(n, &client->error);
	if (status == CHI_OK && keys == NULL && n > 0) {
		status = chi_fail(&client->error, -CHI_EINVAL, "%zu positions, but no keys", n);
	}
	return status == CHI_OK ? chi_client_check_keys(keys, n, &client->error) : status;
}

static int begin_change(struct chi_client *client, const struct chi_key *keys, size_t n)
{
	int status = chi_client_begin(client);
	return status == CHI_OK ? check_keys(client, keys, n) : status;
}

int chi_queue_add(struct chi_client *client, const struct chi_key *keys, size_t n,
		  uint32_t priority, struct chi_queue_added *result)
{
	const struct chi_queue_add_request request = {chi_positions_of(keys, n), priority};
	struct chi_queue_added did = {0};
	int status = chi_client_settle(client, begin_change(client, keys, n));
	if (status == CHI_OK && n > 0) {
		status = chi_client_call(client, CHI_OP_QUEUE_ADD, &request, &did);
	}
	if (result != NULL) {
		*result = status == CHI_OK ? did : (struct chi_queue_added){0};
	}
	return chi_client_end(client, status);
}

int chi_queue_take(struct chi_client *client, const struct chi_queue_take_spec *spec,
		   struct chi_queue_lease *out)
{
	struct chi_queue_take_spec take = {.keys = NULL};
	*out = (struct chi_queue_lease){0};
	int status = CHI_BEGIN_WITH(client, &take, spec);
	bool named = take.keys != NULL;
	const struct chi_queue_take_request request = {
		.positions = chi_positions_of(take.keys, named ? take.n_keys : 0),
		.holder = take.holder,
		.lease_ms = take.lease_ms,
		.limit = take.limit,
	};
	status = status == CHI_OK ? check_keys(client, take.keys, request.positions.n) : status;
	if (status == CHI_OK) {
		status = chi_queue_take_check(&take, &client->error);
	}
	status = chi_client_settle(client, status);
	if (status == CHI_OK && (!named || take.n_keys > 0)) {
		status = chi_client_call(client, CHI_OP_QUEUE_TAKE, &request, out);
	}
	if (status != CHI_OK) {
		*out = (struct chi_queue_lease){0};
	}
	return chi_client_answer(client, status);
}

/* Again and again, where all are to go: each transaction takes so many. */
static int settle_positions(struct chi_client *client,
			    const struct chi_queue_settle_request *request, bool all,
			    uint64_t *done)
{
	struct chi_affected did = {0};
	int status = CHI_OK;
	do {
		did.n = 0;
		status = chi_client_call(client, CHI_OP_QUEUE_SETTLE, request, &did);
		*done += status == CHI_OK ? did.n : 0;
	} while (status == CHI_OK && all && did.n > 0);
	return status;
}

int chi_queue_settle(struct chi_client *client, uint64_t lease, enum chi_queue_action action,
		     const struct chi_key *keys, size_t n, uint32_t lease_ms, uint64_t *done)
{
	bool all = action == CHI_QUEUE_DROP && keys == NULL && n == 0;
	const struct chi_queue_settle_request request = {
		.positions = chi_positions_of(keys, n),
		.lease = lease,
		.action = action,
		.lease_ms = lease_ms,
	};
	uint64_t count = 0;
	int status = begin_change(client, keys, request.positions.n);
	if (status == CHI_OK) {
		status = chi_queue_settle_check(action, n, lease_ms, &client->error);
	}
	status = chi_client_settle(client, status);
	if (status == CHI_OK && (all || n > 0)) {
		status = settle_positions(client, &request, all, &count);
	}
	if (done != NULL) {
		*done = count;
	}
	return chi_client_end(client, status);
}

/* That the row to begin after is of the same list the caller must know. */
static int check_list(struct chi_client *client, enum chi_queue_state state,
		      const struct chi_queue_row *after, uint32_t limit)
{
	if (chi_queue_state_name((int)state) == NULL || limit > CHI_QUEUE_BATCH_MAX ||
	    (after != NULL && after->state != state)) {
		return chi_fail(&client->error, -CHI_EINVAL,
				"no list of the queue: its state, its length, or where it "
				"begins");
	}
	return after != NULL ? chi_client_check_keys(&after->key, 1, &client->error) : CHI_OK;
}

int chi_queue_list(struct chi_client *client, enum chi_queue_state state,
		   const struct chi_queue_row *after, uint32_t limit, struct chi_queue_page *out)
{
	/* It may be of an answer that this call forgets. */
	struct chi_queue_row from = {0};
	if (after != NULL) {
		from = *after;
		from.holder = "";
	}
	*out = (struct chi_queue_page){0};
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = check_list(client, state, after != NULL ? &from : NULL, limit);
	}
	status = chi_client_settle(client, status);
	if (status == CHI_OK) {
		const struct chi_queue_list_request request = {
			.state = state, .limit = limit, .after = after != NULL ? &from : NULL};
		status = chi_client_call(client, CHI_OP_QUEUE_LIST, &request, out);
	}
	if (status != CHI_OK) {
		*out = (struct chi_queue_page){0};
	}
	return chi_client_answer(client, status);
}
