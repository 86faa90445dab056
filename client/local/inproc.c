/* SPDX-License-Identifier: MIT */
/* The calls on a store opened in this process: opening, and work on the store as a whole. */
#include "client/local/local.h"

#include <inttypes.h>

#include "base/fault.h"

/* A writable client takes the store's writer lock for each transaction only, so that several
 * programs can take turns; holding it for good is the daemon's way. */
static int open_store(struct chi_client *client)
{
	struct chi_store_options options = {
		.mode = client->options.writable ? CHI_STORE_WRITE : CHI_STORE_READ,
		.lock_wait_ms = client->options.lock_wait_ms,
		.force_netfs = client->options.force_netfs,
	};
	return chi_store_open(client->address.path, &options, &client->inproc.store,
			      &client->error);
}

static void close_store(struct chi_client *client)
{
	if (chi_inproc_settle(client) != CHI_OK) {
		/* No one is left to tell: who must know calls chi_flush before (chistore.h). */
		client->inproc.write = NULL;
	}
	chi_store_close(client->inproc.store);
	client->inproc.store = NULL;
}

/* Forgets the transaction first: commit frees it whatever comes of it. */
int chi_inproc_commit(struct chi_client *client)
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
			return chi_fault(&client->error, status, "%s", why);
		}
		return chi_fault(&client->error, status,
				 "%.150s; %" PRIu64 " earlier records not yet flushed are lost",
				 why, pending);
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

static int info(struct chi_client *client, struct chi_info *out)
{
	int status = chi_inproc_settle(client);
	return status != CHI_OK ? status : chi_store_info(client->inproc.store, out);
}

static int flush(struct chi_client *client)
{
	return chi_inproc_settle(client);
}

static int verify(struct chi_client *client, chi_verify_report *report, void *context,
		  struct chi_verify_result *result)
{
	int status = chi_inproc_settle(client);
	if (status != CHI_OK) {
		return status;
	}
	return chi_store_verify(client->inproc.store, report, context, result);
}

/* The copy goes the same way as one from a server does, so both are checked alike before they
 * appear under their name. */
static int backup(struct chi_client *client, const char *path, bool publish)
{
	struct chi_copy *copy = NULL;
	int fd = -1;
	int status = chi_inproc_settle(client);
	if (status == CHI_OK) {
		status = publish ? chi_publish_begin(path, &copy, &fd, &client->error)
				 : chi_copy_begin(path, &copy, &fd, &client->error);
	}
	if (status != CHI_OK) {
		return status;
	}
	status = chi_store_copy(client->inproc.store, fd, &client->error);
	if (status != CHI_OK) {
		chi_copy_abandon(copy);
		return status;
	}
	return chi_copy_finish(copy, &client->error);
}

/* Verified first: see the store. swap frees the compaction, also where it fails because someone
 * else has the store open. */
static int compact(struct chi_client *client, uint64_t *before, uint64_t *after)
{
	struct chi_compaction *compaction = NULL;
	int status = chi_inproc_settle(client);
	if (status == CHI_OK) {
		status = chi_compact_check(client->inproc.store, &client->error);
	}
	if (status == CHI_OK) {
		status = chi_compact_prepare(client->inproc.store, &compaction, &client->error);
	}
	if (status != CHI_OK) {
		return status;
	}
	return chi_compact_swap(compaction, before, after, &client->error);
}

static int rescore(struct chi_client *client, const struct chi_counts *base, uint64_t *changed)
{
	int status = chi_inproc_settle(client);
	if (status != CHI_OK) {
		return status;
	}
	return chi_store_rescore(client->inproc.store, base, changed, &client->error);
}

/* A queued request is done at once: here there is nothing to wait for. */
static void file_answer(struct chi_client *client, struct chi_slot *slot, int status)
{
	slot->done = true;
	slot->status = chi_client_end(client, status);
	slot->fault = client->error;
	client->error.text[0] = '\0';
}

static int pipe_probe(struct chi_client *client, struct chi_slot *slot, const struct chi_key *keys)
{
	file_answer(client, slot, chi_inproc_probe(client, keys, slot->n, slot->rows));
	return CHI_OK;
}

static int pipe_put(struct chi_client *client, struct chi_slot *slot, const struct chi_put *entries,
		    size_t n, enum chi_durability durability)
{
	file_answer(client, slot, chi_inproc_put(client, entries, n, durability, &slot->put));
	return CHI_OK;
}

static int pipe_send(struct chi_client *client)
{
	(void)client;
	return CHI_OK;
}

static int pipe_wait(struct chi_client *client)
{
	return chi_fault(&client->error, -CHI_EINTERNAL, "an answer was never filed");
}

const struct chi_backend chi_backend_inproc = {
	.open = open_store,
	.close = close_store,
	.ping = ping,
	.info = info,
	.probe = chi_inproc_probe,
	.get = chi_inproc_get,
	.get_many = chi_inproc_get_many,
	.explore = chi_inproc_explore,
	.put = chi_inproc_put,
	.put_base = chi_inproc_put_base,
	.del = chi_inproc_del,
	.get_game_ids = chi_inproc_get_game_ids,
	.put_game_ids = chi_inproc_put_game_ids,
	.flush = flush,
	.pipe_probe = pipe_probe,
	.pipe_put = pipe_put,
	.pipe_send = pipe_send,
	.pipe_wait = pipe_wait,
	.scan_open = chi_inproc_scan_open,
	.scan_more = chi_inproc_scan_more,
	.scan_close = chi_inproc_scan_close,
	.count = chi_inproc_count,
	.verify = verify,
	.backup = backup,
	.compact = compact,
	.rescore = rescore,
};
