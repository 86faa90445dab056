/* SPDX-License-Identifier: MIT */
/*
 * Many positions on their way into a store: gathered with their memory, put in chunks, counted.
 * If the store refuses a chunk because of what is in it, the chunk is halved until the entries
 * at fault stand alone, so that one bad entry costs nobody else.
 *
 * Chunks are put CHI_ASYNC and flushed some at a time: a window. In this process a chunk that is
 * refused takes the unflushed ones before it along; so the window is kept until it is flushed, and
 * put again where that happens.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "client/cli/cli.h"

/* An entry the store refused, with the line it came from and the store's reason. */
typedef void batch_refused(void *context, uint64_t line, const char *reason);

struct batch {
	struct chi_client *client;
	bool local;		/* the client works in this process */
	batch_refused *refused; /* NULL: a refused entry fails the batch */
	void *context;
	struct chi_arena arena; /* memory of the window's entries */
	struct chi_put *puts;	/* the window */
	uint64_t *lines;
	size_t n;     /* entries in the window */
	size_t n_put; /* of them, put but not flushed */
	/* What the store has taken. After a failure: what is known to be on the disk, as writes
	 * between the last flush and the failure may be lost. */
	struct chi_put_result total;
	struct chi_put_result flushed; /* the total at the last flush */
};

/* `client` may be set later. -CHI_ENOMEM. */
CHI_MUSTUSE int batch_init(struct batch *batch, batch_refused *refused, void *context);

/* Where the entries go; `address` is the one the client was opened with. */
void batch_open(struct batch *batch, struct chi_client *client, const char *address);

/* Drops what has not been put. Harmless on a zeroed batch. */
void batch_deinit(struct batch *batch);

/* Where the next entry goes: to be filled in, its memory from batch->arena. */
struct chi_put *batch_slot(struct batch *batch);

/* Takes the filled slot; puts the chunk when it is full. */
CHI_MUSTUSE int batch_add(struct batch *batch, uint64_t line);

/* Flushes if the lines read, refused ones included, have filled the window's memory. */
CHI_MUSTUSE int batch_relieve(struct batch *batch);

/* Puts what is gathered and makes everything durable. */
CHI_MUSTUSE int batch_flush(struct batch *batch);

/* Makes durable what has been put, and drops what is only gathered. */
CHI_MUSTUSE int batch_settle(struct batch *batch);
