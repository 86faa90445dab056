/* SPDX-License-Identifier: MIT */
/* The public calls on the queue of positions (chistore/queue.h). */
#include "client/core/rows.h"

#include <string.h>

#include "base/fault.h"
#include "store/queue.h"

/* Before a change: what CHI_ASYNC left open is committed first. */
static int begin_change(struct chi_client *client, enum chi_op op, const struct chi_key *keys,
			size_t n)
{
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_queue_batch_check(n, &client->error);
	}
	if (status == CHI_OK) {
		status = chi_client_check_keys(keys, n, &client->error);
	}
	return chi_client_ready(client, status, op);
}

int chi_queue_add(struct chi_client *client, const struct chi_key *keys, size_t n,
		  uint32_t priority, struct chi_queue_added *result)
{
	struct chi_queue_added unwanted;
	struct chi_queue_added *did = result != NULL ? result : &unwanted;
	*did = (struct chi_queue_added){0};
	int status = begin_change(client, CHI_OP_QUEUE_ADD, keys, n);
	if (status == CHI_OK && n > 0) {
		status = client->backend->queue_add(client, keys, n, priority, did);
	}
	return chi_client_end(client, status);
}

int chi_queue_take(struct chi_client *client, const struct chi_queue_take *take,
		   struct chi_queue_lease *out)
{
	bool named = take->keys != NULL;
	*out = (struct chi_queue_lease){0};
	int status = begin_change(client, CHI_OP_QUEUE_TAKE, take->keys, named ? take->n_keys : 0);
	if (status == CHI_OK) {
		status = chi_queue_take_check(take, &client->error);
	}
	if (status == CHI_OK && (!named || take->n_keys > 0)) {
		status = client->backend->queue_take(client, take, out);
	}
	if (status != CHI_OK) {
		*out = (struct chi_queue_lease){0};
	}
	return chi_client_answer(client, status);
}

int chi_queue_settle(struct chi_client *client, uint64_t lease, enum chi_queue_action action,
		     const struct chi_key *keys, size_t n, uint32_t lease_ms, uint64_t *done)
{
	uint64_t unwanted;
	uint64_t *count = done != NULL ? done : &unwanted;
	*count = 0;
	int status = begin_change(client, CHI_OP_QUEUE_SETTLE, keys, n);
	if (status == CHI_OK) {
		status = chi_queue_settle_check(action, n, lease_ms, &client->error);
	}
	if (status == CHI_OK && n > 0) {
		status = client->backend->queue_settle(client, lease, action, keys, n, lease_ms,
						       count);
	}
	return chi_client_end(client, status);
}

int chi_queue_drop(struct chi_client *client, const struct chi_key *keys, size_t n,
		   uint64_t *dropped)
{
	uint64_t unwanted;
	uint64_t *count = dropped != NULL ? dropped : &unwanted;
	uint64_t some = 0;
	*count = 0;
	int status = begin_change(client, CHI_OP_QUEUE_SETTLE, keys, keys != NULL ? n : 0);
	do {
		some = 0;
		if (status == CHI_OK && (keys == NULL || n > 0)) {
			status = client->backend->queue_settle(client, 0, CHI_QUEUE_DROP, keys,
							       keys != NULL ? n : 0, 0, &some);
		}
		*count += some;
	} while (status == CHI_OK && keys == NULL && some > 0);
	return chi_client_end(client, status);
}

/* That the row to begin after is of the same list the caller must know. */
static int check_list(struct chi_client *client, enum chi_queue_state state,
		      const struct chi_queue_row *after, uint32_t limit)
{
	if (chi_queue_state_name((int)state) == NULL || limit > CHI_QUEUE_BATCH_MAX ||
	    (after != NULL && after->state != state)) {
		return chi_fault(&client->error, -CHI_EINVAL,
				 "no list of the queue: its state, its length, or where it "
				 "begins");
	}
	return after != NULL ? chi_client_check_keys(&after->key, 1, &client->error) : CHI_OK;
}

int chi_queue_list(struct chi_client *client, enum chi_queue_state state,
		   const struct chi_queue_row *after, uint32_t limit, struct chi_queue_list *out)
{
	/* It may be of an answer that this call forgets. */
	struct chi_queue_row from = {0};
	if (after != NULL) {
		from = *after;
		from.holder = "";
	}
	*out = (struct chi_queue_list){0};
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
		*out = (struct chi_queue_list){0};
	}
	return chi_client_answer(client, status);
}
