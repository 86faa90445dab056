/* SPDX-License-Identifier: MIT */
/*
 * Reading in-process. Each call is a snapshot of its own; only a walk keeps one, for as long as it
 * is open.
 */
#include "client/local/local.h"

#include <sched.h>
#include <stdlib.h>

#include "base/fault.h"

/* Rows fetched at once: few first, so that the first row comes at once, then more. */
#define BLOCK_FIRST 16
#define BLOCK_MAX   512

/* Of one count. More wait for memory rather than for processors. */
#define COUNT_THREADS_MAX 16

/* Of a chi_get_many: who is told, and which position is next. */
struct get_rest {
	chi_get_each *each;
	void *context;
	size_t i;
};

/* A snapshot that shows what this client has written. The caller ends it. */
static int begin_read(struct chi_client *client, struct chi_read **read)
{
	int status = chi_inproc_settle(client);
	return CHI_LIKELY(status == CHI_OK) ? chi_read_begin(client->inproc.store, read) : status;
}

int chi_inproc_probe(struct chi_client *client, const struct chi_key *keys, size_t n,
		     struct chi_row *rows)
{
	struct chi_read *read = NULL;
	int status = begin_read(client, &read);
	if (CHI_UNLIKELY(status != CHI_OK)) {
		return status;
	}
	status = chi_read_rows(read, keys, n, rows);
	chi_read_end(read);
	return status;
}

/* The record is copied to the client's arena: it outlives the snapshot, which ends here. */
int chi_inproc_get(struct chi_client *client, const struct chi_key *key, struct chi_record *out)
{
	struct chi_read *read = NULL;
	int status = begin_read(client, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_read_record(read, key, &client->arena, out);
	chi_read_end(read);
	return status;
}

/* Records that lie in the arena together. */
#define GET_TOGETHER 64

/* Of at most GET_TOGETHER; those read before a failure are told. */
static int get_some(struct chi_client *client, struct chi_read *read, const struct chi_key *keys,
		    size_t n, struct get_rest *rest)
{
	struct chi_record records[GET_TOGETHER];
	bool found[GET_TOGETHER];
	size_t done = 0;
	chi_arena_reset(&client->arena);
	int status = chi_read_records(read, keys, n, &client->arena, records, found, &done);
	for (size_t i = 0; i < done; i++) {
		int ended = rest->each(rest->context, rest->i++, found[i] ? &records[i] : NULL);
		if (ended != CHI_OK) {
			return ended;
		}
	}
	return status;
}

int chi_inproc_get_many(struct chi_client *client, const struct chi_key *keys, size_t n,
			chi_get_each *each, void *context)
{
	struct get_rest rest = {.each = each, .context = context};
	struct chi_read *read = NULL;
	int status = begin_read(client, &read);
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

/* Names of openings are static, all else is the arena's. */
int chi_inproc_explore(struct chi_client *client, const struct chi_key *key,
		       struct chi_explore *out)
{
	struct chi_read *read = NULL;
	int status = begin_read(client, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_read_explore(read, key, &client->arena, out, &client->error);
	chi_read_end(read);
	return status;
}

int chi_inproc_get_game_ids(struct chi_client *client, const uint8_t *after,
			    struct chi_game_id *out, size_t max, size_t *n)
{
	struct chi_read *read = NULL;
	int status = begin_read(client, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_read_game_ids(read, after, out, max, n);
	chi_read_end(read);
	return status;
}

/* On a failure what was opened stays in the iterator: chi_inproc_scan_close takes any part of it.
 * Rows need a block; records come one by one. */
int chi_inproc_scan_open(struct chi_client *client, struct chi_iter *iter)
{
	int status = begin_read(client, &iter->read);
	if (status == CHI_OK) {
		status = chi_scan_open(iter->read, &iter->spec, &iter->scan, &client->error);
	}
	if (status == CHI_OK && iter->spec.want != CHI_WANT_RECORDS) {
		iter->block_size = BLOCK_FIRST;
		/* Zeroed: scans fill in no evaluation. */
		iter->block = calloc(BLOCK_MAX, sizeof(*iter->block));
		status = iter->block != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	return status;
}

/* Records come one by one: each may be large, and lives in the arena until the next. */
static int more_record(struct chi_client *client, struct chi_iter *iter)
{
	bool got = false;
	struct chi_row row = {.found = false};
	int status = CHI_OK;
	chi_arena_reset(&client->arena);
	while (status == CHI_OK && !got) {
		status = chi_scan_record(iter->scan, UINT64_MAX, &client->arena, &row,
					 &iter->entry.record, &got);
	}
	if (got) {
		iter->entry.key = row.key;
		iter->entry.found = true;
		iter->entries = &iter->entry;
		iter->n = 1;
	}
	return status;
}

int chi_inproc_scan_more(struct chi_client *client, struct chi_iter *iter)
{
	if (iter->spec.want == CHI_WANT_RECORDS) {
		return more_record(client, iter);
	}
	int status = chi_scan_rows(iter->scan, iter->block, iter->block_size, UINT64_MAX, &iter->n);
	iter->rows = iter->block;
	/* Who takes a few rows pays for a few; who walks on soon has full blocks. */
	if (iter->block_size < BLOCK_MAX) {
		iter->block_size *= 2;
	}
	return status;
}

void chi_inproc_scan_close(struct chi_client *client, struct chi_iter *iter)
{
	(void)client;
	if (iter->scan != NULL) {
		chi_scan_close(iter->scan);
	}
	if (iter->read != NULL) {
		chi_read_end(iter->read);
	}
	free(iter->block);
}

/* Processors that this thread may run on: a host that keeps it to one gets one thread. */
static unsigned processors(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) != 0) {
		return 1;
	}
	int n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > COUNT_THREADS_MAX ? COUNT_THREADS_MAX : (unsigned)n;
}

static int count_in(struct chi_read *read, const struct chi_scan_spec *spec, uint64_t *count,
		    struct chi_fault *fault)
{
	struct chi_scan *scan = NULL;
	int status = chi_scan_open(read, spec, &scan, fault);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_scan_count_all(scan, processors(), count);
	chi_scan_close(scan);
	return status == CHI_NONE ? CHI_OK : status;
}

int chi_inproc_count(struct chi_client *client, const struct chi_scan_spec *spec, uint64_t *count,
		     bool *mixed)
{
	*mixed = false;
	struct chi_read *read = NULL;
	int status = begin_read(client, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = count_in(read, spec, count, &client->error);
	chi_read_end(read);
	return status;
}
