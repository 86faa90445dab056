/* SPDX-License-Identifier: MIT */
/*
 * Writing in-process. CHI_ASYNC batches gather in one open transaction, since each commit costs a
 * sync of the disk. A batch that is refused while it is applied (a merge over a limit, a damaged
 * record) is taken back to the mark set before it, so the earlier ones stay. Only where that fails
 * too (a full disk, a damaged page) the transaction is lost, and the text says how many
 * acknowledged records went with it.
 */
#include "client/local/local.h"

#include <inttypes.h>

#include "base/fault.h"

/* For an empty batch there is nothing to begin; a synced one still makes the earlier durable. */
static int empty_batch(struct chi_client *client, enum chi_durability durability)
{
	return durability == CHI_SYNC ? chi_inproc_settle(client) : CHI_OK;
}

/* Where nothing is pending, giving the transaction up costs no one anything: no mark is needed. */
static int begin_write(struct chi_client *client)
{
	struct chi_inproc *own = &client->inproc;
	if (own->write != NULL) {
		return chi_write_savepoint(own->write);
	}
	own->pending = 0;
	return chi_write_begin(own->store, &own->write, &client->error);
}

/* Takes the batch being applied back: `status` befell its `entry`. */
static int refuse(struct chi_client *client, int status, size_t entry)
{
	struct chi_inproc *own = &client->inproc;
	uint64_t pending = own->pending;
	/* It ends with the transaction. */
	struct chi_fault why;
	const char *more = chi_write_why(own->write);
	(void)chi_fault(&why, status, "%s", more[0] != '\0' ? more : chi_strerror(status));
	if (pending > 0 && chi_write_rollback(own->write) == CHI_OK) {
		pending = 0;
	} else {
		chi_write_abort(own->write);
		own->write = NULL;
		own->pending = 0;
	}
	if (pending == 0) {
		return chi_fault(&client->error, status, "entry %zu: %s", entry, why.text);
	}
	return chi_fault(&client->error, status,
			 "entry %zu: %s; %" PRIu64 " earlier records not yet flushed are lost too",
			 entry, why.text, pending);
}

/* The batch of `n` is applied: commits it if it is to be durable or enough has gathered. */
static int applied(struct chi_client *client, size_t n, enum chi_durability durability)
{
	struct chi_inproc *own = &client->inproc;
	if (durability == CHI_ASYNC) {
		own->pending += n;
		if (own->pending < CHI_PENDING_MAX) {
			return CHI_OK;
		}
	}
	return chi_inproc_commit(client);
}

static int check_entries(struct chi_client *client, const struct chi_put *entries, size_t n)
{
	enum chi_statistic statistic = chi_store_statistic(client->inproc.store);
	for (size_t i = 0; i < n; i++) {
		struct chi_fault why = {{0}};
		int status = chi_put_check(&entries[i], statistic, &why);
		if (status != CHI_OK) {
			return chi_fault(&client->error, status, "entry %zu: %s", i, why.text);
		}
	}
	return CHI_OK;
}

int chi_inproc_put(struct chi_client *client, const struct chi_put *entries, size_t n,
		   enum chi_durability durability, struct chi_put_result *result)
{
	if (n == 0) {
		return empty_batch(client, durability);
	}
	int status = check_entries(client, entries, n);
	if (status == CHI_OK) {
		status = begin_write(client);
	}
	if (status != CHI_OK) {
		return status;
	}
	for (size_t i = 0; i < n; i++) {
		status = chi_write_put(client->inproc.write, &entries[i], result);
		if (status < 0) {
			return refuse(client, status, i);
		}
	}
	return applied(client, n, durability);
}

int chi_inproc_put_base(struct chi_client *client, const struct chi_counts *base)
{
	int status = begin_write(client);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_write_base(client->inproc.write, base);
	if (status < 0) {
		return refuse(client, status, 0);
	}
	return chi_inproc_commit(client);
}

int chi_inproc_del(struct chi_client *client, const struct chi_key *keys, size_t n,
		   enum chi_durability durability, uint64_t *deleted)
{
	if (n == 0) {
		return empty_batch(client, durability);
	}
	int status = begin_write(client);
	if (status != CHI_OK) {
		return status;
	}
	for (size_t i = 0; i < n; i++) {
		status = chi_write_delete(client->inproc.write, &keys[i]);
		if (status < 0) {
			return refuse(client, status, i);
		}
		*deleted += status == CHI_OK;
	}
	return applied(client, n, durability);
}

/* Always synced: games are listed once their positions are stored. */
int chi_inproc_put_game_ids(struct chi_client *client, const struct chi_game_id *games, size_t n)
{
	if (n == 0) {
		return empty_batch(client, CHI_SYNC);
	}
	int status = begin_write(client);
	if (status != CHI_OK) {
		return status;
	}
	for (size_t i = 0; i < n; i++) {
		status = chi_write_game_id(client->inproc.write, &games[i]);
		if (status < 0) {
			return refuse(client, status, i);
		}
	}
	return applied(client, 0, CHI_SYNC);
}
