/* SPDX-License-Identifier: MIT */
/* The queue of positions over a socket. */
#include "client/remote/remote.h"

#include "client/remote/repeat.h"

static int change(struct chi_client *client, struct chi_request *request,
		  struct chi_response *response)
{
	int status = chi_remote_repeat_write(client, request, CHI_SYNC, response);
	if (status == CHI_OK) {
		chi_remote_written(client->peer, 0, false);
	}
	return status;
}

int chi_remote_queue_add(struct chi_client *client, const struct chi_key *keys, size_t n,
			 uint32_t priority, struct chi_queue_added *result)
{
	struct chi_response response;
	struct chi_request request = {
		.op = CHI_OP_QUEUE_ADD,
		.u.queue_add = {.positions = chi_remote_positions(keys, n), .priority = priority},
	};
	int status = change(client, &request, &response);
	if (status == CHI_OK) {
		*result = response.u.outcome.queue_added;
	}
	return status;
}

int chi_remote_queue_take(struct chi_client *client, const struct chi_queue_take *take,
			  struct chi_queue_lease *out)
{
	struct chi_response response;
	struct chi_request request = {
		.op = CHI_OP_QUEUE_TAKE,
		.u.queue_take = {.positions = chi_remote_positions(
					 take->keys, take->keys != NULL ? take->n_keys : 0),
				 .holder = take->holder,
				 .lease_ms = take->lease_ms,
				 .limit = take->limit},
	};
	int status = change(client, &request, &response);
	if (status == CHI_OK) {
		const struct chi_queue_taken *taken = &response.u.queue_take;
		*out = (struct chi_queue_lease){taken->outcome.leased.lease,
						taken->outcome.leased.expires, taken->rows,
						taken->n};
	}
	return status;
}

int chi_remote_queue_settle(struct chi_client *client, uint64_t lease, unsigned action,
			    const struct chi_key *keys, size_t n, uint32_t lease_ms, uint64_t *done)
{
	struct chi_response response;
	struct chi_request request = {
		.op = CHI_OP_QUEUE_SETTLE,
		.u.queue_settle = {.positions = chi_remote_positions(keys, n),
				   .lease = lease,
				   .action = action,
				   .lease_ms = lease_ms},
	};
	int status = change(client, &request, &response);
	if (status == CHI_OK) {
		*done = response.u.outcome.settled;
	}
	return status;
}
