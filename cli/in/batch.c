/* SPDX-License-Identifier: MIT */
/* Chunks of puts, and what becomes of those that are refused. */
#include "cli/in/batch.h"

/* Entries put at once: few enough that a server answers each well within its patience. */
#define CHUNK 5000

/* Entries between two flushes: a sync costs several milliseconds and rewrites every page that was
 * touched, so it is shared by many. */
#define FLUSH_ENTRIES ((size_t)10 * CHUNK)

/* With long notes a chunk is put, and flushed, when its memory is over this... */
#define FLUSH_BYTES ((size_t)16 << 20)
/* ... and the longest line cannot take more than the rest. */
#define ARENA_BUDGET ((size_t)64 << 20)

int batch_init(struct batch *batch, batch_refused *refused, void *context)
{
	*batch = (struct batch){.refused = refused, .context = context};
	chi_arena_init(&batch->arena, ARENA_BUDGET);
	batch->puts = calloc(CHUNK, sizeof(*batch->puts));
	batch->lines = calloc(CHUNK, sizeof(*batch->lines));
	return batch->puts != NULL && batch->lines != NULL ? CHI_OK : -CHI_ENOMEM;
}

void batch_deinit(struct batch *batch)
{
	chi_arena_deinit(&batch->arena);
	free(batch->puts);
	free(batch->lines);
	batch->puts = NULL;
	batch->lines = NULL;
}

/* True if the status is about the chunk, not the store. */
static bool is_entry_fault(int status, size_t n)
{
	/* A smaller request may fit the server's budget. */
	return status == -CHI_ENOMEM
		       ? n > 1
		       : status != -CHI_EUNSUPPORTED && cli_exit_of(status) == EXIT_USAGE;
}

/* Puts entries from..from + n of the chunk, in halves if they are refused. Recursion halves `n`, so
 * it is at most 13 deep. */
static int put_apart(struct batch *batch, size_t from, size_t n)
{
	struct chi_put_result result = {0};
	int status = chi_put(batch->client, batch->puts + from, n, CHI_ASYNC, &result);
	if (status == CHI_OK) {
		batch->total.added += result.added;
		batch->total.updated += result.updated;
		batch->total.unchanged += result.unchanged;
	}
	if (status == CHI_OK || !is_entry_fault(status, n)) {
		return status;
	}
	if (n == 1) {
		const char *text = cli_reason(chi_error(batch->client));
		batch->refused(batch->context, batch->lines[from],
			       text[0] != '\0' ? text : "the store refuses it");
		return CHI_OK;
	}
	status = put_apart(batch, from, n / 2);
	return status == CHI_OK ? put_apart(batch, from + n / 2, n - n / 2) : status;
}

/* Drops what is gathered. */
static void clear_chunk(struct batch *batch)
{
	batch->n = 0;
	chi_arena_reset(&batch->arena);
}

int batch_settle(struct batch *batch)
{
	int status = chi_flush(batch->client);
	if (status == CHI_OK) {
		batch->flushed = batch->total;
	} else {
		batch->total = batch->flushed;
	}
	batch->unflushed = 0;
	batch->bytes = 0;
	clear_chunk(batch);
	return status;
}

/* Puts what is gathered. */
static int put_chunk(struct batch *batch)
{
	int status = batch->n > 0 ? put_apart(batch, 0, batch->n) : CHI_OK;
	batch->unflushed += batch->n;
	batch->bytes += batch->arena.used;
	clear_chunk(batch);
	if (status != CHI_OK) {
		batch->total = batch->flushed;
		return status;
	}
	bool full = batch->unflushed >= FLUSH_ENTRIES || batch->bytes >= FLUSH_BYTES;
	return full ? batch_settle(batch) : CHI_OK;
}

int batch_flush(struct batch *batch)
{
	int status = put_chunk(batch);
	return status == CHI_OK ? batch_settle(batch) : status;
}

struct chi_put_entry *batch_slot(struct batch *batch)
{
	return &batch->puts[batch->n];
}

int batch_relieve(struct batch *batch)
{
	return batch->arena.used > FLUSH_BYTES ? put_chunk(batch) : CHI_OK;
}

int batch_add(struct batch *batch, uint64_t line)
{
	batch->lines[batch->n++] = line;
	return batch->n == CHUNK ? put_chunk(batch) : batch_relieve(batch);
}
