/* SPDX-License-Identifier: MIT */
/*
 * Several requests of a client on the way at once: a load generator's business, for which the
 * library has no calls. They go over the client's own connection, which nothing else may use until
 * all are answered; answers come in any order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore.h"

struct pipeline_answer {
	uint64_t id;
	int status; /* negative: chi_error has its text */
	uint64_t found;
};

/* How many requests the client's server takes unanswered; 0: it is not a server's. */
uint32_t pipeline_room(const struct chi_client *client);

/* Queues a request; the `first` makes sure of the connection. They are sent together, at the latest
 * when an answer is waited for. */
CHI_MUSTUSE int pipeline_probe(struct chi_client *client, bool first, const struct chi_key *keys,
			       size_t n, uint64_t *id);
CHI_MUSTUSE int pipeline_put(struct chi_client *client, bool first,
			     const struct chi_put_entry *entries, size_t n,
			     enum chi_durability durability, uint64_t *id);

/* Waits for the next answer. Negative: the connection is closed, and no other comes. */
CHI_MUSTUSE int pipeline_next(struct chi_client *client, struct pipeline_answer *out);
