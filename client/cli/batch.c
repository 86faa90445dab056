/* SPDX-License-Identifier: MIT */
/* Batches of puts. */
#include "client/cli/batch.h"

/* Entries of a batch: enough that a transaction's cost is shared by many, few enough that a
 * server has each answered within its patience. */
#define BATCH_MAX 5000

/* A batch with long notes is put when its memory is over this... */
#define BATCH_BYTES ((size_t)16 << 20)
/* ... and the longest line cannot take more than the rest. */
#define ARENA_BUDGET ((size_t)64 << 20)

int batch_init(struct batch *batch, struct chi_client *client, batch_refused *refused,
	       void *context)
{
	*batch = (struct batch){.client = client, .refused = refused, .context = context};
	chi_arena_init(&batch->arena, ARENA_BUDGET);
	batch->puts = calloc(BATCH_MAX, sizeof(*batch->puts));
	batch->lines = calloc(BATCH_MAX, sizeof(*batch->lines));
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

/* True if the status tells of what is in the batch, not of the store. */
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

/* Recursion halves `n`, so it is at most 13 deep. */
static int put_range(struct batch *batch, size_t from, size_t n)
{
	struct chi_put_result result = {0};
	int status = chi_put(batch->client, batch->puts + from, n, CHI_ASYNC, &result);
	if (status == CHI_OK) {
		batch->total.added += result.added;
		batch->total.updated += result.updated;
		batch->total.unchanged += result.unchanged;
		return CHI_OK;
	}
	if (batch->refused == NULL || !is_entry_fault(status, n)) {
		return status;
	}
	if (n == 1) {
		const char *text = chi_error(batch->client);
		batch->n_refused++;
		batch->refused(batch->context, batch->lines[from],
			       text[0] != '\0' ? text : chi_strerror(status));
		return CHI_OK;
	}
	status = put_range(batch, from, n / 2);
	return status != CHI_OK ? status : put_range(batch, from + n / 2, n - n / 2);
}

struct chi_put *batch_slot(struct batch *batch)
{
	return &batch->puts[batch->n];
}

int batch_put(struct batch *batch)
{
	size_t n = batch->n;
	int status = n > 0 ? put_range(batch, 0, n) : CHI_OK;
	batch->n = 0;
	chi_arena_reset(&batch->arena);
	return status;
}

int batch_relieve(struct batch *batch)
{
	return batch->arena.used > BATCH_BYTES ? batch_put(batch) : CHI_OK;
}

int batch_add(struct batch *batch, uint64_t line)
{
	batch->lines[batch->n++] = line;
	return batch->n == BATCH_MAX ? batch_put(batch) : batch_relieve(batch);
}
