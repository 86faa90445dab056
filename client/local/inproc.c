/* SPDX-License-Identifier: MIT */
/*
 * The calls on a store opened in this process.
 *
 * Reading: each call is a snapshot of its own; only a walk keeps one, while it is open.
 *
 * Writing: CHI_ASYNC batches gather in one open transaction, since each commit costs a sync of the
 * disk. A batch that is refused while it is applied (a merge over a limit, a damaged record) is
 * taken back to the savepoint before it, so the earlier ones stay. Only where that fails too (a
 * full disk, a damaged page) the transaction is lost, and the text says how many acknowledged
 * records went with it.
 */
#include "client/core/client.h"
#include "client/local/local.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fault.h"
#include "search/texts.h"

/* Of a chi_get_many: whom to call, and which position is next. */
struct get_rest {
	chi_get_each *each;
	void *context;
	size_t i;
};

static int commit_write(struct chi_client *client);

/* Commits what CHI_ASYNC writes left open: before reads, so that a client sees what it wrote, and
 * before whole-store work. Mostly does nothing, so it is inlined. */
static inline int commit_pending(struct chi_client *client)
{
	return CHI_LIKELY(client->inproc.write == NULL) ? CHI_OK : commit_write(client);
}

/* ---- Reading ----------------------------------------------------------------------------- */

static int probe(struct chi_client *client, const struct chi_key *keys, size_t n,
		 struct chi_row *rows)
{
	struct chi_read *read = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (CHI_UNLIKELY(status != CHI_OK)) {
		return status;
	}
	status = chi_read_rows(read, keys, n, rows);
	chi_read_end(read);
	return status;
}

/* The record is copied to the client's arena: it outlives the snapshot, which ends here. */
static int get_record(struct chi_client *client, const struct chi_key *key, struct chi_record *out)
{
	struct chi_read *read = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_read_record(read, key, &client->answer->arena, out);
	chi_read_end(read);
	return status;
}

/* Records that lie in the arena together. */
#define GET_TOGETHER 64

/* Of at most GET_TOGETHER; those read before a failure are delivered. */
static int get_some(struct chi_client *client, struct chi_read *read, const struct chi_key *keys,
		    size_t n, struct get_rest *rest)
{
	struct chi_record records[GET_TOGETHER];
	bool found[GET_TOGETHER];
	size_t done = 0;
	chi_arena_reset(&client->answer->arena);
	int status = chi_read_records(read, keys, n, &client->answer->arena, records, found, &done);
	for (size_t i = 0; i < done; i++) {
		int ended = rest->each(rest->context, rest->i++, found[i] ? &records[i] : NULL);
		if (ended != CHI_OK) {
			return ended;
		}
	}
	return status;
}

static int get_many(struct chi_client *client, const struct chi_key *keys, size_t n,
		    chi_get_each *each, void *context)
{
	struct get_rest rest = {.each = each, .context = context};
	struct chi_read *read = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	while (status == CHI_OK && rest.i < n) {
		size_t left = n - rest.i;
		status = get_some(client, read, keys + rest.i,
				  left < GET_TOGETHER ? left : GET_TOGETHER, &rest);
	}
	chi_read_end(read);
	return status;
}

/* ---- Writing ----------------------------------------------------------------------------- */

/* For an empty batch there is nothing to begin; a synced one still makes the earlier durable. */
static int empty_batch(struct chi_client *client, enum chi_durability durability)
{
	return durability == CHI_SYNC ? commit_pending(client) : CHI_OK;
}

/* Where nothing is pending, giving the transaction up loses nothing: no savepoint is needed. */
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
static int refuse_entry(struct chi_client *client, int status, size_t entry)
{
	struct chi_inproc *own = &client->inproc;
	uint64_t pending = own->pending;
	/* It ends with the transaction. */
	struct chi_fault why;
	const char *more = chi_write_why(own->write);
	(void)chi_fail(&why, status, "%s", more[0] != '\0' ? more : chi_strerror(status));
	if (pending > 0 && chi_write_rollback(own->write) == CHI_OK) {
		pending = 0;
	} else {
		chi_write_abort(own->write);
		own->write = NULL;
		own->pending = 0;
	}
	if (pending == 0) {
		return chi_fail(&client->error, status, "entry %zu: %s", entry, why.text);
	}
	return chi_fail(&client->error, status,
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
	return commit_write(client);
}

static int check_entries(struct chi_client *client, const struct chi_put_entry *entries, size_t n)
{
	enum chi_statistic statistic = chi_dir_statistic(client->inproc.store);
	for (size_t i = 0; i < n; i++) {
		struct chi_fault why = {{0}};
		int status = chi_put_check(&entries[i], statistic, &why);
		if (status != CHI_OK) {
			return chi_fail(&client->error, status, "entry %zu: %s", i, why.text);
		}
	}
	return CHI_OK;
}

static int put_entries(struct chi_client *client, const struct chi_put_entry *entries, size_t n,
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
			return refuse_entry(client, status, i);
		}
	}
	return applied(client, n, durability);
}

static int del(struct chi_client *client, const struct chi_key *keys, size_t n,
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
			return refuse_entry(client, status, i);
		}
		*deleted += status == CHI_OK;
	}
	return applied(client, n, durability);
}

/* ---- The store as a whole --------------------------------------------------------------- */

/* A writable client takes the store's writer lock for each transaction only, so that several
 * programs can take turns; holding it permanently is the daemon's way. */
static int open_store(struct chi_client *client)
{
	struct chi_dir_options options = {
		.mode = client->options.writable ? CHI_STORE_WRITE : CHI_STORE_READ,
		.lock_wait_ms = client->options.lock_wait_ms,
		.force_netfs = client->options.force_netfs,
	};
	return chi_dir_open(client->address.path, &options, &client->inproc.store, &client->error);
}

static void close_store(struct chi_client *client)
{
	if (commit_pending(client) != CHI_OK) {
		/* A failure cannot be reported here: call chi_flush before to know (chistore.h). */
		client->inproc.write = NULL;
	}
	chi_game_texts_free(client->inproc.texts);
	client->inproc.texts = NULL;
	chi_dir_close(client->inproc.store);
	client->inproc.store = NULL;
}

/* Forgets the transaction first: commit frees it in any case. */
static int commit_write(struct chi_client *client)
{
	struct chi_inproc *own = &client->inproc;
	uint64_t pending = own->pending;
	struct chi_write *write = own->write;
	own->write = NULL;
	own->pending = 0;
	struct chi_fault fault = {{0}};
	int status = chi_write_commit(write, &fault);
	if (status < 0) {
		const char *why = fault.text[0] != '\0' ? fault.text : chi_strerror(status);
		if (pending == 0 || status == -CHI_EFORK) {
			/* A child loses nothing: the records are its parent's. */
			return chi_fail(&client->error, status, "%s", why);
		}
		return chi_fail(&client->error, status,
				"%.150s; %" PRIu64 " earlier records not yet flushed are lost", why,
				pending);
	}
	return status;
}

/* A snapshot can be begun: the file is there, and the table of readers has room. */
static int ping(struct chi_client *client)
{
	struct chi_read *read = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status == CHI_OK) {
		chi_read_end(read);
	}
	return status;
}

static int changed(struct chi_client *client, bool *out)
{
	return chi_dir_changed(client->inproc.store, out, &client->error);
}

const struct chi_backend chi_backend_inproc = {
	.open = open_store,
	.close = close_store,
	.ping = ping,
	.settle = commit_pending,
	.changed = changed,
	.probe = probe,
	.get = get_record,
	.get_many = get_many,
	.put = put_entries,
	.del = del,
	.rows_open = chi_inproc_rows_open,
	.rows_more = chi_inproc_rows_more,
	.rows_close = chi_inproc_rows_close,
	.rows_all = chi_inproc_rows_all,
	.call = chi_inproc_call,
	.flush = commit_pending,
	.bytes = chi_inproc_bytes,
};
