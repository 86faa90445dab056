/* SPDX-License-Identifier: MIT */
/*
 * Many positions on their way into a store: gathered with their memory, put in chunks, counted.
 * If the store refuses a chunk because of what is in it, the chunk is halved until the entries
 * at fault are alone, so that one bad entry costs no other. Chunks are put CHI_ASYNC and
 * flushed some at a time.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "cli/cli.h"

/* An entry the store refused, with the line it came from and the store's reason. */
typedef void batch_refused(void *context, uint64_t line, const char *reason);

struct batch {
	struct chi_client *client;
	batch_refused *refused;
	void *context;
	struct chi_arena arena;	    /* memory of the chunk's entries */
	struct chi_put_entry *puts; /* the chunk */
	uint64_t *lines;
	size_t n;	  /* entries in the chunk */
	size_t unflushed; /* entries put since the last flush */
	size_t bytes;	  /* memory that these took */
	/* What the store has taken. After a failure: what is known to be on the disk, as writes
	 * between the last flush and the failure may be lost. */
	struct chi_put_result total;
	struct chi_put_result flushed; /* the total at the last flush */
};

/* `batch->client` is set before the first entry is added. -CHI_ENOMEM. */
CHI_MUSTUSE int batch_init(struct batch *batch, batch_refused *refused, void *context);

/* Drops what has not been put. Harmless on a zeroed batch. */
void batch_deinit(struct batch *batch);

/* Where the next entry goes: to be filled in, its memory from batch->arena. */
struct chi_put_entry *batch_slot(struct batch *batch);

/* Takes the filled slot; puts the chunk when it is full. */
CHI_MUSTUSE int batch_add(struct batch *batch, uint64_t line);

/* Puts the chunk if the lines read, refused ones included, have filled its memory. */
CHI_MUSTUSE int batch_relieve(struct batch *batch);

/* Puts what is gathered and makes everything durable. */
CHI_MUSTUSE int batch_flush(struct batch *batch);

/* Makes durable what has been put, and drops what is only gathered. */
CHI_MUSTUSE int batch_settle(struct batch *batch);
