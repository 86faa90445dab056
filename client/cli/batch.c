/* SPDX-License-Identifier: MIT */
/* Chunks of puts, and what becomes of those that are refused. */
#include "client/cli/batch.h"

#include <string.h>

/* Entries put at once: few enough that a server answers each well within its patience. */
#define CHUNK 5000

/* Entries between two flushes: a sync costs several milliseconds and rewrites every page that was
 * touched, so it is shared by many. Below what the library gathers before it commits by itself
 * (100,000), or putting a window again could add the same counts twice. */
#define WINDOW_MAX (10 * CHUNK)

/* A window with long notes is flushed when its memory is over this... */
#define WINDOW_BYTES ((size_t)16 << 20)
/* ... and the longest line cannot take more than the rest. */
#define ARENA_BUDGET ((size_t)64 << 20)

int batch_init(struct batch *batch, batch_refused *refused, void *context)
{
	*batch = (struct batch){.refused = refused, .context = context};
	chi_arena_init(&batch->arena, ARENA_BUDGET);
	batch->puts = calloc(WINDOW_MAX, sizeof(*batch->puts));
	batch->lines = calloc(WINDOW_MAX, sizeof(*batch->lines));
	return batch->puts != NULL && batch->lines != NULL ? CHI_OK : -CHI_ENOMEM;
}

void batch_open(struct batch *batch, struct chi_client *client, const char *address)
{
	batch->client = client;
	batch->local = strncmp(address, "unix:", 5) != 0 && strncmp(address, "tcp:", 4) != 0;
}

void batch_deinit(struct batch *batch)
{
	chi_arena_deinit(&batch->arena);
	free(batch->puts);
	free(batch->lines);
	batch->puts = NULL;
	batch->lines = NULL;
}

/* True if the status tells of what is in the chunk, not of the store. */
static bool is_entry_fault(int status, size_t n)
{
	switch (status) {
	case -CHI_EINVAL:
	case -CHI_EFEN:
	case -CHI_EKEY:
	case -CHI_EMOVE:
	case -CHI_ESYNTAX:
	case -CHI_ETOOBIG:
		return true;
	case -CHI_ENOMEM:
		return n > 1; /* a smaller request may fit the server's budget */
	default:
		return false;
	}
}

/* Puts entries from..from + n of the window. */
static int put_range(struct batch *batch, size_t from, size_t n, enum chi_durability durability)
{
	struct chi_put_result result = {0};
	int status = chi_put(batch->client, batch->puts + from, n, durability, &result);
	if (status == CHI_OK) {
		batch->total.added += result.added;
		batch->total.updated += result.updated;
		batch->total.unchanged += result.unchanged;
	}
	return status;
}

/* Puts a range that was refused in halves, each durable at once, so that the next refusal takes
 * nothing along. Recursion halves `n`, so it is at most 13 deep. */
static int isolate(struct batch *batch, size_t from, size_t n)
{
	if (n == 1) {
		const char *text = chi_error(batch->client);
		batch->refused(batch->context, batch->lines[from],
			       text[0] != '\0' ? text : "the store refuses it");
		return CHI_OK;
	}
	const size_t starts[] = {from, from + n / 2};
	const size_t sizes[] = {n / 2, n - n / 2};
	for (size_t i = 0; i < 2; i++) {
		int status = put_range(batch, starts[i], sizes[i], CHI_SYNC);
		if (status != CHI_OK && is_entry_fault(status, sizes[i])) {
			status = isolate(batch, starts[i], sizes[i]);
		}
		if (status != CHI_OK) {
			return status;
		}
	}
	return CHI_OK;
}

/* Everything in the window is on the disk: it begins anew. */
static void window_done(struct batch *batch)
{
	batch->flushed = batch->total;
	batch->n = 0;
	batch->n_put = 0;
	chi_arena_reset(&batch->arena);
}

/* Puts the first `n` entries of the window again: they had been accepted, and went with the open
 * transaction. */
static int put_again(struct batch *batch, size_t n)
{
	batch->total = batch->flushed;
	for (size_t from = 0; from < n; from += CHUNK) {
		size_t size = n - from < CHUNK ? n - from : CHUNK;
		int status = put_range(batch, from, size, CHI_ASYNC);
		if (status != CHI_OK) {
			return status;
		}
	}
	return chi_flush(batch->client);
}

/* The chunk behind the first n_put entries was refused. */
static int put_apart(struct batch *batch)
{
	size_t from = batch->n_put;
	size_t n = batch->n - from;
	int status = CHI_OK;
	if (batch->local && from > 0) {
		status = put_again(batch, from);
		if (status == CHI_OK) {
			/* For the reason, should the chunk be a single entry. */
			status = put_range(batch, from, n, CHI_SYNC);
			if (status == CHI_OK || !is_entry_fault(status, n)) {
				return status;
			}
			status = CHI_OK;
		}
	}
	return status == CHI_OK ? isolate(batch, from, n) : status;
}

/* Puts what is gathered behind what has been put. */
static int put_chunk(struct batch *batch)
{
	size_t n = batch->n - batch->n_put;
	if (n == 0) {
		return CHI_OK;
	}
	int status = put_range(batch, batch->n_put, n, CHI_ASYNC);
	if (status != CHI_OK && batch->refused != NULL && is_entry_fault(status, n)) {
		status = put_apart(batch);
		if (status == CHI_OK) {
			status = chi_flush(batch->client);
		}
		if (status == CHI_OK) {
			window_done(batch);
		}
	}
	batch->n_put = batch->n;
	if (status != CHI_OK) {
		batch->total = batch->flushed;
	}
	return status;
}

int batch_settle(struct batch *batch)
{
	int status = chi_flush(batch->client);
	if (status == CHI_OK) {
		window_done(batch);
	} else {
		batch->total = batch->flushed;
	}
	return status;
}

int batch_flush(struct batch *batch)
{
	int status = put_chunk(batch);
	return status == CHI_OK ? batch_settle(batch) : status;
}

struct chi_put *batch_slot(struct batch *batch)
{
	return &batch->puts[batch->n];
}

int batch_relieve(struct batch *batch)
{
	return batch->arena.used > WINDOW_BYTES ? batch_flush(batch) : CHI_OK;
}

int batch_add(struct batch *batch, uint64_t line)
{
	batch->lines[batch->n++] = line;
	if (batch->n == WINDOW_MAX) {
		return batch_flush(batch);
	}
	int status = batch->n - batch->n_put == CHUNK ? put_chunk(batch) : CHI_OK;
	return status == CHI_OK ? batch_relieve(batch) : status;
}
