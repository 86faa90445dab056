/* SPDX-License-Identifier: MIT */
/*
 * Many positions on their way into a store: gathered with their memory, put in batches, counted.
 * If the store refuses a batch because of what is in it, the batch is halved until the entries
 * at fault stand alone, so that one bad entry costs nobody else.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "client/cli/cli.h"

/* An entry the store refused, with the line it came from and the store's reason. */
typedef void batch_refused(void *context, uint64_t line, const char *reason);

struct batch {
	struct chi_client *client;
	batch_refused *refused; /* NULL: a refused entry fails the batch */
	void *context;
	struct chi_arena arena; /* memory of the entries */
	struct chi_put *puts;
	uint64_t *lines;
	size_t n;
	struct chi_put_result total;
	uint64_t n_refused;
};

/* -CHI_ENOMEM. */
CHI_MUSTUSE int batch_init(struct batch *batch, struct chi_client *client, batch_refused *refused,
			   void *context);
/* Drops what has not been put. Harmless on a zeroed batch. */
void batch_deinit(struct batch *batch);

/* Where the next entry goes: to be filled in, its memory from batch->arena. */
struct chi_put *batch_slot(struct batch *batch);

/* Takes the filled slot; puts the batch when it is full. */
CHI_MUSTUSE int batch_add(struct batch *batch, uint64_t line);

/* Puts the batch if refused lines have filled its memory. */
CHI_MUSTUSE int batch_relieve(struct batch *batch);

/* Puts what is gathered. The writes are asynchronous: chi_flush makes them durable. */
CHI_MUSTUSE int batch_put(struct batch *batch);
