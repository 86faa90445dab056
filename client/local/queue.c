/* SPDX-License-Identifier: MIT */
/* The queue of positions in a directory: each change is a transaction of its own. */
#include "client/local/local.h"

#include "store/queue.h"

static int begin_write(struct chi_client *client, struct chi_write **out)
{
	return chi_write_begin(client->inproc.store, out, &client->error);
}

static int end_write(struct chi_client *client, struct chi_write *write, int status)
{
	if (status != CHI_OK) {
		chi_write_abort(write);
		return status;
	}
	return chi_write_commit(write, &client->error);
}

int chi_inproc_queue_add(struct chi_client *client, const struct chi_key *keys, size_t n,
			 uint32_t priority, struct chi_queue_added *result)
{
	struct chi_write *write = NULL;
	int status = begin_write(client, &write);
	return status != CHI_OK ? status
				: end_write(client, write,
					    chi_write_queue_add(write, keys, n, priority,
								chi_queue_clock(), result));
}

int chi_inproc_queue_take(struct chi_client *client, const struct chi_queue_take *take,
			  struct chi_queue_lease *out)
{
	struct chi_write *write = NULL;
	int status = begin_write(client, &write);
	return status != CHI_OK ? status
				: end_write(client, write,
					    chi_write_queue_take(write, take, chi_queue_clock(),
								 &client->answer->arena, out));
}

int chi_inproc_queue_settle(struct chi_client *client, uint64_t lease, unsigned action,
			    const struct chi_key *keys, size_t n, uint32_t lease_ms, uint64_t *done)
{
	struct chi_write *write = NULL;
	int status = begin_write(client, &write);
	if (status != CHI_OK) {
		return status;
	}
	status = action == CHI_QUEUE_DROP
			 ? chi_write_queue_drop(write, keys, n, done)
			 : chi_write_queue_settle(write, lease, (enum chi_queue_action)action, keys,
						  n, chi_queue_clock() + lease_ms, done);
	return end_write(client, write, status);
}
