/* SPDX-License-Identifier: MIT */
/* Positions that clients want analysed: kept in order, each once, in memory and, if it is given, in
 * a file of FENs, a line each, which is read again at the start. Any thread. */
#pragma once

#include "http/net/writer.h"
#include "chistore/types.h"

#define QUEUE_MOST 100000

struct queue;

/* `path`: the file; NULL: none. -CHI_EIO, -CHI_EACCES, -CHI_ENOMEM. */
CHI_MUSTUSE int queue_open(const char *path, struct queue **out, struct chi_fault *fault);
void queue_close(struct queue *queue); /* NULL is fine */

/* *added: it was not there. -CHI_EBUSY: the queue is full; -CHI_EIO. */
CHI_MUSTUSE int queue_add(struct queue *queue, const struct chi_key *key, bool *added,
			  struct chi_fault *fault);

/* {"total", "positions": [FEN, ...]}, the newest `limit` of them, the newest first. */
void queue_say(struct queue *queue, uint64_t limit, struct writer *out);
